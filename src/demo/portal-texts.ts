/** Texts of the demo in the portal. */

export const demoProductTexts = {
  orders: `Everything about the orders of a shop: list them, read one, create one.

## What you can build

- a **widget** with the latest orders of a customer
- a **synchronisation** with your accounting
- alerts for orders of an unusual size

| Status | Meaning |
|---|---|
| \`open\` | not paid yet |
| \`paid\` | waits for the parcel service |
| \`shipped\` | on its way |
`,
  payments: `Charge customers and refund them. Charges are idempotent within a day: a repeated request with the
same reference does not charge twice.

> The sandbox behind this product fails now and then on purpose, so that you can see how your app behaves.
`,
  bookshop: `Books, their authors and reservations in one graph. Queries are at most six levels deep.

\`\`\`graphql
{
  books(year: 1813) {
    title
    author { name }
  }
}
\`\`\`

The *Reference* tab has the schema, and a form that sends queries with the key of your app.
`,
} as const;

export const guideTexts = {
  orders: {
    Title: 'Your first order',
    Path: 'first-order',
    Lede: 'From a key to a created order in two calls.',
    MarkdownContent: `1. Request access under *Demo free plan*: the key is there at once.
2. Set \`API_KEY\` to the key and \`BASE_URL\` to the base URL at the top of this page.
3. List the orders:

\`\`\`sh
curl -H "Authorization: $API_KEY" "$BASE_URL/shop/orders"
\`\`\`

4. Create one:

\`\`\`sh
curl -H "Authorization: $API_KEY" -H 'content-type: application/json' \\
  -d '{"customer": "Ada", "total": 42}' "$BASE_URL/shop/orders"
\`\`\`

A body that breaks the schema is refused with 422 and the member at fault.
`,
  },
  payments: {
    Title: 'Handle failures',
    Path: 'handle-failures',
    Lede: 'What to do when a charge times out.',
    MarkdownContent: `A charge that takes longer than a second ends with 504. Repeat it with the same
\`reference\`: the customer is charged once.

After several failed refunds the circuit breaker answers 503 for ten seconds.
`,
  },
} as const;

export const demoPostTexts = [
  {
    Title: 'The Order API is here',
    Path: 'order-api',
    Lede: 'List, read and create orders with a key that you get in a minute.',
    Categories: ['Releases'],
    Tags: ['demo'],
    MarkdownContent: `The **Order API** is the first product of this portal. It has three operations, a
reference with samples in seven languages, and a plan that needs no approval.

[Read its guide](/portal/catalogue-products/order-api) and make your first call.
`,
  },
  {
    Title: 'Payments with a safety net',
    Path: 'payments-safety-net',
    Lede: 'How timeouts and a circuit breaker keep your checkout responsive.',
    Categories: ['Engineering'],
    Tags: ['demo'],
    MarkdownContent: `A payment provider that hangs must not hang your checkout. The gateway ends a slow charge
after a second, and stops calling an upstream that fails again and again.

Both show in the response: 504 for a timeout, 503 while the circuit is open.
`,
  },
  {
    Title: 'Rotate keys without a break',
    Path: 'rotate-keys',
    Lede: 'The old key stays valid while you deploy the new one.',
    Categories: ['Engineering'],
    Tags: [],
    MarkdownContent: `*Rotate* on the page of an app makes a new key, and keeps the old one for an hour, a day
or a week. Deploy the new one, then end the overlap.
`,
  },
] as const;

export const helpText = `## Where to begin

Browse the [products](/portal/catalogue-products), choose a plan and request access. Keys of the free plan are
there at once.

## Limits

Every plan says how many calls it allows. A call beyond them is answered with **429** and the seconds to wait.

## Contact

This is a demo: there is no support desk behind it.
`;

const errorResponse = { description: 'The request was refused' };

/** Document of the payments API, whose definition has none. */
export const paymentsDocument = {
  openapi: '3.0.3',
  info: { title: 'Payments', version: '1.0.0', description: 'Charges and refunds.' },
  paths: {
    '/charges': {
      post: {
        operationId: 'createCharge',
        summary: 'Charges a customer',
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['amount', 'reference'],
                properties: {
                  amount: { type: 'number', minimum: 0.01, description: 'In the currency of the account' },
                  reference: { type: 'string', description: 'Charges with the same reference are one charge' },
                },
              },
            },
          },
        },
        responses: { 200: { description: 'The charge' }, 422: errorResponse, 504: { description: 'Took too long' } },
      },
    },
    '/refunds': {
      post: {
        operationId: 'createRefund',
        summary: 'Refunds a charge',
        responses: { 200: { description: 'The refund' }, 503: { description: 'Too many refunds failed' } },
      },
    },
  },
} as const;

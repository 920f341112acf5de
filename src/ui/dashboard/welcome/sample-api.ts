import { type ApiDraft, buildDocument } from '../apis/new-api.ts';

const orders = [
  { id: 1, item: 'Teapot', amount: 2 },
  { id: 2, item: 'Kettle', amount: 1 },
];
const operationId = 'listOrders';

/** Path of the one operation of the sample. */
export const samplePath = 'orders';

/** Sample API: its one operation is a mock response, every other path is refused, so that no upstream is needed. */
export function buildSample(draft: Omit<ApiDraft, 'upstream'>) {
  // A name that resolves nowhere (RFC 2606, section 2).
  const document = buildDocument({ ...draft, upstream: 'http://upstream.invalid/' });
  const extension = 'x-gw-api-gateway';
  const example = { content: { 'application/json': { example: orders } } };
  return {
    ...document,
    paths: { [`/${samplePath}`]: { get: { operationId, responses: { 200: { description: 'Orders', ...example } } } } },
    [extension]: {
      ...document[extension],
      middleware: {
        ...document[extension].middleware,
        operations: {
          [operationId]: {
            allow: { enabled: true },
            mockResponse: {
              enabled: true,
              fromOASExamples: { enabled: true, code: 200, contentType: 'application/json' },
            },
          },
        },
      },
    },
  };
}

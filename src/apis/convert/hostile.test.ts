import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Problem } from '#base/problems.ts';
import { convertText } from './convert-text.ts';

/** A document of each format, with most of its members. */
const documents = [
  {
    swagger: '2.0',
    info: { title: 'A', version: '1' },
    host: 'a.example',
    schemes: ['https'],
    securityDefinitions: { flow: { type: 'oauth2', flow: 'accessCode', scopes: { a: 'b' } } },
    definitions: { Pet: { type: 'object' } },
    paths: {
      '/a': {
        get: {
          parameters: [
            { in: 'body', schema: {} },
            { in: 'formData', type: 'file' },
          ],
          responses: { 200: { schema: {} } },
        },
      },
    },
  },
  {
    log: {
      entries: [
        {
          request: {
            method: 'GET',
            url: 'http://a.example/1',
            headers: [{ name: 'a', value: 'b' }],
            queryString: [],
            postData: { mimeType: 'application/json', text: '{}', params: [] },
          },
          response: { status: 200, content: { mimeType: 'application/json', text: '[1]' } },
        },
      ],
    },
  },
  {
    info: { name: 'A' },
    auth: { type: 'apikey', apikey: [{ key: 'key', value: 'x' }] },
    variable: [{ key: 'a', value: 'b' }],
    item: [
      {
        name: 'f',
        item: [
          {
            request: {
              url: { raw: 'http://a.example/:id', host: ['a'], path: ['b'], query: [{ key: 'q' }] },
              body: { mode: 'raw', raw: '{}', options: {} },
              header: [{}],
            },
            response: [{ code: 200, header: [], body: '' }],
          },
        ],
      },
    ],
  },
  {
    asyncapi: '3.0.0',
    info: { title: 'A', version: '1' },
    servers: { s: { host: 'a:1', protocol: 'kafka', variables: {}, security: [] } },
    channels: { c: { address: 'x', servers: [{ $ref: '#/servers/s' }] } },
    operations: { o: { action: 'send', channel: { $ref: '#/channels/c' } } },
  },
  { openapi: '3.0.3', info: { title: 'A', version: '1' }, servers: [{ url: 'http://a.example' }], paths: {} },
];

const isHolder = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Replaces the member that the numbers lead to. */
function replaceMember(document: unknown, steps: readonly number[], replacement: unknown): unknown {
  const copy = structuredClone(document);
  let holder = copy as Record<string, unknown>;
  for (const [index, step] of steps.entries()) {
    const names = Object.keys(holder);
    if (names.length === 0) break;
    const name = names[step % names.length]!;
    const inside = holder[name];
    if (index === steps.length - 1 || !isHolder(inside)) {
      holder[name] = replacement;
      break;
    }
    holder = inside;
  }
  return copy;
}

test('a document with any member replaced is converted or rejected, never an internal error', () => {
  const oddValue = fc.oneof(
    fc.constantFrom(null, '', '{{', '://', [], {}, [null], [[]], { toString: 0 }, -1, 1e308, true, 'ａ\u0000'),
    fc.jsonValue({ maxDepth: 2 }),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...documents),
      fc.array(fc.nat(9), { minLength: 1, maxLength: 9 }),
      oddValue,
      (document, steps, replacement) => {
        const text = JSON.stringify(replaceMember(document, steps, replacement));
        try {
          const { document: converted } = convertText({ format: 'auto', text, maxBytes: 1_000_000 });
          assert.equal(typeof JSON.stringify(converted), 'string');
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          assert.ok(error.status < 500, error.message);
        }
      },
    ),
    { numRuns: 3000 },
  );
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildOperationSample, findOperation } from './sample-request.ts';

const document = {
  paths: {
    '/orders/{id}': {
      parameters: [{ $ref: '#/components/parameters/id' }],
      put: {
        parameters: [
          { name: 'dry', in: 'query', required: true, schema: { type: 'boolean' } },
          { name: 'page', in: 'query', schema: { type: 'integer' } },
          { name: 'X-Tenant', in: 'header', schema: { enum: ['a', 'b'] } },
          { name: 'Authorization', in: 'header', schema: { type: 'string' } },
        ],
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Order' } } } },
      },
      get: {},
    },
    '/notes': { post: { requestBody: { content: { 'text/plain': { example: 'hello' } } } } },
  },
  components: {
    parameters: { id: { name: 'id', in: 'path', required: true, example: 'a/b' } },
    schemas: {
      Order: {
        type: 'object',
        properties: {
          count: { type: 'integer' },
          tags: { type: 'array', items: { default: 'new' } },
          self: { $ref: '#/components/schemas/Order' },
        },
      },
    },
  },
};
const build = (method: string, path: string) => buildOperationSample(document, findOperation(document, method, path)!);

describe('Sample request of an operation', () => {
  test('examples, defaults, first allowed values and types fill path, query, headers and body', () => {
    const { path, headerText, body } = build('PUT', '/orders/{id}');
    assert.equal(path, '/orders/a%2Fb?dry=true');
    assert.equal(headerText, 'Content-Type: application/json\nX-Tenant: a');
    const { count, tags } = JSON.parse(body) as { count: number; tags: string[] };
    assert.deepEqual({ count, tags }, { count: 1, tags: ['new'] });
  });

  test('an operation without a body has none, and a text example is sent as it is', () => {
    assert.deepEqual(build('GET', '/orders/{id}'), { path: '/orders/a%2Fb', headerText: '', body: '' });
    assert.deepEqual(build('POST', '/notes'), {
      path: '/notes',
      headerText: 'Content-Type: text/plain',
      body: 'hello',
    });
  });
});

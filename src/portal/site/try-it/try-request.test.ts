import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildTryRequest, type TryFields } from './try-request.ts';

const parameter = (name: string, place: string, isRequired = false) => ({
  name,
  place,
  isRequired,
  description: '',
  schema: {},
  example: undefined,
});
const operation = {
  method: 'POST',
  path: '/orders/{id}',
  parameters: [parameter('id', 'path', true), parameter('page', 'query'), parameter('X-Trace', 'header')],
  body: { mediaType: 'application/json', schema: {}, example: undefined, description: '' },
};
const build = (values: Record<string, string>, more: Partial<TryFields> = {}, changed = {}) =>
  buildTryRequest(
    { ...operation, ...changed },
    {
      read: name => values[name] ?? '',
      base: 'https://gateway.example/shop/',
      findFault: () => undefined,
      credentialHeader: '',
      ...more,
    },
  );

describe('request of the try-it form', () => {
  test('values are encoded into path, query and headers', () => {
    const request = build({ 'path:id': 'a/b?c', 'query:page': '1&x=2', 'header:X-Trace': 'me', body: '{}' });
    assert.equal(request.url.href, 'https://gateway.example/shop/orders/a%2Fb%3Fc?page=1%26x%3D2');
    assert.deepEqual(request.headers, { 'x-trace': 'me', 'content-type': 'application/json' });
  });

  test('a value that leads out of the API is refused', () => {
    for (const id of ['..', '.', '../admin', 'a/../../b', '..\\admin', 'x/..'])
      assert.throws(() => build({ 'path:id': id }), /path segments/, id);
    assert.throws(() => build({ 'path:id': '' }), /id is missing/);
  });

  test('a document whose path leads out of the API, or to another host, is refused', () => {
    for (const path of ['/../admin', '/%2e%2e/admin', '/..\\admin', '.evil.example/x', '@evil.example/', ':81/x'])
      assert.throws(() => build({}, {}, { path, parameters: [] }), /leads out of its API/, path);
    const inside = build({}, {}, { path: '//evil.example/x', parameters: [] });
    assert.equal(inside.url.host, 'gateway.example');
  });

  test('cookies, repeated headers, lines without a name and too many headers are refused', () => {
    const send = (headers: string, more: Partial<TryFields> = {}) => build({ 'path:id': '1', headers }, more);
    assert.throws(() => send('Cookie: a=b'), /Cookie is not forwarded/);
    assert.throws(() => send('X-A: 1\nx-a: 2'), /x-a is given twice/);
    assert.throws(() => send('no colon'), /A header is a line/);
    assert.throws(() => send(Array.from({ length: 21 }, (_, at) => `X-${at}: 1`).join('\n')), /at most 20/);
    assert.throws(() => send('Authorization: x', { credentialHeader: 'authorization' }), /set by the credential/);
    assert.equal(send('Authorization: x').headers.authorization, 'x');
  });
});

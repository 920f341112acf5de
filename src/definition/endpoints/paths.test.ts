import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listOperations, toClassicPath, toOpenApiPath } from './paths.ts';

test('operations are sorted by path, the more specific first', () => {
  const paths = { '/': {}, '/{any}': {}, '/a': {}, '/a/{id}': {}, '/a/b': {}, '/a/{id}/c': {}, '/ab': {} };
  const all = Object.fromEntries(Object.keys(paths).map(path => [path, { get: {} }]));
  assert.deepEqual(
    listOperations(all).map(({ path }) => path),
    ['/a/{id}/c', '/a/b', '/a/{id}', '/ab', '/a', '/', '/{any}'],
  );
});

test('an operation without an id gets one from its path and method', () => {
  assert.deepEqual(listOperations({ '/users/{id}': { get: {} } }), [
    { id: 'users/{id}GET', path: '/users/{id}', method: 'GET' },
  ]);
});

test('a pattern segment becomes a path parameter with the pattern', () => {
  assert.deepEqual(toOpenApiPath('/a/[0-9]+/{id}/{n:\\d+}/x.y'), {
    path: '/a/{customRegex1}/{id}/{n}/x.y',
    parameters: [
      { name: 'customRegex1', in: 'path', required: true, schema: { type: 'string', pattern: '[0-9]+' } },
      { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
      { name: 'n', in: 'path', required: true, schema: { type: 'string', pattern: '\\d+' } },
    ],
  });
});

const patterns: readonly (readonly [path: string, pattern: string])[] = [
  ['/users/{id}', '/users/{id}'],
  ['/v1.0/x', '/v1%2E0/x'],
  ['/users/$count', '/users/%24count'],
  ['/Products({id})', '/Products%28{id}%29'],
  ['/reports/{id}.{format}', '/reports/{id}%2E{format}'],
  ['/a+b|c', '/a%2Bb%7Cc'],
  ['/files/*', '/files/*'],
  ['/files/*/x', '/files/*/x'],
  ['/files/a*', '/files/a%2A'],
  ['/half/{open', '/half/%7Bopen'],
];
for (const [path, pattern] of patterns)
  test(`the OpenAPI path ${path} is the pattern ${pattern}`, () => assert.equal(toClassicPath(path), pattern));

test('members of paths that are no path items have no operations', () => {
  assert.deepEqual(listOperations({ 'x-note': { get: {} }, '/a': { get: {} } }), [
    { id: 'aGET', path: '/a', method: 'GET' },
  ]);
});

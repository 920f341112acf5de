import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oasToModel } from '#definition/model.ts';
import type { OasDefinition } from '#definition/wire-types.ts';
import { createScopeReader, listDocumentScopes, listOperationScopes, readRequiredScopes } from './scopes.ts';

const operation = (operationId: string, ...scopes: string[]) => ({ operationId, security: [{ mine: scopes }] });
const document = {
  openapi: '3.0.3',
  paths: {
    '/a/{id}': { get: operation('byId', 'read') },
    '/a/{name}': { get: operation('byName', 'name') },
    '/b': { get: operation('b', 'read'), head: operation('headB', 'head') },
  },
  components: { securitySchemes: { mine: { type: 'oauth2', flows: { implicit: { scopes: { flow: '' } } } } } },
  security: [{ mine: ['base'] }, { other: ['nothing'] }],
  'x-gw-api-gateway': {
    info: { name: 'x' },
    server: {
      listenPath: { value: '/x' },
      authentication: {
        enabled: true,
        securitySchemes: { mine: { enabled: true, scopeCheck: { enabled: true, separator: '|' } } },
      },
    },
    middleware: { operations: { byName: { scopeCheck: { enabled: false } }, b: { scopeCheck: { enabled: false } } } },
  },
} as unknown as OasDefinition;
const model = oasToModel(document);

test('scopes: requirements without the scheme require none', () => {
  assert.deepEqual(readRequiredScopes(document.security, 'mine'), [['base']]);
  assert.deepEqual(readRequiredScopes(undefined, 'mine'), []);
  assert.deepEqual(readRequiredScopes([{ mine: null }, 'nonsense', { mine: [1, 'a'] }], 'mine'), [[], ['a']]);
});

test('scopes: operations of one path shape share requirements; a disabled one drops its own', () => {
  const found = listOperationScopes(model, model.versions[0]!);
  const shown = Object.fromEntries(
    found.map(({ method, path, required, isDisabled }) => [`${method} ${path}`, { required, isDisabled }]),
  );
  assert.deepEqual(shown, {
    'GET /a/{id}': { required: [[['read']]], isDisabled: false },
    'HEAD /a/{id}': { required: [[['read']]], isDisabled: false },
    'GET /b': { required: [], isDisabled: true },
    'HEAD /b': { required: [[['head']]], isDisabled: false },
  });
});

test('scopes: those of the document are listed once, sorted', () => {
  assert.deepEqual(listDocumentScopes(document, 'mine'), ['base', 'flow', 'head', 'name', 'read']);
});

test('scopes: read from strings and lists only', () => {
  const scopesOf = createScopeReader(model.oauth2);
  const claims = { scope: 'a | b', scp: ['c', 7, null], other: 'd' };
  assert.deepEqual([...scopesOf(claims)], ['a', 'b', 'c']);
  assert.equal(scopesOf(claims), scopesOf(claims), 'read once');
  assert.deepEqual([...scopesOf({ scope: { a: 'b' } })], []);
});

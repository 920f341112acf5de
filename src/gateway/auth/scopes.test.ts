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

test('requirements that do not name the scheme ask nothing of it', () => {
  assert.deepEqual(readRequiredScopes(document.security, 'mine'), [['base']]);
  assert.deepEqual(readRequiredScopes(undefined, 'mine'), []);
  assert.deepEqual(readRequiredScopes([{ mine: null }, 'nonsense', { mine: [1, 'a'] }], 'mine'), [[], ['a']]);
});

test('paths that differ in the names of their parameters share what is asked, and one that is off takes only its own away', () => {
  const found = listOperationScopes(model, model.versions[0]!);
  const shown = Object.fromEntries(found.map(({ method, path, asked, off }) => [`${method} ${path}`, { asked, off }]));
  assert.deepEqual(shown, {
    'GET /a/{id}': { asked: [[['read']]], off: false },
    'HEAD /a/{id}': { asked: [[['read']]], off: false },
    'GET /b': { asked: [], off: true },
    'HEAD /b': { asked: [[['head']]], off: false },
  });
});

test('all scopes a document knows are told, once and by letter', () => {
  assert.deepEqual(listDocumentScopes(document, 'mine'), ['base', 'flow', 'head', 'name', 'read']);
});

test('scopes are read from text and lists, and from nothing else', () => {
  const scopesOf = createScopeReader(model.oauth2);
  const claims = { scope: 'a | b', scp: ['c', 7, null], other: 'd' };
  assert.deepEqual([...scopesOf(claims)], ['a', 'b', 'c']);
  assert.equal(scopesOf(claims), scopesOf(claims), 'read once');
  assert.deepEqual([...scopesOf({ scope: { a: 'b' } })], []);
});

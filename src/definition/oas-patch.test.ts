import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getAt, type JsonObject } from '#base/json-tree.ts';
import type { ImportOptions } from './import-options.ts';
import { patchOas } from './oas-patch.ts';
import type { OasDefinition } from './wire-types.ts';

const stored: OasDefinition = {
  openapi: '3.0.3',
  info: { title: 'Old', version: '1' },
  servers: [{ url: 'https://old.example.org' }],
  paths: { '/a': { get: { operationId: 'a' } }, '/b': { get: { operationId: 'b' } } },
  'x-gw-api-gateway': {
    info: { id: 'kept', name: 'Named by hand' },
    upstream: { url: 'https://up.example.org' },
    server: { listenPath: { value: '/kept/', strip: false } },
    middleware: { operations: { a: { block: { enabled: true } }, b: { cache: { enabled: true } } } },
  },
};
const newer = () => ({
  openapi: '3.1.0',
  info: { title: 'New', version: '2' },
  paths: { '/a': { get: { operationId: 'a' } }, '/c': { post: {} } },
});

function patchStored(given: unknown, asked: ImportOptions = {}): JsonObject {
  const before = structuredClone(stored);
  const made = patchOas(stored, given, asked);
  assert.ok(made.ok, JSON.stringify(made));
  assert.deepEqual(stored, before);
  return made.definition as JsonObject;
}

test('a patch replaces the document and keeps the gateway extension without removed operations', () => {
  assert.deepEqual(patchStored(newer()), {
    ...newer(),
    paths: { '/a': { get: { operationId: 'a' } }, '/c': { post: { operationId: 'cPOST' } } },
    servers: stored.servers,
    'x-gw-api-gateway': {
      ...stored['x-gw-api-gateway'],
      middleware: { operations: { a: { block: { enabled: true } } } },
    },
  });
});

test('a patch replaces the servers where the new document has some', () => {
  const servers = [{ url: 'https://new.example.org' }];
  assert.deepEqual(patchStored({ ...newer(), servers }).servers, servers);
});

test('a patch changes only the settings of its options', () => {
  const asked = { listenPath: '/moved', upstreamURL: 'http://b.test', customDomain: 'd.test', allowList: true };
  const extension = patchStored(newer(), asked)['x-gw-api-gateway'] as JsonObject;
  assert.deepEqual(extension.server, {
    listenPath: { value: '/moved', strip: false },
    customDomain: { enabled: true, name: 'd.test' },
  });
  assert.equal(getAt(extension, ['upstream', 'url']), 'http://b.test');
  assert.deepEqual(extension.info, { id: 'kept', name: 'Named by hand' });
  assert.deepEqual(getAt(extension, ['middleware', 'operations']), {
    a: { block: { enabled: false }, allow: { enabled: true } },
    cPOST: { allow: { enabled: true } },
  });
});

test('a patch with its own gateway extension and no options is taken as it is', () => {
  const own = { ...newer(), 'x-gw-api-gateway': { info: { name: 'Own' }, server: { listenPath: { value: '/own' } } } };
  assert.equal(patchStored(own), own);
  assert.equal(getAt(patchStored(own, { listenPath: '/x' }), ['x-gw-api-gateway', 'info', 'name']), 'Own');
  assert.equal(
    getAt(patchStored(own, { listenPath: '/x' }), ['x-gw-api-gateway', 'server', 'listenPath', 'value']),
    '/x',
  );
});

test('a patch that is no document, or cannot be applied, is rejected', () => {
  const errors = (given: unknown, asked: ImportOptions = {}) => {
    const made = patchOas(stored, given, asked);
    return made.ok ? [] : made.errors.map(({ path, message }) => `${path}: ${message}`);
  };
  assert.deepEqual(errors(7), [': must be an object']);
  assert.deepEqual(errors({ 'x-gw-api-gateway': 7 }, { allowList: true }), ['x-gw-api-gateway: must be an object']);
  assert.deepEqual(errors(newer(), { upstreamURL: 'nowhere' }), ['upstreamURL: must be an absolute URL']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getAt, type JsonObject, setAt } from '#base/json-tree.ts';
import type { ImportOptions } from './import-options.ts';
import { checkOas } from './oas.ts';
import { importOas } from './oas-import.ts';

const json = (schema: object) => ({ content: { 'application/json': { schema } } });

const pets = () => ({
  openapi: '3.0.3',
  info: { title: 'Pets', version: '1' },
  servers: [{ url: 'https://{where}.example.org/v1', variables: { where: { default: 'eu' } } }],
  paths: {
    '/pets': {
      get: { operationId: 'list', responses: { 200: { description: 'all', ...json({ type: 'array' }) } } },
      post: { requestBody: { $ref: '#/components/requestBodies/Pet' }, responses: { 204: { description: 'none' } } },
    },
    '/pets/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      delete: { responses: { default: { $ref: '#/components/responses/a~1b' } } },
    },
  },
  components: {
    requestBodies: { Pet: json({ type: 'object' }) },
    responses: { 'a/b': { description: 'x', content: { 'text/plain': { example: 'gone' } } } },
  },
});

function importValid(document: object, options: ImportOptions = {}): JsonObject {
  const made = importOas(document, options);
  assert.ok(made.ok, JSON.stringify(made));
  assert.deepEqual(checkOas(made.definition), { ok: true, definition: made.definition });
  return (made.definition as JsonObject)['x-gw-api-gateway'] as JsonObject;
}

function errors(document: unknown, options: ImportOptions = {}): string[] {
  const made = importOas(document, options);
  return made.ok ? [] : made.errors.map(({ path, message }) => `${path}: ${message}`);
}

test('an imported plain document becomes an active API with default settings', () => {
  assert.deepEqual(importValid(pets()), {
    info: { name: 'Pets', state: { active: true, internal: false } },
    upstream: { url: 'https://eu.example.org/v1' },
    server: { listenPath: { value: '/', strip: true } },
    middleware: { global: { contextVariables: { enabled: true }, trafficLogs: { enabled: true } } },
  });
});

test('an import leaves its input unchanged and gives every operation an id', () => {
  const given = pets();
  const made = importOas(given, { allowList: true });
  assert.deepEqual(given, pets());
  assert.ok(made.ok);
  assert.equal(getAt(made.definition, ['paths', '/pets', 'post', 'operationId']), 'petsPOST');
  assert.equal(getAt(made.definition, ['paths', '/pets', 'get', 'operationId']), 'list');
});

test('import options set listen path, upstream, domain and id', () => {
  const options = { upstreamURL: 'http://a.test:1/x', listenPath: 'pets/', customDomain: 'pets.test', apiID: 'pets-1' };
  const made = importValid(pets(), options);
  assert.deepEqual(made.server, {
    listenPath: { value: '/pets/', strip: true },
    customDomain: { enabled: true, name: 'pets.test' },
  });
  assert.deepEqual([getAt(made, ['info', 'id']), getAt(made, ['upstream', 'url'])], ['pets-1', 'http://a.test:1/x']);
});

test('an import without an upstream address is rejected', () => {
  const at0 = (url: unknown, variables?: object) => ({ ...pets(), servers: [{ url, variables }] });
  assert.deepEqual(errors({ ...pets(), servers: [] }), [
    'upstreamURL: is required, since the document names no servers',
  ]);
  const open = 'servers[0].url: the variable {v} has no default: give upstreamURL';
  assert.deepEqual(errors(at0('http://{v}.test')), [open]);
  assert.deepEqual(errors(at0('http://{v}.test', { v: { enum: ['a'] } })), [open]);
  for (const url of ['/v1', 'v1', 7, 'http:///x', 'mailto:a@b'])
    assert.deepEqual(errors(at0(url)), ['servers[0].url: is not an absolute URL: give upstreamURL']);
  for (const upstreamURL of ['/v1', 'example.org', 'http://', 'http://a b'])
    assert.deepEqual(errors(pets(), { upstreamURL }), ['upstreamURL: must be an absolute URL']);
  assert.deepEqual(errors('text'), [': must be an object']);
});

test('the allow list option covers every operation', () => {
  const on = { allow: { enabled: true } };
  assert.deepEqual(getAt(importValid(pets(), { allowList: true }), ['middleware', 'operations']), {
    list: on,
    petsPOST: on,
    'pets/{id}DELETE': on,
  });
});

test('the validation option covers operations with something to validate, also behind references', () => {
  const validated = { validateRequest: { enabled: true, errorResponseCode: 422 } };
  assert.deepEqual(getAt(importValid(pets(), { validateRequest: true }), ['middleware', 'operations']), {
    petsPOST: validated,
    'pets/{id}DELETE': validated,
  });
});

test('the mock option covers operations whose responses have examples or schemas', () => {
  const mocked = { mockResponse: { enabled: true, fromOASExamples: { enabled: true } } };
  assert.deepEqual(getAt(importValid(pets(), { mockResponse: true }), ['middleware', 'operations']), {
    list: mocked,
    'pets/{id}DELETE': mocked,
  });
});

test('options can be disabled explicitly, and dangling or circular references resolve to nothing', () => {
  const document = pets();
  setAt(document as JsonObject, ['components', 'requestBodies', 'Pet'], { $ref: '#/components/requestBodies/Pet' });
  setAt(document as JsonObject, ['paths', '/pets', 'get', 'responses', '200'], { $ref: 'other.yaml#/x' });
  const made = importValid(document, { validateRequest: false, mockResponse: false, allowList: false });
  const off = { allow: { enabled: false } };
  assert.deepEqual(getAt(made, ['middleware', 'operations']), {
    list: off,
    petsPOST: off,
    'pets/{id}DELETE': {
      ...off,
      validateRequest: { enabled: false, errorResponseCode: 422 },
      mockResponse: { enabled: false, fromOASExamples: { enabled: false } },
    },
  });
});

const schemes = {
  key: { type: 'apiKey', in: 'header', name: 'X-Key' },
  login: { type: 'http', scheme: 'basic' },
  signed: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  opaque: { type: 'http', scheme: 'bearer' },
};

const withSecurity = (...security: object[]) => ({ ...pets(), security, components: { securitySchemes: schemes } });
const authorization = { enabled: true, name: 'Authorization' };

test('the authentication option configures the security requirements of the document', () => {
  const document = withSecurity({ key: [], signed: [], opaque: [] });
  assert.deepEqual(getAt(importValid(document, { authentication: true }), ['server', 'authentication']), {
    enabled: true,
    securitySchemes: { key: { enabled: true }, signed: { enabled: true, header: authorization } },
    baseIdentityProvider: 'auth_token',
  });
  assert.deepEqual(getAt(importValid(document, { authentication: false }), ['server', 'authentication']), {
    enabled: false,
    securitySchemes: { key: { enabled: false }, signed: { enabled: false, header: authorization } },
  });
  const none = 'authentication: the document has no security to take it from';
  assert.deepEqual(errors(pets(), { authentication: true }), [none]);
});

test('the first of several requirements counts, unless alternatives are requested', () => {
  const document = withSecurity({ signed: [] }, { login: [] });
  const entry = (enabled: boolean) => ({ enabled, header: authorization });
  assert.deepEqual(getAt(importValid(document, { authentication: true }), ['server', 'authentication']), {
    enabled: true,
    securitySchemes: { signed: entry(true), login: entry(false) },
  });
  const options = { authentication: true, securityProcessingMode: 'compliant' } as const;
  assert.deepEqual(getAt(importValid(document, options), ['server', 'authentication']), {
    securityProcessingMode: 'compliant',
    enabled: true,
    securitySchemes: { signed: entry(true), login: entry(true) },
    baseIdentityProvider: 'jwt_claim',
  });
});

test('generated operation ids are unique, and referenced path items are inlined', () => {
  const none = () => ({ responses: {} });
  const paths = {
    '/a': { get: { ...none(), operationId: 'bGET' } },
    '/b': { get: none() },
    '/c': { $ref: '#/components/pathItems/C' },
  };
  const made = importOas({ ...pets(), openapi: '3.1.0', paths, components: { pathItems: { C: { put: none() } } } }, {});
  assert.ok(made.ok);
  assert.equal(getAt(made.definition, ['paths', '/b', 'get', 'operationId']), 'bGET_2');
  assert.equal(getAt(made.definition, ['paths', '/c', 'put', 'operationId']), 'cPUT');
  assert.deepEqual(getAt(made.definition, ['components', 'pathItems', 'C', 'put']), none());
});

test('an import without a title is rejected with a path in the document', () => {
  assert.deepEqual(errors({ ...pets(), info: { version: '1' } }), ['info.title: is required']);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ValidationError } from '#operations/validation-error.ts';
import { checkOas } from './oas.ts';
import { checkStreams } from './streams.ts';

const gateway = 'x-gw-api-gateway';

function documentOf(part: { operations?: object; authentication?: object }, more: object = {}) {
  return {
    openapi: '3.0.3',
    info: { title: 'Orders', version: '1' },
    paths: {
      '/orders': { get: { operationId: 'listOrders', responses: {} }, post: { responses: {} } },
      '/orders/{id}': { get: { operationId: 'getOrder', responses: {} } },
    },
    components: {
      securitySchemes: {
        partnerKey: { type: 'apiKey', in: 'header', name: 'X-Key' },
        partnerToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      },
    },
    ...more,
    [gateway]: {
      info: { name: 'Orders', state: { active: true } },
      server: {
        listenPath: { value: '/orders/' },
        ...(part.authentication && { authentication: part.authentication }),
      },
      upstream: { url: 'http://127.0.0.1:9/' },
      ...(part.operations && { middleware: { operations: part.operations } }),
    },
  };
}

const block = { block: { enabled: true } };
const faultsOf = (document: object): readonly ValidationError[] => {
  const checked = checkOas(document);
  return checked.ok ? [] : checked.errors;
};

describe('dangling names in documents', () => {
  test('an entry of operations that names no operation is rejected with the closest operationId', () => {
    assert.deepEqual(faultsOf(documentOf({ operations: { listOrder: block } })), [
      {
        path: `${gateway}.middleware.operations.listOrder`,
        message: 'the document has no operation of this id; did you mean listOrders?',
      },
    ]);
    assert.deepEqual(faultsOf(documentOf({ operations: { zzz: block } })), [
      { path: `${gateway}.middleware.operations.zzz`, message: 'the document has no operation of this id' },
    ]);
  });

  test('an operation without an operationId is named by path and method', () => {
    assert.deepEqual(faultsOf(documentOf({ operations: { ordersPOST: block, getOrder: block, gone: {} } })), []);
    const [error] = faultsOf(documentOf({ operations: { orderPOST: block } }));
    assert.match(error!.message, /did you mean ordersPOST\?$/);
  });

  test('a path item that begins with x- has no operations', () => {
    const paths = { 'x-old': { get: { operationId: 'old' } } };
    assert.equal(faultsOf(documentOf({ operations: { old: block } }, { paths })).length, 1);
  });

  test('an undeclared security scheme is rejected beside declared ones', () => {
    const authentication = {
      enabled: true,
      securitySchemes: { partnerKey: { enabled: true }, partnrToken: { enabled: true } },
    };
    assert.deepEqual(faultsOf(documentOf({ authentication })), [
      {
        path: `${gateway}.server.authentication.securitySchemes.partnrToken`,
        message: 'is not one of components.securitySchemes; did you mean partnerToken?',
      },
    ]);
    assert.deepEqual(faultsOf(documentOf({ authentication }, { components: {} })), []);
  });

  test('a gateway requirement that names no scheme is rejected; the gateway’s own schemes are accepted', () => {
    const authentication = {
      enabled: true,
      securityProcessingMode: 'compliant',
      securitySchemes: { partnerKey: { enabled: true } },
      security: [['partnerKey'], ['partnerKey', 'hmca'], ['hmac', 'mtls']],
    };
    assert.deepEqual(faultsOf(documentOf({ authentication })), [
      {
        path: `${gateway}.server.authentication.security[1][1]`,
        message: 'is not one of components.securitySchemes; did you mean hmac?',
      },
    ]);
  });

  test('a document requirement that names no scheme is rejected with the closest name', () => {
    const [error] = faultsOf(documentOf({}, { security: [{ partnerKy: [] }] }));
    assert.deepEqual(error, {
      path: 'security[0]',
      message: 'partnerKy is not one of components.securitySchemes; did you mean partnerKey?',
    });
  });

  test('dangling names are reported as warnings where unknown members are allowed', () => {
    const checked = checkOas(documentOf({ operations: { listOrder: block } }), 'warn');
    assert.ok(checked.ok);
    assert.deepEqual(
      checked.warnings?.map(({ path }) => path),
      [`${gateway}.middleware.operations.listOrder`],
    );
  });

  test('dangling names are rejected in streams documents too', () => {
    const document = { ...documentOf({ operations: { listOrder: block } }), 'x-gw-streaming': { streams: {} } };
    const checked = checkStreams(document);
    assert.ok(!checked.ok);
    assert.deepEqual(
      checked.errors.map(({ path }) => path),
      [`${gateway}.middleware.operations.listOrder`],
    );
  });

  test('a document with thousands of unknown names lists a bounded number of errors', () => {
    const operations = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`unknown${at}`, block]));
    assert.equal(faultsOf(documentOf({ operations })).length, 100);
  });
});

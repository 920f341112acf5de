import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json-tree.ts';
import { errorBody } from '../../support/step-harness.ts';
import type { Effect, Served } from '../effect.ts';

/** What is checked of calls, and what the gateway answers itself. */
const lists = (extended_paths: JsonObject) => ({
  version_data: { versions: { Default: { use_extended_paths: true, extended_paths } } },
});
const operation = (feature: JsonObject, document: JsonObject = {}, method = 'post') => ({
  paths: { '/thing': { [method]: { operationId: 'effect', responses: {}, ...document } } },
  x: { middleware: { operations: { effect: feature } } },
});
const post = ({ call }: Served, body: string, path = '/thing') => call(path, { method: 'POST', body });
const place = { path: '/thing', method: 'POST', disabled: false };
const schema = { type: 'object', required: ['name'] };

export const checks: readonly Effect[] = [
  {
    rows: 'requestSizeLimit.enabled,bytes',
    promise: 'a larger body is refused at every endpoint',
    classic: () => ({
      version_data: { versions: { Default: { global_size_limit_disabled: false, global_size_limit: 4 } } },
    }),
    oas: () => ({ x: { middleware: { global: { requestSizeLimit: { enabled: true, value: 4 } } } } }),
    async observe(at) {
      assert.equal((await post(at, '1234', '/any')).status, 200);
      const { status, text } = await post(at, '12345', '/any');
      assert.deepEqual([status, text], [400, errorBody('Request is too large')]);
    },
  },
  {
    rows: 'endpoints.requestSizeLimit.path,method,enabled,bytes',
    promise: 'a larger body is refused at its endpoint',
    classic: () => lists({ size_limits: [{ ...place, size_limit: 4 }] }),
    oas: () => operation({ requestSizeLimit: { enabled: true, value: 4 } }),
    async observe(at) {
      assert.equal((await post(at, '12345')).status, 400);
      assert.equal((await post(at, '1234')).status, 200);
      assert.equal((await post(at, '12345', '/other')).status, 200);
    },
  },
  {
    rows: 'endpoints.mockResponse.path,method,enabled,ignoreCase,code,body,headers',
    promise: 'a mock response is served',
    classic: () =>
      lists({
        mock_response: [{ ...place, ignore_case: true, code: 202, body: 'mocked', headers: { 'x-mock': 'yes' } }],
      }),
    oas: () =>
      operation({
        mockResponse: { enabled: true, code: 202, body: 'mocked', headers: [{ name: 'x-mock', value: 'yes' }] },
      }),
    async observe(at) {
      const { status, text, headers } = await post(at, '', at.format === 'classic' ? '/THING' : '/thing');
      assert.deepEqual([status, text, headers.get('x-mock')], [202, 'mocked', 'yes']);
      assert.equal((await at.call('/thing')).status, 200);
      assert.equal(at.upstream.requests.length, 1);
    },
  },
  {
    rows: 'endpoints.mockResponse.fromExamples,exampleCode,exampleContentType,exampleName',
    promise: 'the selected example is served',
    oas: () => {
      const fromOASExamples = { enabled: true, code: 203, contentType: 'text/plain', exampleName: 'b' };
      const examples = { a: { value: 'first' }, b: { value: 'second' } };
      const response = { description: '', content: { 'application/json': { example: 1 }, 'text/plain': { examples } } };
      const mockResponse = { enabled: true, fromOASExamples };
      return operation({ mockResponse }, { responses: { 200: response, 203: response } });
    },
    async observe(at) {
      const { status, text, headers } = await post(at, '');
      assert.deepEqual([status, text, headers.get('content-type')], [203, '"second"', 'text/plain']);
    },
  },
  {
    rows: 'endpoints.validateJson.path,method,enabled,schema,errorResponseCode',
    promise: 'a body that violates its schema is refused',
    classic: () => lists({ validate_json: [{ ...place, schema, error_response_code: 409 }] }),
    async observe(at) {
      const { status, text } = await post(at, '{}');
      assert.deepEqual([status, text], [409, errorBody('(root): name is required')]);
      assert.equal((await post(at, '{"name":1}')).status, 200);
      assert.equal((await post(at, '{}', '/other')).status, 200);
    },
  },
  {
    rows: 'endpoints.validateJson.schemaBase64',
    promise: 'the schema can be base64',
    classic: () =>
      lists({ validate_json: [{ ...place, schema_b64: Buffer.from(JSON.stringify(schema)).toString('base64') }] }),
    async observe(at) {
      assert.equal((await post(at, '{}')).status, 422);
    },
  },
  {
    rows: 'endpoints.validateRequest.path,method,enabled,errorResponseCode',
    promise: 'a request that violates the document is refused; a classic definition has no document',
    classic: () =>
      lists({ validate_request: [{ path: '/thing', method: 'POST', enabled: true, error_response_code: 409 }] }),
    oas: () =>
      operation(
        { validateRequest: { enabled: true, errorResponseCode: 409 } },
        { requestBody: { required: true, content: { '*/*': {} } } },
      ),
    async observe(at) {
      const { status, text } = await post(at, '');
      if (at.format === 'classic') return assert.equal(status, 200);
      assert.deepEqual([status, text], [409, errorBody('request validation error: body: is required')]);
      assert.equal((await post(at, 'x')).status, 200);
    },
  },
];

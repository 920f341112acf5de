import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkClassic } from './classic.ts';
import { classicToModel, oasToModel } from './model.ts';
import { checkOas } from './oas.ts';
import { findMissingParts, type RequiredPart } from './required-parts.ts';
import type { OasDefinition } from './wire-types.ts';

const path = { listen_path: '/a/' };
const versions = (given: object, more: object = {}) => ({ version_data: { versions: given, ...more } });
const withEndpointLists = (extended_paths: object) =>
  versions({ Default: { use_extended_paths: true, extended_paths } });
const answering = { path: '/x', method: 'GET' };

const both: readonly RequiredPart[] = ['listen path', 'upstream'];
const classic: readonly [string, object, readonly RequiredPart[]][] = [
  ['nothing', {}, both],
  ['blanks', { proxy: { listen_path: '', target_url: ' ' } }, both],
  ['a whole API', { proxy: { ...path, target_url: 'http://127.0.0.1:9' } }, []],
  ['a listen path alone', { proxy: path }, ['upstream']],
  ['an internal API', { internal: true }, ['upstream']],
  ['a TCP service', { protocol: 'tcp', listen_port: 9000 }, ['upstream']],
  ['load balancing', { proxy: { ...path, enable_load_balancing: true, target_list: ['http://a'] } }, []],
  ['load balancing switched off', { proxy: { ...path, target_list: ['http://a'] } }, ['upstream']],
  ['service discovery', { proxy: { ...path, service_discovery: { use_discovery_service: true } } }, []],
  ['versions with targets', { proxy: path, ...versions({ a: { override_target: 'http://a' } }) }, []],
  [
    'one version without a target',
    { proxy: path, ...versions({ a: { override_target: 'http://a' }, b: { name: 'b' } }) },
    ['upstream'],
  ],
  ['mock replies', { proxy: path, ...withEndpointLists({ mock_response: [{ ...answering, body: 'x' }] }) }, []],
  [
    'a mock switched off',
    { proxy: path, ...withEndpointLists({ mock_response: [{ ...answering, disabled: true }] }) },
    ['upstream'],
  ],
  [
    'virtual endpoints',
    { proxy: path, ...withEndpointLists({ virtual: [{ ...answering, response_function_name: 'f' }] }) },
    [],
  ],
  [
    'a rewrite elsewhere',
    { proxy: path, ...withEndpointLists({ url_rewrites: [{ ...answering, rewrite_to: 'http://b/' }] }) },
    [],
  ],
  [
    'a rewrite within',
    { proxy: path, ...withEndpointLists({ url_rewrites: [{ ...answering, rewrite_to: '/b' }] }) },
    ['upstream'],
  ],
  ['plugins', { proxy: path, custom_middleware: { pre: [{ name: 'f', path: 'f.js' }] } }, []],
  ['a bundle of plugins', { proxy: path, custom_middleware_bundle: 'b.zip' }, []],
  ['a data graph', { proxy: path, graphql: { enabled: true, execution_mode: 'executionEngine' } }, []],
  ['a supergraph', { proxy: path, graphql: { enabled: true, execution_mode: 'supergraph' } }, []],
  ['a checked GraphQL proxy', { proxy: path, graphql: { enabled: true, execution_mode: 'proxyOnly' } }, ['upstream']],
];

describe('required parts of definitions', () => {
  for (const [name, definition, parts] of classic)
    test(`classic: ${name} lacks ${parts.join(' and ') || 'nothing'}`, () => {
      const checked = checkClassic(definition);
      assert.ok(checked.ok, JSON.stringify(checked));
      const missing = findMissingParts(classicToModel(checked.definition));
      assert.deepEqual(
        missing.map(({ part }) => part),
        parts,
      );
    });

  const document = (more: object, info: object = {}) => ({
    openapi: '3.0.3',
    info: { title: 'A', version: '1' },
    paths: { '/a': { get: { operationId: 'readA', responses: {} } } },
    'x-gw-api-gateway': { info: { name: 'A', ...info }, server: { listenPath: { value: '/a/' } }, ...more },
  });
  const errors = (given: object) => {
    const checked = checkOas(given);
    if (checked.ok) assert.deepEqual(findMissingParts(oasToModel(given as OasDefinition)), []);
    return checked.ok ? [] : checked.errors.map(error => `${error.path}: ${error.message}`);
  };
  const gone = 'x-gw-api-gateway.upstream: is required';
  const url = 'x-gw-api-gateway.upstream.url: is required';

  test('a document needs an upstream unless it balances, discovers, mocks or rewrites to one', () => {
    const operations = (readA: object) => ({ middleware: { operations: { readA } } });
    assert.deepEqual(errors(document({})), [gone]);
    assert.deepEqual(errors(document({ upstream: {} })), [url]);
    assert.deepEqual(errors(document({ upstream: { serviceDiscovery: { enabled: true } } })), []);
    assert.deepEqual(errors(document({ upstream: { serviceDiscovery: { enabled: false } } })), [url]);
    assert.deepEqual(errors(document(operations({ mockResponse: { enabled: true, code: 200 } }))), []);
    assert.deepEqual(errors(document(operations({ mockResponse: { enabled: false, code: 200 } }))), [gone]);
    assert.deepEqual(errors(document(operations({ urlRewrite: { enabled: true, rewriteTo: 'gw://other/' } }))), []);
  });

  test('a document needs a listen path unless it is internal', () => {
    const upstream = { url: 'http://127.0.0.1:9/' };
    const place = 'x-gw-api-gateway.server.listenPath.value: is required';
    assert.deepEqual(errors(document({ server: {}, upstream })), [place]);
    assert.deepEqual(errors(document({ server: {}, upstream }, { state: { internal: true } })), []);
  });
});

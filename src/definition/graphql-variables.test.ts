import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkGraphqlVariables } from './graphql-variables.ts';

const text = 'user $gw_context.user';
const message = 'the context variable user does not exist';

describe('Context variables of GraphQL blocks', () => {
  for (const [path, block] of [
    [
      'graphql.supergraph.subgraphs[0].headers.X-User',
      { supergraph: { subgraphs: [{ headers: { 'X-User': text } }] } },
    ],
    ['graphql.supergraph.global_headers.X-User', { supergraph: { global_headers: { 'X-User': text } } }],
    ['graphql.engine.global_headers[0].value', { engine: { global_headers: [{ key: 'a', value: text }] } }],
    ['graphql.engine.data_sources[0].config.url', { engine: { data_sources: [{ config: { url: text } }] } }],
    ['graphql.proxy.request_headers.X-User', { proxy: { request_headers: { 'X-User': text } } }],
    ['graphql.type_field_configurations[0].body', { type_field_configurations: [{ body: text }] }],
  ] as const)
    test(`an unknown one is refused at ${path}`, () => {
      assert.deepEqual(checkGraphqlVariables({ graphql: { enabled: true, ...block } }), [{ path, message }]);
      assert.deepEqual(checkGraphqlVariables({ graphql: { enabled: false, ...block } }), []);
    });

  test('a misspelt one is refused with the nearest name', () => {
    const proxy = { request_headers: { a: '$gw_context.remote_adr' } };
    const [error] = checkGraphqlVariables({ graphql: { enabled: true, proxy } });
    assert.match(error!.message, /did you mean remote_addr/);
  });

  test('variables of the gateway, and all in schemas, are accepted', () => {
    const known = '$gw_context.headers_X_User $gw_context.jwt_claims_sub $gw_context.remote_addr $gw_meta.any';
    const supergraph = { global_headers: { a: known }, merged_sdl: text, subgraphs: [{ sdl: text }] };
    assert.deepEqual(checkGraphqlVariables({ graphql: { enabled: true, schema: text, supergraph } }), []);
  });

  test('any name is accepted where a jq program or a token server may set it', () => {
    const graphql = { enabled: true, proxy: { request_headers: { a: text } } };
    const paths = { transform_jq: [{ path: '/' }] };
    const oauth = { client_credentials: { extra_metadata: ['user'] } };
    for (const rest of [
      { version_data: { versions: { Default: { extended_paths: paths } } } },
      { upstream_auth: { oauth } },
    ])
      assert.deepEqual(checkGraphqlVariables({ graphql, ...rest }), []);
  });
});

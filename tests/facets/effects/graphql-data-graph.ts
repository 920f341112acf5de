import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json-tree.ts';
import type { Effect, Ground, Served } from '../effect.ts';

/** Data graph. The upstream echoes requests as JSON objects with `method`, `url`, `headers` and `body`. */
const schema = `
  type Echo { method: String url: String agent: String team: String below: Echo }
  type Query { echo(id: ID): Echo other: String }
`;

const sourceOf = ({ upstream }: Ground, config: object = {}) => ({
  kind: 'REST',
  name: 'echoes',
  internal: false,
  root_fields: [{ type: 'Query', fields: ['echo'] }],
  config: { url: `${upstream.url}/echo/{{.arguments.id}}`, method: 'GET', ...config },
});
const echoMapping = { type_name: 'Query', field_name: 'echo', disable_default_mapping: true, path: [] };

const graph = (engine: JsonObject, more: JsonObject = {}): JsonObject => ({
  graphql: { enabled: true, execution_mode: 'executionEngine', version: '2', schema, engine, ...more },
});

async function ask({ call }: Served, query: string) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query }) };
  const { status, body } = await call('/', init);
  assert.equal(status, 200);
  return body;
}

export const dataGraphEffects: readonly Effect[] = [
  {
    rows: 'graphql.subgraphSdl',
    promise: 'a subgraph is a GraphQL proxy that also accepts requests of routers for its entities',
    classic: () => ({
      graphql: {
        enabled: true,
        execution_mode: 'subgraph',
        schema: 'type User { id: ID! name: String } type Query { user: User }',
        subgraph: { sdl: 'type User @key(fields: "id") { id: ID! name: String } extend type Query { user: User }' },
      },
    }),
    async observe(at) {
      const send = (query: string, variables: object = {}) =>
        at.call('/', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ query, variables }),
        });
      const entities = 'query ($r: [_Any!]!) { _entities(representations: $r) { ... on User { name } } }';
      assert.equal((await send(entities, { r: [{ __typename: 'User', id: '1' }] })).status, 200);
      assert.equal((await send('{ _service { sdl } }')).status, 200);
      assert.equal((await send('{ user { name } }')).status, 200);
      assert.equal(at.upstream.requests.length, 3);
      assert.equal((await send('{ _entities(representations: []) { ... on User { age } } }')).status, 400);
      assert.equal(at.upstream.requests.length, 3);
      const unknown = { graphql: { subgraph: { sdl: 'type Other @key(fields: "id") { id: ID! }' } } };
      await assert.rejects(at.change(unknown), /the entity Other of the subgraph is no object type/);
    },
  },
  {
    rows: `graphql.dataSources graphql.dataSources[].kind,dataSources[].name,dataSources[].internal,dataSources[].rootFields
      graphql.dataSources[].rootFields[].type,dataSources[].rootFields[].fields,dataSources[].config`,
    promise: 'a field has its value from the data source that names it, and an internal one is another API',
    classic: at => graph({ data_sources: [sourceOf(at)], field_configs: [echoMapping] }),
    async observe(at) {
      const { data } = await ask(at, '{ echo(id: 7) { method url } }');
      assert.deepEqual(data, { echo: { method: 'GET', url: '/echo/7' } });
      at.upstream.answer = (_request, response) => void response.writeHead(500).end();
      const { errors } = await ask(at, '{ echo(id: 7) { method } }');
      assert.equal(errors[0].message, 'the data source echoes responded with status 500');
      at.upstream.answer = undefined;
      const internal = { ...sourceOf(at), internal: true };
      await assert.rejects(at.change({ graphql: { engine: { data_sources: [internal] } } }), /the source is internal/);
    },
  },
  {
    rows: `graphql.fieldConfigs graphql.fieldConfigs[].typeName,fieldConfigs[].fieldName,fieldConfigs[].disableDefaultMapping
      graphql.fieldConfigs[].path`,
    promise: 'values are at the path of the mapping, or the whole response',
    classic: at =>
      graph({
        data_sources: [sourceOf(at, { url: `${at.upstream.url}/echo` })],
        field_configs: [
          echoMapping,
          { type_name: 'Echo', field_name: 'agent', disable_default_mapping: false, path: ['headers', 'user-agent'] },
          { type_name: 'Echo', field_name: 'below', disable_default_mapping: true, path: [] },
        ],
      }),
    async observe(at) {
      const { data } = await ask(at, '{ echo { url agent below { url } } }');
      assert.deepEqual(data, { echo: { url: '/echo', agent: 'Gatewright', below: { url: '/echo' } } });
      const unmapped = await ask(await at.plain(), '{ echo { url } }');
      assert.deepEqual(unmapped.data, { echo: null });
    },
  },
  {
    rows: 'graphql.engineHeaders graphql.engineHeaders[].key,engineHeaders[].value',
    promise: 'every data source gets the headers of the graph, unless it has its own',
    classic: at =>
      graph({
        data_sources: [
          sourceOf(at, { url: `${at.upstream.url}/echo`, headers: { 'X-Zone': 'source', 'X-Own': 'yes' } }),
        ],
        field_configs: [echoMapping],
        global_headers: [
          { key: 'X-Team', value: 'blue' },
          { key: 'X-Zone', value: 'graph' },
        ],
      }),
    async observe(at) {
      await ask(at, '{ echo { url } }');
      const { headers } = at.upstream.requests.at(-1)!;
      assert.deepEqual([headers['x-team'], headers['x-zone'], headers['x-own']], ['blue', 'source', 'yes']);
      await ask(await at.plain(), '{ echo { url } }');
      assert.equal(at.upstream.requests.at(-1)!.headers['x-team'], undefined);
    },
  },
  {
    rows: `graphql.typeFieldConfigurations graphql.typeFieldConfigurations[].typeName,typeFieldConfigurations[].fieldName
      graphql.typeFieldConfigurations[].mappingDisabled,typeFieldConfigurations[].mappingPath,typeFieldConfigurations[].kind
      graphql.typeFieldConfigurations[].config`,
    promise: 'data sources in the notation of the first engine have the same effect',
    classic: ({ upstream }) =>
      graph(
        {},
        {
          version: '1',
          type_field_configurations: [
            {
              type_name: 'Query',
              field_name: 'echo',
              mapping: { disabled: true, path: '' },
              data_source: {
                kind: 'HTTPJSONDataSource',
                data_source_config: { url: `${upstream.url}/a`, method: 'POST' },
              },
            },
            {
              type_name: 'Query',
              field_name: 'other',
              mapping: { disabled: false, path: 'headers.user-agent' },
              data_source: {
                kind: 'HTTPJSONDataSource',
                data_source_config: { url: `${upstream.url}/b`, method: 'GET' },
              },
            },
          ],
        },
      ),
    async observe(at) {
      const { data } = await ask(at, '{ echo { method url } other }');
      assert.deepEqual(data, { echo: { method: 'POST', url: '/a' }, other: 'Gatewright' });
      const { errors } = await ask(await at.plain(), '{ other }');
      assert.equal(errors[0].message, 'the field Query.other has no data source');
    },
  },
];

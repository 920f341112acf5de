import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildSchema, introspectionFromSchema } from 'graphql';
import { problem } from '../../src/apis/graphql-schema/problems.ts';
import { problem as apisProblem } from '../../src/apis/problems.ts';
import { expectProblem } from '../contract/expect-problem.ts';
import { onEveryEngine } from '../support/app.ts';
import { eventually, openApi, publish, waitUntilApplied } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const oldSchema = 'type Query { old: Int }';
const lines: string[] = [];

onEveryEngine(
  'schema_updates of GraphQL APIs',
  app => {
    let server: Upstream;
    before(async () => {
      server = await startUpstream();
    });
    after(() => server?.close());
    const serve = (sdl: string) => {
      const data = { ...introspectionFromSchema(buildSchema(sdl)), _service: { sdl } };
      server.requests.length = 0;
      server.answer = (_request, response) => void response.end(JSON.stringify({ data }));
    };
    async function publishApi(graphql: object) {
      const definition = openApi(server, { graphql: { enabled: true, version: '2', schema: oldSchema, ...graphql } });
      const url = await publish(app(), definition);
      const path = `/api/apis/${definition.api_id}`;
      const readSchema = async () => (await app().ask('GET', `${path}/graphql/schema`)).body;
      const readApi = async () => (await app().ask('GET', path)).body;
      return { url, path, readSchema, readApi, remove: () => app().ask('DELETE', path) };
    }

    test('the schema follows the upstream, and an unchanged one makes no write', async () => {
      serve('type Query { fresh: Int }');
      const { url, readSchema, readApi, remove } = await publishApi({ schema_updates: { interval_seconds: 1 } });
      await eventually(async () => assert.match((await readSchema()).schema, /fresh: Int/));
      const { interval_seconds, last_schema_update, error } = await readSchema();
      assert.deepEqual([interval_seconds, error], [1, '']);
      assert.ok(Date.parse(last_schema_update) > 0);
      await waitUntilApplied(app());
      const sent = await fetch(`${url}/?query=${encodeURIComponent('{ old }')}`);
      assert.match(await sent.text(), /field: old not defined/);
      const earlier = await readApi();
      server.requests.length = 0;
      await eventually(() => assert.ok(server.requests.length >= 2));
      assert.deepEqual(await readApi(), earlier);
      serve('type Query { newest: Int }');
      await eventually(async () => assert.match((await readSchema()).schema, /newest: Int/));
      assert.equal((await remove()).status, 200);
    });

    test('a failure leaves the schema, is logged once and shown, and the next success clears it', async () => {
      server.answer = (_request, response) => void response.writeHead(500).end();
      const { path, readSchema, remove } = await publishApi({ schema_updates: { interval_seconds: 1 } });
      await eventually(async () => assert.match((await readSchema()).error, /responded with status 500/));
      server.requests.length = 0;
      await eventually(() => assert.ok(server.requests.length >= 2));
      assert.equal((await readSchema()).schema, oldSchema);
      const apiId = path.split('/').at(-1)!;
      const isLogged = (line: string) => line.includes('schema not updated') && line.includes(apiId);
      assert.equal(lines.filter(isLogged).length, 1);
      serve('type Query { fresh: Int }');
      await eventually(async () => assert.equal((await readSchema()).error, ''));
      assert.match((await readSchema()).schema, /fresh: Int/);
      assert.equal((await remove()).status, 200);
    });

    test('the subgraphs of a supergraph are fetched by its interval', async () => {
      serve('type Query { books: Int pages: Int }');
      const subgraphs = [{ name: 'books', url: server.url, sdl: 'type Query { books: Int }' }];
      const { readApi, remove } = await publishApi({
        schema: '',
        execution_mode: 'supergraph',
        supergraph: { subgraphs },
        schema_updates: { interval_seconds: 1 },
      });
      await eventually(async () =>
        assert.match((await readApi()).api_definition.graphql.supergraph.subgraphs[0].sdl, /pages/),
      );
      assert.equal((await remove()).status, 200);
    });

    test('an API without an interval is not updated', async () => {
      serve('type Query { fresh: Int }');
      const plain = await publishApi({});
      const timed = await publishApi({ schema_updates: { interval_seconds: 1 } });
      await eventually(async () => assert.match((await timed.readSchema()).schema, /fresh/));
      const { schema, checked_at, interval_seconds } = await plain.readSchema();
      assert.deepEqual([schema, checked_at, interval_seconds], [oldSchema, '', 0]);
      assert.equal((await timed.remove()).status, 200);
    });

    test('the state of another API is refused with the reason', async () => {
      const { path } = await publishApi({});
      const expectRefusal = (of: typeof problem.api_without_graphql, at: string, credential?: string) =>
        expectProblem(app(), 'getGraphqlSchema', of, at, { ...(credential && { credential }) });
      await expectRefusal(apisProblem.definition_not_found, '/api/apis/unknown/graphql/schema');
      const { accessKey } = await app().stranger();
      await expectRefusal(apisProblem.definition_not_found, `${path}/graphql/schema`, accessKey);
      const rest = openApi(server);
      await publish(app(), rest);
      await expectRefusal(problem.api_without_graphql, `/api/apis/${rest.api_id}/graphql/schema`);
      const owner = (await app().ask('GET', '/api/users/me')).body.id;
      const owned = openApi(server, { graphql: { enabled: true, schema: oldSchema } });
      await app().ask('POST', '/api/apis', { body: { api_definition: owned, user_owners: [owner] } });
      const user = { email_address: 'reader@example.org', first_name: 'A', last_name: 'B', active: true };
      const reader = await app().ask('POST', '/admin/users', { body: { ...user, user_permissions: { apis: 'read' } } });
      await expectRefusal(apisProblem.api_not_owned, `/api/apis/${owned.api_id}/graphql/schema`, reader.body.Message);
    });
  },
  { settings: { 'graphql.schema_update_poll_seconds': '1' }, onLog: line => void lines.push(line) },
);

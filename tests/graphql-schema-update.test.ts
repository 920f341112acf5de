import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { buildSchema, introspectionFromSchema } from 'graphql';
import { problem } from '../src/apis/graphql-schema/problems.ts';
import { problem as apisProblem } from '../src/apis/problems.ts';
import { outboundProblem } from '../src/base/http-client/problems.ts';
import { expectProblem } from './contract/expect-problem.ts';
import { startApp, type TestApp } from './support/app.ts';
import { answerGraphql } from './support/graphql-upstream.ts';
import { openApi, publish } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

const oldSchema = 'type Query { old: Int }';
const newSchema = 'type Query { fresh: Int }';

describe('POST /api/apis/{apiId}/graphql/schema', () => {
  let app: TestApp;
  let server: Upstream;
  let other: Upstream;
  before(async () => {
    [app, server, other] = await Promise.all([startApp('sqlite'), startUpstream(), startUpstream()]);
    answerGraphql(server);
    answerGraphql(other);
  });
  after(async () => {
    await Promise.all([app?.close(), server?.close(), other?.close()]);
  });

  async function publishApi(graphql: object = {}, more: Record<string, unknown> = {}) {
    const block = { enabled: true, execution_mode: 'proxyOnly', version: '2', schema: oldSchema, ...graphql };
    const definition = openApi(server, { graphql: block, ...more });
    const url = await publish(app, definition);
    return { url, path: `/api/apis/${definition.api_id}/graphql/schema`, id: definition.api_id };
  }
  const readSchema = async (id: string) => (await app.ask('GET', `/api/apis/${id}`)).body.api_definition.graphql;
  const update = (path: string, body: object) => app.ask('POST', `${path}?wait=applied`, { body });

  test('SDL and introspection results replace the schema, and requests are checked by it', async () => {
    const introspection = introspectionFromSchema(buildSchema(newSchema));
    for (const body of [{ sdl: newSchema }, { introspection }, { introspection: { data: introspection } }]) {
      const { url, path, id } = await publishApi();
      const { status, text, body: reply } = await update(path, body);
      assert.equal(status, 200, text);
      assert.deepEqual([reply.Message, reply.changed], ['Schema updated', true]);
      assert.match(reply.schema, /fresh: Int/);
      assert.equal((await readSchema(id)).schema, reply.schema);
      const sent = await fetch(`${url}/?query=${encodeURIComponent('{ old }')}`);
      assert.match(await sent.text(), /field: old not defined/);
      assert.equal((await update(path, { sdl: reply.schema })).body.changed, false);
    }
  });

  test('without a schema that of the upstream is fetched, with the headers for introspection', async () => {
    const { url, path, id } = await publishApi({ proxy: { auth_headers: { 'X-Schema-Key': 'introspect-me' } } });
    server.requests.length = 0;
    const { status, text, body } = await update(path, {});
    assert.equal(status, 200, text);
    assert.equal(server.requests.at(-1)!.headers['x-schema-key'], 'introspect-me');
    assert.match(body.schema, /type Account implements Node/);
    assert.ok(Date.parse((await readSchema(id)).last_schema_update) > 0);
    const reply = await fetch(`${url}/?query=${encodeURIComponent('{ user(id: 1) { name } }')}`);
    assert.deepEqual(await reply.json(), { data: { user: { name: 'Ann' } } });
  });

  test('another server than the upstream does not get the headers for introspection', async () => {
    const { path } = await publishApi({ proxy: { auth_headers: { 'X-Schema-Key': 'introspect-me' } } });
    other.requests.length = 0;
    const { status, text } = await update(path, { url: other.url });
    assert.equal(status, 200, text);
    assert.equal(other.requests.at(-1)!.headers['x-schema-key'], undefined);
  });

  test('a schema that is invalid, missing or hostile leaves the old one', async () => {
    const { path, id } = await publishApi();
    const unknown = Array.from(
      { length: 3000 },
      (_, at) => `type ${'A'.repeat(99)}${at} { a: ${'B'.repeat(99)}${at} }`,
    ).join();
    const deep = `${'['.repeat(20_000)}1${']'.repeat(20_000)}`;
    const introspection = introspectionFromSchema(buildSchema('type Query { a(b: [Int] = [1]): Int }'));
    const hostile = JSON.parse(JSON.stringify(introspection).replace('"[1]"', JSON.stringify(deep)));
    for (const body of [
      { sdl: 'type Query {' },
      { sdl: 'type Query { a: Missing }' },
      { sdl: unknown },
      { sdl: `type Query { a(b: [Int] = ${deep}): Int }` },
      { introspection: {} },
      { introspection: { __schema: { types: [{}] } } },
      { introspection: hostile },
    ])
      await expectProblem(app, 'updateGraphqlSchema', problem.schema_invalid, path, { body });
    assert.match((await update(path, { sdl: unknown })).body.Message, /Unknown type "B{99}0"\.$/);
    server.answer = (_request, response) => void response.writeHead(500).end();
    await expectProblem(app, 'updateGraphqlSchema', problem.introspection_failed, path, { body: {} });
    server.answer = (_request, response) => void response.writeHead(302, { location: other.url }).end();
    await expectProblem(app, 'updateGraphqlSchema', problem.introspection_failed, path, { body: {} });
    server.answer = (_request, response) => void response.end('{"errors":[{"message":"disabled"}]}');
    await expectProblem(app, 'updateGraphqlSchema', problem.introspection_failed, path, { body: {} });
    answerGraphql(server);
    assert.equal((await readSchema(id)).schema, oldSchema);
  });

  test('requests that cannot be served are refused with the reason', async () => {
    const expectRefusal = (of: typeof problem.api_not_graphql, path: string, body: object, credential?: string) =>
      expectProblem(app, 'updateGraphqlSchema', of, path, { body, ...(credential && { credential }) });
    const { path, id } = await publishApi();
    await expectRefusal(problem.source_ambiguous, path, { sdl: newSchema, url: other.url });
    await expectRefusal(apisProblem.definition_not_found, '/api/apis/unknown/graphql/schema', { sdl: newSchema });
    const stranger = await app.stranger();
    await expectRefusal(apisProblem.definition_not_found, path, { sdl: newSchema }, stranger.accessKey);
    const rest = openApi(server);
    await publish(app, rest);
    await expectRefusal(problem.api_not_graphql, `/api/apis/${rest.api_id}/graphql/schema`, { sdl: newSchema });
    const looped = await publishApi({}, { proxy: { target_url: `gw://${id}/` } });
    await expectRefusal(problem.upstream_missing, looped.path, {});
    const odd = await publishApi({ proxy: { auth_headers: { 'a b': 'c' } } });
    await expectRefusal(outboundProblem.bad_request as never, odd.path, {});
    const owner = (await app.ask('GET', '/api/users/me')).body.id;
    const owned = openApi(server, { graphql: { enabled: true, schema: oldSchema } });
    await app.ask('POST', '/api/apis', { body: { api_definition: owned, user_owners: [owner] } });
    const user = { email_address: 'lesser@example.org', first_name: 'A', last_name: 'B', active: true };
    const lesser = await app.ask('POST', '/admin/users', { body: { ...user, user_permissions: { apis: 'write' } } });
    const ownedPath = `/api/apis/${owned.api_id}/graphql/schema`;
    await expectRefusal(apisProblem.api_not_owned, ownedPath, { sdl: newSchema }, lesser.body.Message);
  });
});

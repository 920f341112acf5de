import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { startUpstream, type Upstream } from '../../../tests/support/upstream.ts';

onEveryEngine(
  'migration of classic APIs to the OpenAPI format',
  app => {
    let upstream: Upstream;
    before(async () => {
      upstream = await startUpstream();
    });
    after(() => upstream.close());

    const ask = async (method: string, path: string, body?: unknown, credential?: string) =>
      app().ask(method, path, { ...(body === undefined ? {} : { body }), ...(credential ? { credential } : {}) });
    const migrate = async (body: object, credential?: string) => ask('POST', '/api/apis/migrate', body, credential);
    const createClassic = async (more: object = {}, api_id = `m${createPublicId()}`) => {
      const proxy = { listen_path: `/${api_id}/`, target_url: upstream.url, strip_listen_path: true };
      const definition = { api_id, name: `Orders ${api_id} #eu`, use_keyless: true, proxy, ...more };
      const { status, text } = await ask('POST', '/api/apis', { api_definition: definition, user_owners: ['u1'] });
      assert.equal(status, 200, text);
      return api_id;
    };
    const createVersioned = () =>
      createClassic({
        definition: { location: 'header', key: 'x-v' },
        version_data: {
          not_versioned: false,
          default_version: 'v1',
          versions: {
            v1: { name: 'v1', use_extended_paths: true, global_headers: { 'x-from': 'one' } },
            v2: { name: 'v2', override_target: `${upstream.url}/second`, global_headers: { 'x-from': 'two' } },
          },
        },
      });
    const read = async (id: string) => (await ask('GET', `/api/apis/oas/${id}`)).body;
    const wrapperOf = async (id: string) => (await ask('GET', `/api/apis/${id}`)).body;
    const none = { count: 0, errors: [] };

    test('a dry run returns the documents, one for each version, and stores nothing', async () => {
      const id = await createVersioned();
      const before = await wrapperOf(id);
      const { status, body, text } = await migrate({ mode: 'dryRun', apiIDs: [id] });
      assert.equal(status, 200, text);
      assert.deepEqual([body.success.count, body.success.apiIDs, body.failure], [1, [id], none]);
      const [{ apiID, baseAPI, versions }] = body.success.definitions;
      assert.equal(apiID, id);
      const gateway = baseAPI['x-gw-api-gateway'];
      assert.deepEqual([gateway.info.name, gateway.server.listenPath.value], [`Orders ${id}`, `/${id}/`]);
      const { versions: listed, ...versioning } = gateway.info.versioning;
      assert.deepEqual(versioning, { enabled: true, name: 'v1', default: 'self', location: 'header', key: 'x-v' });
      const [second] = versions;
      assert.deepEqual(listed, [{ name: 'v2', id: second['x-gw-api-gateway'].info.id }]);
      assert.equal(second['x-gw-api-gateway'].upstream.url, `${upstream.url}/second`);
      assert.deepEqual(await wrapperOf(id), before);
    });

    test('direct migration replaces the API in place, and its versions are served as before', async () => {
      const id = await createVersioned();
      const before = await wrapperOf(id);
      const call = async (headers: Record<string, string>) => {
        await ask('GET', '/gw/reload?block=true');
        const reply = await fetch(`${app().url.gateway}/${id}/thing`, { headers });
        assert.equal(reply.status, 200, await reply.clone().text());
        const { url, headers: sent } = (await reply.json()) as { url: string; headers: Record<string, string> };
        return [url, sent['x-from']];
      };
      const calls = async () => [await call({}), await call({ 'x-v': 'v1' }), await call({ 'x-v': 'v2' })];
      const expected = await calls();
      assert.deepEqual(expected, [
        ['/thing', 'one'],
        ['/thing', 'one'],
        ['/second/thing', 'two'],
      ]);
      const { body } = await migrate({ mode: 'direct', apiIDs: [id] });
      assert.deepEqual([body.success.count, body.failure, body.abortedOnFailure], [1, none, false]);
      const now = await wrapperOf(id);
      assert.deepEqual([now.api_definition.is_oas, now.api_definition.id], [true, before.api_definition.id]);
      assert.deepEqual([now.user_owners, now.categories, now.created_at], [['u1'], ['eu'], before.created_at]);
      assert.deepEqual(await calls(), expected);
      const again = (await migrate({ mode: 'direct', apiIDs: [id] })).body;
      const [skipped] = again.skipped.apis;
      assert.deepEqual([again.success.count, skipped.apiID, skipped.key], [0, id, 'already_migrated']);
    });

    test('a staged copy is served beside the original, can be changed, and is promoted', async () => {
      const id = await createVersioned();
      const { success } = (await migrate({ mode: 'stage', apiIDs: [id] })).body;
      const stagedId = `staging-${id}`;
      assert.deepEqual(success.stagedAPIs, [{ classicAPIID: id, oasAPIID: stagedId }]);
      const staged = await read(stagedId);
      const { info, server } = staged['x-gw-api-gateway'];
      assert.deepEqual([info.name, server.listenPath.value], [`[staged] Orders ${id}`, `/gw-staging/${id}/`]);
      assert.match(info.versioning.versions[0].id, /^staging-/);
      assert.equal((await wrapperOf(stagedId)).classic_api_id, id);
      assert.equal((await wrapperOf(id)).api_definition.is_oas, false);
      const repeated = (await migrate({ mode: 'stage', apiIDs: [id] })).body;
      assert.equal(repeated.skipped.apis[0].key, 'already_staged');
      const replaced = (await migrate({ mode: 'stage', apiIDs: [id], overrideStaged: true })).body;
      assert.equal(replaced.success.count, 1, JSON.stringify(replaced));
      assert.equal((await ask('GET', `/api/apis/oas/${info.versioning.versions[0].id}`)).status, 404);

      const changed = await read(stagedId);
      await ask('PUT', `/api/apis/oas/${stagedId}`, { ...changed, tags: [{ name: 'edited' }] });
      const promoted = (await migrate({ mode: 'promote', apiIDs: [id] })).body;
      assert.equal(promoted.success.count, 1, JSON.stringify(promoted));
      const document = await read(id);
      const gateway = document['x-gw-api-gateway'];
      assert.deepEqual(document.tags, [{ name: 'edited' }]);
      assert.deepEqual([gateway.info.name, gateway.server.listenPath.value], [`Orders ${id}`, `/${id}/`]);
      const [{ id: version }] = gateway.info.versioning.versions;
      assert.doesNotMatch(version, /^staging-/);
      assert.equal((await read(version))['x-gw-api-gateway'].upstream.url, `${upstream.url}/second`);
      assert.equal((await ask('GET', `/api/apis/oas/${stagedId}`)).status, 404);
      const { classic_api_id, user_owners } = await wrapperOf(id);
      assert.deepEqual([classic_api_id, user_owners], [undefined, ['u1']]);
    });

    test('APIs that cannot be migrated are skipped with a key, or failed with the reason', async () => {
      const tcp = await createClassic({ protocol: 'tcp', listen_port: 20_001 });
      const graphql = await createClassic({
        graphql: { enabled: true, execution_mode: 'proxyOnly', schema: 'type Query { a: Int }' },
      });
      const websocket = await createClassic({
        proxy: { listen_path: `/w${createPublicId()}/`, target_url: 'ws://127.0.0.1:9/' },
      });
      const plain = await createClassic();
      const { body } = await migrate({ mode: 'promote', apiIDs: [tcp, graphql, websocket, plain, 'nothing'] });
      assert.deepEqual(
        body.skipped.apis.map((it: { key: string }) => it.key),
        ['is_tcp', 'is_graphql', 'is_websocket', 'not_staged'],
      );
      assert.deepEqual(body.failure, { count: 1, errors: [{ apiID: 'nothing', message: ['API not found'] }] });
      const aborted = (await migrate({ mode: 'direct', apiIDs: ['nothing', plain], abortOnFailure: true })).body;
      assert.deepEqual([aborted.success.count, aborted.abortedOnFailure], [0, true]);
      assert.equal((await wrapperOf(plain)).api_definition.is_oas, false);
    });

    test('a migration of all APIs is limited to the organisation, and one API fails alone', async () => {
      const id = await createClassic();
      const { accessKey } = await app().stranger();
      const foreign = (await migrate({ mode: 'dryRun', all: true }, accessKey)).body;
      assert.deepEqual([foreign.success.count, foreign.skipped.count], [0, 0]);
      const denied = (await migrate({ mode: 'direct', apiIDs: [id] }, accessKey)).body;
      assert.deepEqual(denied.failure.errors, [{ apiID: id, message: ['API not found'] }]);
      const all = (await migrate({ mode: 'dryRun', all: true })).body;
      assert.ok(all.success.apiIDs.includes(id));
      const clash = `staging-${id}`;
      const proxy = { listen_path: `/${clash}/`, target_url: upstream.url };
      await ask('POST', '/api/apis', { api_definition: { api_id: clash, name: 'clash', use_keyless: true, proxy } });
      const staged = (await migrate({ mode: 'stage', apiIDs: [id] })).body;
      assert.deepEqual(staged.failure.errors, [
        { apiID: id, message: ['Found API with the same ID: choose another id'] },
      ]);
    });

    const createUser = async () => {
      const user = {
        email_address: `${createPublicId()}@example.org`,
        first_name: 'O',
        last_name: 'W',
        active: true,
        org_id: app().credentials.organisation_id,
        user_permissions: { apis: 'write' },
      };
      const { body } = await ask('POST', '/admin/users', user);
      return { id: body.Meta.id as string, accessKey: body.Message as string };
    };
    const setOwners = async (id: string, ...userIds: string[]) =>
      assert.equal((await ask('PUT', `/api/apis/${id}/access`, { userIds })).status, 200);

    test('a promoted API has the owners of the original, not those of the time it was staged', async () => {
      const [former, owner] = [await createUser(), await createUser()];
      const id = await createVersioned();
      await setOwners(id, former.id, owner.id);
      assert.equal((await migrate({ mode: 'stage', apiIDs: [id] })).body.success.count, 1);
      await setOwners(id, owner.id);
      const promoted = (await migrate({ mode: 'promote', apiIDs: [id] }, owner.accessKey)).body;
      assert.equal(promoted.success.count, 1, JSON.stringify(promoted));
      assert.deepEqual((await wrapperOf(id)).user_owners, [owner.id]);
      const [{ id: version }] = (await read(id))['x-gw-api-gateway'].info.versioning.versions;
      assert.deepEqual((await wrapperOf(version)).user_owners, [owner.id]);
      assert.equal((await ask('GET', `/api/apis/oas/${id}`, undefined, former.accessKey)).status, 403);
    });

    test('a staged copy or version of another owner is neither replaced nor promoted', async () => {
      const [owner, another] = [await createUser(), await createUser()];
      const id = await createVersioned();
      await setOwners(id, owner.id);
      assert.equal((await migrate({ mode: 'stage', apiIDs: [id] })).body.success.count, 1);
      const stagedId = `staging-${id}`;
      const [{ id: version }] = (await read(stagedId))['x-gw-api-gateway'].info.versioning.versions;
      for (const copy of [version, stagedId]) {
        await setOwners(copy, another.id);
        for (const body of [{ mode: 'stage', overrideStaged: true }, { mode: 'promote' }]) {
          const refused = (await migrate({ ...body, apiIDs: [id] }, owner.accessKey)).body;
          assert.equal(refused.success.count, 0, JSON.stringify(refused));
          assert.match(refused.failure.errors[0].message[0], /You do not own this API/);
        }
        assert.deepEqual((await wrapperOf(copy)).user_owners, [another.id]);
        assert.equal((await wrapperOf(id)).api_definition.is_oas, false);
        await setOwners(copy, owner.id);
      }
      assert.equal((await migrate({ mode: 'promote', apiIDs: [id] }, owner.accessKey)).body.success.count, 1);
    });

    test('a promotion names the members without an OpenAPI format, as the dry run does', async () => {
      const id = await createClassic({ slug: 'orders' });
      const preview = (await migrate({ mode: 'dryRun', apiIDs: [id] })).body;
      const unconverted = [{ apiID: id, members: ['slug'] }];
      assert.deepEqual(preview.success.unconverted, unconverted);
      await migrate({ mode: 'stage', apiIDs: [id] });
      assert.deepEqual((await migrate({ mode: 'promote', apiIDs: [id] })).body.success.unconverted, unconverted);
    });

    test('a migration of all APIs includes a classic API whose id has the prefix of staged copies', async () => {
      const id = await createClassic({}, `staging-${createPublicId()}`);
      const { success } = (await migrate({ mode: 'dryRun', all: true })).body;
      assert.ok(success.apiIDs.includes(id), id);
    });

    test('an unclear request is refused', async () => {
      for (const [body, message] of [
        [{ mode: 'dryRun' }, /apiIDs: is required, unless all is true/],
        [{ mode: 'dryRun', all: true, apiIDs: ['a'] }, /not both/],
        [{ mode: 'dryRun', apiIDs: ['a'], overrideStaged: true }, /overrideStaged: can be used with mode stage only/],
        [{ mode: 'dry', apiIDs: ['a'] }, /mode/],
        [{ apiIDs: ['a'] }, /mode: is required/],
        [{ mode: 'dryRun', apiIds: ['a'] }, /apiIds: no such member; did you mean apiIDs/],
      ] as const) {
        const answer = await migrate(body);
        assert.equal(answer.status, 400);
        assert.match(answer.body.Message, message);
      }
    });
  },
  { settings: { 'apis.owners_only': 'true' } },
);

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, type TestApp } from './support/app.ts';
import { type Definition, openApi, waitUntilApplied } from './support/traffic.ts';
import { withSettings } from './support/with-settings.ts';

const upstream = { url: 'http://127.0.0.1:9/' };
const streamsType = { 'content-type': 'application/vnd.gw.streams.oas' };

interface User {
  readonly id: string;
  readonly key: string;
}

async function addUser(app: TestApp): Promise<User> {
  const { body, text } = await app.ask('POST', '/admin/users', {
    body: {
      org_id: app.credentials.organisation_id,
      email_address: `${createPublicId()}@example.org`,
      first_name: 'A',
      last_name: 'B',
      active: true,
      user_permissions: { apis: 'write' },
    },
  });
  assert.equal(body.Status, 'OK', text);
  return { id: body.Meta.id, key: body.Message };
}

async function addOwned(
  app: TestApp,
  owner: User,
  definition: Definition,
): Promise<{ id: string; databaseId: string }> {
  const body = { api_definition: definition, user_owners: [owner.id] };
  const { body: made, text } = await app.ask('POST', '/api/apis', { body });
  assert.equal(made.Status, 'OK', text);
  return { id: made.ID, databaseId: made.Meta };
}

/** A definition with a name that no other has, so that names do not decide. */
const classic = (path: string, more: Record<string, unknown> = {}) =>
  openApi(upstream, { name: createPublicId(), ...more, proxy: { listen_path: path, ...(more.proxy as object) } });

const streams = (path: string, gateway: Record<string, unknown> = {}) => ({
  'x-gw-api-gateway': {
    info: { name: createPublicId(), state: { active: true }, ...(gateway.info as object) },
    server: { listenPath: { value: path } },
    upstream: { ...upstream, ...(gateway.upstream as object) },
    ...(gateway.middleware ? { middleware: gateway.middleware } : {}),
  },
  'x-gw-streaming': { streams: {} },
  ...(gateway.paths ? { paths: gateway.paths } : {}),
});

const writer = (app: TestApp, user: User | undefined) => {
  const credential = user ? { credential: user.key } : {};
  return {
    add: (definition: object) => app.ask('POST', '/api/apis', { ...credential, body: { api_definition: definition } }),
    change: (id: string, definition: object) =>
      app.ask('PUT', `/api/apis/${id}`, { ...credential, body: { api_definition: definition } }),
    addStreams: (document: object) =>
      app.ask('POST', '/api/apis/streams', { ...credential, headers: streamsType, body: JSON.stringify(document) }),
    changeStreams: (id: string, document: object) =>
      app.ask('PUT', `/api/apis/streams/${id}`, {
        ...credential,
        headers: streamsType,
        body: JSON.stringify(document),
      }),
  };
};

onEveryEngine('ownership of routes', app => {
  let owner: User;
  let other: User;
  before(async () => {
    [owner, other] = [await addUser(app()), await addUser(app())];
  });

  test('a route that overlaps that of an API with owners is refused to others, in both formats', async () => {
    const path = `/mine-${createPublicId()}/deep/`;
    const [first] = path.slice(1).split('/');
    await addOwned(app(), owner, classic(path, { name: `Payroll ${createPublicId()}` }));
    const own = await writer(app(), other).add(classic(`/own-${createPublicId()}/`));
    const ownStreams = await writer(app(), other).addStreams(streams(`/own-${createPublicId()}/`));
    assert.deepEqual([own.status, ownStreams.status], [200, 200], ownStreams.text);
    for (const route of [path, `${path}sub/`, `/${first}/`, '/', `/${first}/{any}/`, '/{any}/deep/x/']) {
      const { add, change, addStreams, changeStreams } = writer(app(), other);
      for (const { status, body } of [
        await add(classic(route)),
        await change(own.body.ID, { ...classic(route), api_id: own.body.ID }),
        await addStreams(streams(route)),
        await changeStreams(ownStreams.body.ID, streams(route)),
      ]) {
        assert.equal(status, 409, route);
        assert.doesNotMatch(body.Message, /payroll|own /i);
        assert.match(body.Message, /^The route .* overlaps the route of another API: choose another listen path$/);
      }
    }
    const { status } = await writer(app(), other).add(classic(`/${first}/elsewhere/`));
    assert.equal(status, 200, 'beside it is free');
  });

  test('owners, administrators and the gateway secret can nest routes, and every user where there are no owners', async () => {
    const path = `/mine-${createPublicId()}/`;
    await addOwned(app(), owner, classic(path));
    assert.equal((await writer(app(), owner).add(classic(`${path}a/`))).status, 200);
    assert.equal((await writer(app(), undefined).add(classic(`${path}b/`))).status, 200);
    assert.equal((await app().ask('POST', '/gw/apis', { body: classic(`${path}c/`) })).status, 200);
    const imported = await app().ask('POST', '/admin/apis/import', {
      body: { apis: [{ api_definition: classic(`${path}d/`) }] },
    });
    assert.deepEqual(imported.body.Errors, {});
    const open = `/open-${createPublicId()}/`;
    assert.equal((await writer(app(), owner).add(classic(open))).status, 200);
    assert.equal((await writer(app(), other).add(classic(`${open}sub/`))).status, 200);
  });

  test('a route that overlapped before owners were set is kept, but cannot be moved or activated again', async () => {
    const path = `/late-${createPublicId()}/`;
    const inside = { ...classic(`${path}sub/`), active: false };
    const made = await writer(app(), other).add(inside);
    await addOwned(app(), owner, classic(path));
    const change = (more: object) => writer(app(), other).change(made.body.ID, { ...inside, ...more });
    assert.equal((await change({ name: createPublicId() })).status, 200);
    assert.equal((await change({ active: true })).status, 409);
    assert.equal((await change({ proxy: { ...inside.proxy, listen_path: `${path}sub/sub/` } })).status, 409);
  });
});

withSettings('ownership with gateway.api_id_paths', { 'gateway.api_id_paths': 'true' }, app => {
  test('a route equal to the id of an API with owners is refused to others', async () => {
    const [owner, other] = [await addUser(app()), await addUser(app())];
    const { id } = await addOwned(app(), owner, classic('/by-path/'));
    for (const path of [`/${id}/`, `/${id}/deep/`, '/{any}/'])
      assert.equal((await writer(app(), other).add(classic(path))).status, 409, path);
    assert.equal((await writer(app(), owner).add(classic(`/${id}/`))).status, 200);
  });
});

withSettings(
  'ownership with duplicate paths and extra ports',
  { 'apis.allow_duplicate_paths': 'true', 'gateway.extra_ports': '9301' },
  app => {
    test('the path and the port of an API with owners cannot be shared by others', async () => {
      const [owner, other] = [await addUser(app()), await addUser(app())];
      await addOwned(app(), owner, classic('/same/'));
      await addOwned(app(), owner, classic('/ported/', { active: false, listen_port: 9301 }));
      const inPort = classic('/beside/', { active: false, listen_port: 9301 });
      assert.equal((await writer(app(), other).add(classic('/same/'))).status, 409);
      assert.equal((await writer(app(), other).add(inPort)).status, 409);
      assert.equal((await writer(app(), owner).add(classic('/same/'))).status, 200);
      assert.equal((await writer(app(), owner).add(inPort)).status, 200);
    });
  },
);

onEveryEngine('ownership of references', app => {
  let owner: User;
  let other: User;
  let owned: { id: string; databaseId: string };
  let openId: string;
  const hiddenName = `Ledger & Books ${createPublicId()}`;
  const spelt = hiddenName.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');
  const createVersionData = (lists: object) => ({
    version_data: {
      not_versioned: true,
      versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths: lists } },
    },
  });
  const rewrite = (to: string, pattern = '.*') =>
    createVersionData({ url_rewrites: [{ path: '/a', method: 'GET', match_pattern: pattern, rewrite_to: to }] });

  before(async () => {
    [owner, other] = [await addUser(app()), await addUser(app())];
    owned = await addOwned(app(), owner, { ...classic(''), name: `${hiddenName} #secret`, internal: true });
    const { body } = await writer(app(), other).add({ ...classic(''), internal: true });
    openId = body.ID;
  });

  const classicPlaces: Readonly<Record<string, (to: string) => Record<string, unknown>>> = {
    'proxy.target_url': to => ({ proxy: { target_url: to } }),
    'proxy.target_list[1]': to => ({
      proxy: { enable_load_balancing: true, target_list: [upstream.url, to] },
    }),
    'version_data.versions.Default.override_target': to => ({
      version_data: { not_versioned: false, versions: { Default: { name: 'Default', override_target: to } } },
    }),
    'version_data.versions.Default.extended_paths.url_rewrites[0].rewrite_to': to => rewrite(to),
    'version_data.versions.Default.extended_paths.url_rewrites[0].triggers[0].rewrite_to': to =>
      createVersionData({
        url_rewrites: [
          {
            path: '/a',
            method: 'GET',
            match_pattern: '.*',
            rewrite_to: '/b',
            triggers: [{ on: 'any', options: { header_matches: { 'X-A': { match_rx: 'a' } } }, rewrite_to: to }],
          },
        ],
      }),
  };
  const gateway = 'x-gw-api-gateway';
  const paths = { '/a': { get: { operationId: 'a', responses: { 200: { description: 'OK' } } } } };
  const operations = (urlRewrite: object) => ({ middleware: { operations: { a: { urlRewrite } } }, paths });
  const oasPlaces: typeof classicPlaces = {
    [`${gateway}.upstream.url`]: to => ({ upstream: { url: to } }),
    [`${gateway}.upstream.loadBalancing.targets[0].url`]: to => ({
      upstream: { loadBalancing: { enabled: true, targets: [{ url: to, weight: 1 }] } },
    }),
    [`${gateway}.middleware.operations.a.urlRewrite.rewriteTo`]: to =>
      operations({ enabled: true, pattern: '.*', rewriteTo: to }),
    [`${gateway}.middleware.operations.a.urlRewrite.triggers[0].rewriteTo`]: to =>
      operations({
        enabled: true,
        pattern: '.*',
        rewriteTo: '/b',
        triggers: [{ condition: 'any', rules: [{ in: 'header', name: 'X-A', pattern: 'a' }], rewriteTo: to }],
      }),
  };

  test('gw:// references to an API with owners are refused to others in any field of either format, with the path', async () => {
    const target = `gw://${owned.id}/x`;
    for (const [path, more] of Object.entries(classicPlaces)) {
      const { status, body, text } = await writer(app(), other).add(classic(`/${createPublicId()}/`, more(target)));
      assert.equal(status, 403, `${path}: ${text}`);
      assert.ok(body.Message.startsWith(`api_definition.${path}: references an API that you do not own`), text);
      const allowed = await writer(app(), other).add(classic(`/${createPublicId()}/`, more(`gw://${openId}/x`)));
      assert.equal(allowed.status, 200, `${path}: ${allowed.text}`);
      const { ID: api_id } = allowed.body;
      const next = classic(`/${createPublicId()}/`, { ...more(target), api_id });
      assert.equal((await writer(app(), other).change(api_id, next)).status, 403, path);
    }
    for (const [path, more] of Object.entries(oasPlaces)) {
      const { status, body, text } = await writer(app(), other).addStreams(
        streams(`/${createPublicId()}/`, more(target)),
      );
      assert.equal(status, 403, `${path}: ${text}`);
      assert.ok(body.Message.startsWith(`${path}: references an API that you do not own`), text);
      const allowed = await writer(app(), other).addStreams(streams(`/${createPublicId()}/`, more(`gw://${openId}/x`)));
      assert.equal(allowed.status, 200, `${path}: ${allowed.text}`);
      const changed = await writer(app(), other).changeStreams(
        allowed.body.ID,
        streams(`/${createPublicId()}/`, more(target)),
      );
      assert.equal(changed.status, 403, path);
    }
  });

  test('every spelling that resolves to the API is refused', async () => {
    for (const name of [
      owned.id,
      owned.databaseId,
      owned.databaseId.toUpperCase(),
      spelt,
      spelt.toUpperCase(),
      spelt.replaceAll(/-+/g, '-'),
      `user@${owned.id}`,
    ])
      for (const target of [`gw://${name}/x`, `GW://${name}`, ` gw://${name}/`, `g\tw://${name}/`]) {
        const made = await writer(app(), other).add(
          classic(`/${createPublicId()}/`, { proxy: { target_url: target } }),
        );
        assert.equal(made.status, 403, `${JSON.stringify(target)}: ${made.text}`);
      }
    const self = await writer(app(), other).add(classic(`/${createPublicId()}/`, rewrite('gw://self/x')));
    assert.equal(self.status, 200, self.text);
  });

  test('a name with variables is refused when it could resolve to an API with owners', async () => {
    for (const [target, status] of [
      ['gw://$1/x', 403],
      ['gw://$gw_context.headers_X_Api/x', 403],
      [`gw://${spelt.slice(0, 8)}$1/x`, 403],
      [`gw://${createPublicId()}-$1/x`, 200],
    ] as const) {
      const made = await writer(app(), other).add(classic(`/${createPublicId()}/`, rewrite(target, '/a/(.*)')));
      assert.equal(made.status, status, `${target}: ${made.text}`);
      const own = await writer(app(), owner).add(classic(`/${createPublicId()}/`, rewrite(target, '/a/(.*)')));
      assert.equal(own.status, 200, own.text);
    }
  });

  test('adding an API with owners as a version is refused to others, in both formats; an existing one is kept', async () => {
    const versions = { enabled: true, name: 'v1', default: 'self', location: 'header', key: 'x-v' };
    const base = (id: string) => ({ definition: { ...versions, versions: { v2: id } } });
    const list = (id: string) => ({ info: { versioning: { ...versions, versions: [{ name: 'v2', id }] } } });
    const path = `/${createPublicId()}/`;
    const { status, body } = await writer(app(), other).add(classic(path, base(owned.id)));
    assert.deepEqual([status, body.Message.split(': ')[0]], [403, 'api_definition.definition.versions.v2']);
    assert.equal((await writer(app(), other).addStreams(streams(path, list(owned.id)))).status, 403);
    const given = classic(path, base(owned.id));
    const made = await writer(app(), undefined).add(given);
    assert.equal(made.status, 200, made.text);
    const kept = await writer(app(), other).change(made.body.ID, { ...given, name: createPublicId() });
    assert.equal(kept.status, 200, kept.text);
  });

  test('owners, administrators and the gateway secret can reference it', async () => {
    const createLoopApi = () => classic(`/${createPublicId()}/`, { proxy: { target_url: `gw://${owned.id}/` } });
    assert.equal((await writer(app(), owner).add(createLoopApi())).status, 200);
    assert.equal((await writer(app(), undefined).add(createLoopApi())).status, 200);
    assert.equal((await app().ask('POST', '/gw/apis', { body: createLoopApi() })).status, 200);
  });

  test('a name by which gw:// resolves to an API with owners cannot be taken by others', async () => {
    const createNamedApi = (name: string, api_id = createPublicId()) => ({
      ...classic(`/${createPublicId()}/`),
      name,
      api_id,
    });
    for (const definition of [
      createNamedApi(hiddenName),
      createNamedApi(`${spelt} #x`),
      createNamedApi(createPublicId(), spelt),
    ]) {
      const { status, text } = await writer(app(), other).add(definition);
      assert.equal(status, 409, text);
    }
    const own = createNamedApi(createPublicId());
    assert.equal((await writer(app(), other).add(own)).status, 200);
    const renamed = await writer(app(), other).change(own.api_id, { ...own, name: hiddenName });
    assert.deepEqual(
      [renamed.status, renamed.body.Message],
      [409, `The name ${hiddenName} is taken: choose another name`],
    );
    assert.equal((await writer(app(), owner).add(createNamedApi(hiddenName))).status, 200);
  });

  test('a refused reference is not served: the internal API gets only requests from APIs of its owners', async () => {
    const route = classic(`/${createPublicId()}/`, { proxy: { target_url: `gw://${owned.id}/` } });
    await writer(app(), other).add(route);
    await waitUntilApplied(app());
    assert.equal((await fetch(app().url.gateway + route.proxy.listen_path)).status, 404);
    await writer(app(), owner).add(route);
    await waitUntilApplied(app());
    assert.notEqual((await fetch(app().url.gateway + route.proxy.listen_path)).status, 404);
  });
});

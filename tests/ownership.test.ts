import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import type { AnyOperation } from '#operations/operation.ts';
import { catalogue } from '../src/catalogue.ts';
import { onEveryEngine } from './support/app.ts';
import { eventually, openApi, waitUntilApplied } from './support/traffic.ts';
import { handling, webhook } from './support/webhooks.ts';

const upstream = { url: 'http://127.0.0.1:9' };
const dates = ['startDay', 'startMonth', 'startYear', 'endDay', 'endMonth', 'endYear'];
const notOwned = 'You do not own this API: ask one of its owners or an administrator';

const masterKeys = { settings: { 'keys.allow_master_keys': 'true' } };
onEveryEngine(
  'API ownership',
  app => {
    const users: Record<'owner' | 'member' | 'other', { id: string; key: string }> = Object.create(null);
    let group = '';
    const permissions = [
      'audit_logs',
      'apis',
      'keys',
      'policies',
      'oauth',
      'analytics',
      'log',
      'certs',
      'hooks',
      'mcp',
      'system',
    ];
    const writeAll = Object.fromEntries(permissions.map(name => [name, 'write']));
    let owned: { id: string; databaseId: string };
    let open: { id: string; databaseId: string };

    /** A user of the operator's organisation with every permission but that of an administrator. */
    async function addUser(more: object = {}) {
      const { body, text } = await app().ask('POST', '/admin/users', {
        body: {
          org_id: app().credentials.organisation_id,
          email_address: `${createPublicId()}@example.org`,
          first_name: 'A',
          last_name: 'B',
          active: true,
          user_permissions: writeAll,
          ...more,
        },
      });
      assert.equal(body.Status, 'OK', text);
      return { id: body.Meta.id as string, key: body.Message as string };
    }

    async function addApi(name: string, more: object = {}) {
      const definition = openApi(upstream, {
        name,
        use_keyless: false,
        use_standard_auth: true,
        auth_configs: { authToken: {} },
      });
      const { body, text } = await app().ask('POST', '/api/apis', { body: { api_definition: definition, ...more } });
      assert.equal(body.Status, 'OK', text);
      return { id: body.ID as string, databaseId: body.Meta as string };
    }

    const as = (name: keyof typeof users) => ({ credential: users[name].key });
    const rights = (...apis: { id: string }[]) =>
      Object.fromEntries(apis.map(({ id }) => [id, { api_id: id, api_name: '', versions: ['Default'] }]));

    before(async () => {
      const payments = { name: 'payments', user_permissions: writeAll };
      const created = await app().ask('POST', '/api/usergroups', { body: payments });
      assert.equal(created.status, 200, created.text);
      group = created.body.Meta;
      users.owner = await addUser();
      users.member = await addUser({ group_id: group });
      users.other = await addUser();
      owned = await addApi('Owned #secret', { user_owners: [users.owner.id], user_group_owners: [group] });
      open = await addApi('Open #common');
    });

    /** Path parameters of an operation, with the API in question where it names one. */
    const pathOf = ({ path }: AnyOperation, apiId: string) =>
      path.replaceAll(/\{([\w-]+)\}/g, (_whole, name: string) => {
        if (/apiid$/i.test(name)) return apiId;
        if (name === 'revision') return '1';
        return dates.includes(name) ? (name.endsWith('Year') ? '2026' : '1') : 'x';
      }) + (path.endsWith('/compare') ? '?from=1&to=2' : '');
    const naming = catalogue.filter(it => it.surface === 'dashboard' && /\{\w*apiid\}/i.test(it.path));

    test('every operation whose path names an API is refused to users who do not own it, by either id', async () => {
      assert.ok(naming.length > 15);
      for (const it of naming) {
        for (const id of [owned.id, owned.databaseId]) {
          const body = it.method === 'GET' || it.method === 'DELETE' ? {} : { body: {} };
          const headers = typeof it.accepts === 'object' ? { headers: { 'content-type': it.accepts.only[0]! } } : {};
          const { status, text } = await app().ask(it.method, pathOf(it, id), { ...as('other'), ...body, ...headers });
          assert.equal(status, 403, `${it.name}: ${text}`);
          const reason = it.permission === 'admin' ? 'you need admin' : notOwned;
          assert.ok(text.includes(reason), `${it.name}: ${text}`);
        }
      }
      assert.equal((await app().ask('GET', `/api/apis/${owned.id}`)).status, 200, 'nothing was changed');
    });

    test('owners, members of an owning group and administrators have access; an API without owners is open to all users', async () => {
      for (const asked of [as('owner'), as('member'), {}])
        for (const { id } of [owned, open])
          assert.equal((await app().ask('GET', `/api/apis/${id}`, asked)).status, 200);
      assert.equal((await app().ask('GET', `/api/apis/${open.id}`, as('other'))).status, 200);
    });

    test('a user who is not an owner cannot add themselves as one', async () => {
      const body = { userIds: [users.other.id], userGroupIds: [] };
      assert.equal((await app().ask('PUT', `/api/apis/${owned.id}/access`, { ...as('other'), body })).status, 403);
      const { body: kept } = await app().ask('GET', `/api/apis/${owned.id}/access`);
      assert.deepEqual(kept, { userIds: [users.owner.id], userGroupIds: [group] });
    });

    test('lists, searches, categories and groups omit it', async () => {
      const listApiIds = async (name: keyof typeof users) => {
        const { body } = await app().ask('GET', '/api/apis?p=-1', as(name));
        const { body: found } = await app().ask('GET', '/api/apis/search?q=owned&p=-1', as(name));
        const { body: categories } = await app().ask('GET', '/api/apis/categories', as(name));
        const { body: groups } = await app().ask('GET', '/api/apis/groups', as(name));
        return [
          body.apis.some((api: { api_definition: { api_id: string } }) => api.api_definition.api_id === owned.id),
          found.apis.length > 0,
          categories.categories.some((it: { name: string }) => it.name === 'secret'),
          'secret' in groups,
        ];
      };
      assert.deepEqual(await listApiIds('owner'), [true, true, true, true]);
      assert.deepEqual(await listApiIds('other'), [false, false, false, false]);
    });

    test('a version of it cannot be created by a user who is not an owner', async () => {
      const body = { api_definition: openApi(upstream) };
      const query = `base_api_id=${owned.id}&base_api_version_name=v1&new_version_name=v2`;
      const { status } = await app().ask('POST', `/api/apis?${query}`, { ...as('other'), body });
      assert.equal(status, 403);
    });

    test('policies: hidden when all their APIs are, returned without hidden APIs, updated only by owners of all', async () => {
      const add = async (name: string, ...apis: { id: string }[]) => {
        const policy = {
          name: `${name} ${createPublicId()}`,
          rate: 1,
          per: 1,
          quota_max: -1,
          access_rights: rights(...apis),
          active: true,
        };
        const { body, text } = await app().ask('POST', '/api/portal/policies', { ...as('owner'), body: policy });
        assert.equal(body.Status, 'OK', text);
        return { id: body.Message as string, policy };
      };
      const hidden = await add('hidden', owned);
      const both = await add('both', owned, open);
      const none = await add('none', { id: 'deleted-since' });
      const path = (it: { id: string }) => `/api/portal/policies/${it.id}`;
      assert.equal((await app().ask('GET', path(hidden), as('other'))).status, 404);
      assert.equal((await app().ask('GET', path(none), as('other'))).status, 200);
      const { body: shown } = await app().ask('GET', path(both), as('other'));
      assert.deepEqual(Object.keys(shown.access_rights), [open.id]);
      const { body: list } = await app().ask('GET', '/api/portal/policies?p=-1', as('other'));
      const ids = list.Data.map((it: { id: string }) => it.id);
      assert.deepEqual(
        [hidden, both, none].map(it => ids.includes(it.id)),
        [false, true, true],
      );
      assert.equal(JSON.stringify(list).includes(owned.id), false);
      for (const [it, status] of [
        [hidden, 404],
        [both, 403],
      ] as const) {
        const mine = { ...it.policy, access_rights: rights(open) };
        assert.equal((await app().ask('PUT', path(it), { ...as('other'), body: mine })).status, status);
        assert.equal((await app().ask('DELETE', path(it), as('other'))).status, status);
      }
      const taken = { ...both.policy, name: createPublicId() };
      assert.equal((await app().ask('POST', '/api/portal/policies', { ...as('other'), body: taken })).status, 403);
      assert.equal((await app().ask('PUT', path(both), { ...as('owner'), body: both.policy })).status, 200);
      const key = { apply_policies: [hidden.id] };
      assert.equal((await app().ask('POST', '/api/keys', { ...as('other'), body: key })).status, 403);
      assert.equal((await app().ask('POST', '/api/keys', { ...as('owner'), body: key })).status, 200);
      const own = await app().ask('POST', '/api/keys', { ...as('other'), body: { access_rights: rights(open) } });
      assert.equal(own.status, 200, own.text);
      const embedding = { meta_data: { policies: [{ ...hidden.policy, id: hidden.id }] } };
      const clientBody = { policy_id: both.id, redirect_uri: 'https://a.example/' };
      const client = await app().ask('POST', `/api/apis/oauth/${open.id}`, { ...as('owner'), body: clientBody });
      const clientPath = `/api/apis/oauth/${open.id}/${client.body.client_id}`;
      const consent = { response_type: 'code', client_id: client.body.client_id };
      for (const [method, path, body] of [
        ['POST', '/api/keys', { apply_policies: [both.id] }],
        ['POST', '/api/keys', embedding],
        ['PUT', `/api/keys/${own.body.key_id}`, { apply_policies: [both.id] }],
        ['PUT', `/api/keys/${own.body.key_id}`, { access_rights: rights(open), ...embedding }],
        ['PATCH', `/api/keys/${own.body.key_id}`, { add_policies: [both.id] }],
        ['POST', `/api/apis/oauth/${open.id}`, { policy_id: both.id }],
        ['POST', `/api/apis/oauth/${open.id}`, embedding],
        ['POST', `/api/apis/oauth/${open.id}/authorize-client`, consent],
        ['POST', `${clientPath}/rotate`, undefined],
        ['DELETE', clientPath, undefined],
      ] as const) {
        const refused = await app().ask(method, path, { ...as('other'), ...(body && { body }) });
        assert.equal(refused.status, 403, `${method} ${path} ${JSON.stringify(body)}: ${refused.text}`);
        assert.ok(refused.text.includes(notOwned), refused.text);
      }
      const readSecret = async (name: keyof typeof users) => (await app().ask('GET', clientPath, as(name))).body.secret;
      assert.deepEqual([await readSecret('owner'), await readSecret('other')], [client.body.secret, '']);
      assert.ok(client.body.secret);
      assert.equal((await app().ask('DELETE', clientPath, as('owner'))).status, 200);
      const { body: kept } = await app().ask('GET', `/api/keys/${own.body.key_id}`);
      assert.deepEqual(Object.keys(kept.data.access_rights), [open.id]);
    });

    test('master keys are written by users alone who may see every API', async () => {
      const created = await app().ask('POST', '/api/keys', { ...as('owner'), body: {} });
      assert.equal(created.status, 200, created.text);
      const path = `/api/keys/${created.body.key_id}`;
      const own = await app().ask('POST', '/api/keys', { ...as('other'), body: { access_rights: rights(open) } });
      const later = Math.floor(Date.now() / 1000) + 3600;
      for (const [method, refusedPath, body] of [
        ['POST', '/api/keys', { body: {} }],
        ['POST', '/api/keys', { body: { meta_data: { policies: [] } } }],
        ['POST', '/api/apis/keys/basic/mallory', { body: { basic_auth_data: { password: 'secret' } } }],
        ['PUT', `/api/keys/${own.body.key_id}`, { body: { access_rights: {} } }],
        ['PUT', path, { body: { access_rights: rights(open) } }],
        ['PATCH', path, { body: { extend_to: later } }],
        ['DELETE', path, {}],
      ] as const) {
        const refused = await app().ask(method, refusedPath, { ...as('other'), ...body });
        assert.equal(refused.status, 403, `${method} ${refusedPath} ${JSON.stringify(body)}: ${refused.text}`);
      }
      const extended = { ...as('other'), body: { extend_to: later } };
      assert.equal((await app().ask('PATCH', `/api/keys/${own.body.key_id}`, extended)).status, 200);
      assert.equal((await app().ask('DELETE', path, as('owner'))).status, 200);
    });

    test('keys: hidden when all their APIs are, returned without hidden APIs, created and updated only by owners of all', async () => {
      const add = async (...apis: { id: string }[]) => {
        const body = { access_rights: rights(...apis) };
        const made = await app().ask('POST', '/api/keys', { ...as('owner'), body });
        assert.equal(made.status, 200, made.text);
        return { id: made.body.key_id as string, body };
      };
      const hidden = await add(owned);
      const both = await add(owned, open);
      const path = (it: { id: string }) => `/api/keys/${it.id}`;
      assert.equal((await app().ask('GET', path(hidden), as('other'))).status, 404);
      const { body: shown } = await app().ask('GET', path(both), as('other'));
      assert.deepEqual(Object.keys(shown.data.access_rights), [open.id]);
      for (const list of [
        '/api/keys/detailed?p=-1',
        '/api/apis/keys?p=-1',
        `/api/apis/-/keys/search?q=${hidden.id.slice(-8)}&p=-1`,
      ]) {
        const { text } = await app().ask('GET', list, as('other'));
        assert.equal(text.includes(hidden.id), false, list);
        assert.equal(text.includes(owned.id), false, list);
        assert.equal((await app().ask('GET', list, as('owner'))).text.includes(hidden.id), true, list);
      }
      assert.equal(
        (await app().ask('PUT', path(both), { ...as('other'), body: { access_rights: rights(open) } })).status,
        403,
      );
      assert.equal((await app().ask('DELETE', path(both), as('other'))).status, 403);
      assert.equal((await app().ask('DELETE', path(hidden), as('other'))).status, 404);
      assert.equal((await app().ask('POST', '/api/keys', { ...as('other'), body: both.body })).status, 403);
      const user = { basic_auth_data: { password: 'secret' }, access_rights: rights(owned) };
      assert.equal(
        (await app().ask('POST', '/api/apis/keys/basic/mallory', { ...as('other'), body: user })).status,
        403,
      );
      assert.equal((await app().ask('PUT', path(both), { ...as('owner'), body: both.body })).status, 200);
      assert.equal((await app().ask('DELETE', path(hidden), as('owner'))).status, 200);
    });

    test('audit records have the names of objects that the reader may see, and of no others', async () => {
      const write = async (method: string, path: string, body: object) => {
        const { status, text, body: answer } = await app().ask(method, path, { ...as('owner'), body });
        assert.equal(status, 200, text);
        return answer;
      };
      const create = async (label: string, api: { id: string }) => {
        const { api_definition: definition } = (await app().ask('GET', `/api/apis/${api.id}`)).body;
        await write('PUT', `/api/apis/${api.id}`, { api_definition: definition });
        const policy = { name: `${label} policy`, rate: 1, per: 1, quota_max: -1, access_rights: rights(api) };
        const { Message: policyId } = await write('POST', '/api/portal/policies', policy);
        const { key_hash } = await write('POST', '/api/keys', { alias: `${label} key`, access_rights: rights(api) });
        const client = { client_name: `${label} client`, redirect_uri: 'https://a.example/' };
        const { client_id } = await write('POST', `/api/apis/oauth/${api.id}`, client);
        return [api.id, policyId, key_hash, client_id] as string[];
      };
      const ids = { hidden: await create('hidden', owned), open: await create('open', open) };
      const twin = { client_id: createPublicId(), redirect_uri: 'https://a.example/' };
      for (const api of [owned, open])
        await write('POST', `/api/apis/oauth/${api.id}`, { ...twin, client_name: `twin ${api.id}` });
      const { key_id } = await write('POST', '/api/keys', { alias: 'removed key', access_rights: rights(owned) });
      await app().ask('DELETE', `/api/keys/${key_id}`, as('owner'));
      const hook = { name: 'audited hook', method: 'POST', target_path: 'https://a.example/' };
      const { ID: hookId } = await write('POST', '/api/hooks', hook);
      const findName = (records: { object: string; object_name: string }[], object: string) =>
        records.find(it => it.object === object && it.object_name !== '')?.object_name ?? '';
      const own = ['Open #common', 'open policy', 'open key', 'open client', 'audited hook'];
      for (const [name, expected] of [
        ['owner', ['Owned #secret', 'hidden policy', 'hidden key', 'hidden client']],
        ['other', ['', '', '', '']],
      ] as const) {
        const listed = (await app().ask('GET', '/api/audit-logs?p=-1', as(name))).body.audit_logs;
        const file = await app().ask('GET', '/api/audit-logs/export?type=json', as(name));
        for (const records of [listed, file.body.audit_logs]) {
          const namesOf = (objects: string[]) => objects.map(id => findName(records, id));
          assert.deepEqual(namesOf(ids.hidden), expected);
          assert.deepEqual(namesOf([...ids.open, hookId]), own);
        }
        assert.equal(file.text.includes('removed key'), name === 'owner');
        assert.equal(file.text.includes(`"twin ${open.id}"`), name === 'owner', 'a client of a hidden API has its id');
        const record = listed.find((it: { object: string }) => it.object === ids.hidden[1]);
        const read = await app().ask('GET', `/api/audit-logs/${record._id}`, as(name));
        assert.equal(read.body.object_name, expected[1]);
      }
    });

    test('usage and logs of it are counted for its owners only', async () => {
      await waitUntilApplied(app());
      const { body } = await app().ask('GET', `/api/apis/${owned.id}`);
      const { listen_path } = body.api_definition.proxy;
      assert.equal((await fetch(app().url.gateway + listen_path)).status, 401);
      const lists = ['/api/usage/apis/1/1/2026/31/12/2099?p=-1', '/api/logs?start=0&end=4000000000'];
      for (const path of lists) {
        await eventually(async () => {
          assert.ok((await app().ask('GET', path, as('owner'))).text.includes(owned.id), path);
        });
        assert.equal((await app().ask('GET', path, as('other'))).text.includes(owned.id), false, path);
      }
      const { data } = (await app().ask('GET', `${lists[1]}&api_id=${owned.id}`, as('owner'))).body;
      assert.equal((await app().ask('GET', `/api/logs/${data[0].id}`, as('owner'))).status, 200);
      assert.equal((await app().ask('GET', `/api/logs/${data[0].id}`, as('other'))).status, 404);
    });

    test('webhook deliveries of it are listed, read and retried by its owners only', async () => {
      const definition = openApi(upstream, {
        ...{ use_keyless: false, use_standard_auth: true, auth_configs: { authToken: {} } },
        ...handling('AuthFailure', webhook(`${upstream.url}/event`)),
      });
      const created = await app().ask('POST', '/api/apis', {
        body: { api_definition: definition, user_owners: [users.owner.id] },
      });
      assert.equal(created.status, 200, created.text);
      await waitUntilApplied(app());
      await fetch(app().url.gateway + definition.proxy.listen_path, { headers: { authorization: 'unknown' } });
      const list = async (name: keyof typeof users, path: string) => {
        const { status, body, text } = await app().ask('GET', path, as(name));
        assert.equal(status, 200, text);
        return body.deliveries.filter(({ api_id }: { api_id: string }) => api_id === created.body.ID);
      };
      const { id, hook_id } = await eventually(async () => {
        const [found] = await list('owner', '/api/deliveries');
        assert.ok(found);
        return found;
      });
      for (const path of ['/api/deliveries', '/api/dead-letters', `/api/hooks/${hook_id}/deliveries`])
        assert.deepEqual(await list('other', path), [], path);
      assert.equal((await list('owner', `/api/hooks/${hook_id}/deliveries`)).length, 1);
      assert.equal((await app().ask('GET', `/api/deliveries/${id}`, as('owner'))).status, 200);
      assert.equal((await app().ask('GET', `/api/deliveries/${id}`)).status, 200);
      for (const [method, path] of [
        ['GET', `/api/deliveries/${id}`],
        ['POST', `/api/deliveries/${id}/retry`],
      ] as const)
        assert.equal((await app().ask(method, path, as('other'))).status, 404, path);
    });

    test('logs and uptime of it are refused when requested by id', async () => {
      for (const path of [`/api/logs?start=0&end=1&api_id=${owned.id}`, `/api/uptime?api_id=${owned.id}`]) {
        assert.equal((await app().ask('GET', path, as('other'))).status, 403, path);
        assert.equal((await app().ask('GET', path, as('owner'))).status, 200, path);
      }
    });
  },
  masterKeys,
);

onEveryEngine(
  'API ownership switched off',
  app => {
    test('with ownership disabled owners are stored and no API is hidden', async () => {
      const { body: user } = await app().ask('POST', '/admin/users', {
        body: {
          org_id: app().credentials.organisation_id,
          email_address: 'reader@example.org',
          first_name: 'A',
          last_name: 'B',
          active: true,
          user_permissions: { apis: 'read' },
        },
      });
      const asked = { credential: user.Message as string };
      const body = { api_definition: openApi(upstream), user_owners: ['another'] };
      const { body: made } = await app().ask('POST', '/api/apis', { body });
      assert.equal((await app().ask('GET', `/api/apis/${made.ID}`, asked)).status, 200);
    });
  },
  { settings: { 'apis.owners_only': 'false' } },
);

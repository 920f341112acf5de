import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { migrate } from '#storage/migrate.ts';
import { migrations } from '#storage/migrations/list.ts';
import { onEveryEngine, rememberSecrets, startApp, type TestApp } from '../../../tests/support/app.ts';

const definition = (name: string) => ({
  name,
  proxy: { listen_path: `/${createPublicId()}/`, target_url: 'http://127.0.0.1:1' },
  version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  use_oauth2: true,
});

async function openTenant(app: TestApp) {
  const { accessKey, orgId } = await app.stranger();
  const ask = (method: string, path: string, body?: unknown) =>
    app.ask(method, path, { credential: accessKey, ...(body === undefined ? {} : { body }) });
  const ok = async (method: string, path: string, body?: unknown) => {
    const answer = await ask(method, path, body);
    assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`);
    return answer.body;
  };
  const createApi = async (name: string) =>
    (await ok('POST', '/api/apis', { api_definition: definition(name) })).ID as string;
  const createClient = async (apiId: string, client: object = {}) => {
    const made = await ok('POST', `/api/apis/oauth/${apiId}`, client);
    rememberSecrets({ secret: made.secret });
    return made as { client_id: string; secret: string; api_id: string };
  };
  const list = async (query = '') => {
    const { apps, ...rest } = await ok('GET', `/api/oauth/clients${query}`);
    return { ...rest, apps, ids: apps.map((it: { client_id: string }) => it.client_id) as string[] };
  };
  /** Stores an access and a refresh token of one grant. */
  const issue = async ({ api_id, client_id }: { api_id: string; client_id: string }, lifetimeMs = 60_000) => {
    const { oauthTokens } = app.application.installation.services;
    const [token, refresh, grantId] = [createPublicId(), createPublicId(), createPublicId()];
    const grant = { orgId, apiId: api_id, clientId: client_id, grantId, owner: '', scope: '' };
    const expiresAtMs = Date.now() + lifetimeMs;
    const tokens = [
      { kind: 'access', token, expiresAtMs, key: {} },
      { kind: 'refresh', token: refresh, expiresAtMs, key: {} },
    ] as const;
    await oauthTokens.insert(grant, tokens, Date.now());
    return { token, refresh };
  };
  return { orgId, accessKey, ask, ok, createApi, createClient, list, issue };
}

onEveryEngine('OAuth clients of an organisation', app => {
  test('clients of all APIs are listed newest first, in pages, with token counts and without secrets', async () => {
    const tenant = await openTenant(app());
    const [one, two] = [await tenant.createApi('One'), await tenant.createApi('Two')];
    const made = [];
    for (let n = 0; n < 11; n++)
      made.push(await tenant.createClient(n % 2 ? one : two, { client_name: `Client ${n}` }));
    await (await openTenant(app())).createApi('Foreign');
    const newest = made.at(-1)!;
    await tenant.issue(newest);
    await tenant.issue(newest);
    await tenant.issue(newest, -1000);
    const first = await tenant.list();
    assert.deepEqual([first.pages, first.total, first.ids.length], [2, 11, 10]);
    assert.deepEqual((await tenant.list('?p=-1')).ids, made.map(it => it.client_id).toReversed());
    assert.deepEqual((await tenant.list('?p=2')).ids, [made[0]!.client_id]);
    const [{ tokens, secret, api_id, created_at }, next] = first.apps;
    assert.deepEqual([tokens, secret, api_id, next.tokens], [2, '', two, 0]);
    assert.ok(Number.isFinite(Date.parse(created_at)));
    for (const { secret: planted } of made) assert.ok(!JSON.stringify(first).includes(planted));
    const other = await openTenant(app());
    assert.deepEqual((await other.list()).total, 0);
    assert.deepEqual((await other.list(`?api_id=${one}`)).total, 0);
  });

  test('clients are found by a part of id, name or description, by API and by policy, also combined', async () => {
    const tenant = await openTenant(app());
    const [one, two] = [await tenant.createApi('One'), await tenant.createApi('Two')];
    const rights = { access_rights: { [one]: { api_id: one, versions: ['Default'] } } };
    const policy_id = (await tenant.ok('POST', '/api/portal/policies', { name: 'Gold', ...rights })).Message;
    const named = await tenant.createClient(one, { client_name: 'Billing 100%', policy_id });
    const described = await tenant.createClient(two, { description: 'nightly BILLING run', client_id: 'nightly-1' });
    const plain = await tenant.createClient(one, { client_id: 'plain' });
    const find = async (query: string) => (await tenant.list(`?${query}`)).ids;
    assert.deepEqual(await find('q=billing'), [described.client_id, named.client_id]);
    assert.deepEqual(await find('q=100%25'), [named.client_id]);
    assert.deepEqual(await find('q=%25%25'), []);
    assert.deepEqual(await find('q=IGHTLY-'), [described.client_id]);
    assert.deepEqual(await find(`api_id=${one}`), [plain.client_id, named.client_id]);
    assert.deepEqual(await find(`policy_id=${policy_id}`), [named.client_id]);
    assert.deepEqual(await find(`q=billing&api_id=${two}`), [described.client_id]);
    assert.deepEqual(await find(`q=billing&policy_id=unknown`), []);
    assert.deepEqual(await find('api_id=unknown'), []);
    await tenant.ok('DELETE', `/api/apis/oauth/${one}/${named.client_id}`);
    assert.deepEqual(await find('q=billing'), [described.client_id]);
    await tenant.ok('DELETE', `/api/apis/${two}`);
    assert.deepEqual(await find('q=billing'), []);
  });

  test('clients of an API of other owners are neither listed nor found', async () => {
    const tenant = await openTenant(app());
    const [hidden, open] = [await tenant.createApi('Hidden'), await tenant.createApi('Open')];
    await tenant.createClient(hidden, { client_name: 'shared word' });
    const seen = await tenant.createClient(open, { client_name: 'shared word' });
    const permissions = { user_permissions: { oauth: 'write', apis: 'read' } };
    const makeUser = async () => {
      const created = await app().ask('POST', '/admin/users', {
        body: {
          org_id: tenant.orgId,
          first_name: 'A',
          last_name: 'B',
          email_address: `${createPublicId()}@example.org`,
          active: true,
          ...permissions,
        },
      });
      assert.equal(created.status, 200, created.text);
      return { id: created.body.Meta.id as string, accessKey: created.body.Message as string };
    };
    const [owner, colleague] = [await makeUser(), await makeUser()];
    await tenant.ok('PUT', `/api/apis/${hidden}/access`, { userIds: [owner.id], userGroupIds: [] });
    const asColleague = (path: string) => app().ask('GET', path, { credential: colleague.accessKey });
    const { body } = await asColleague('/api/oauth/clients?q=shared');
    assert.deepEqual([body.total, body.apps[0].client_id], [1, seen.client_id]);
    assert.equal((await asColleague(`/api/oauth/clients?api_id=${hidden}`)).body.total ?? 0, 0);
    const found = (await asColleague('/api/search?q=shared')).body.results;
    assert.deepEqual(
      found.map(({ kind, items }: { kind: string; items: object[] }) => [kind, items]),
      [['oauth_clients', [{ id: seen.client_id, name: 'shared word', detail: open }]]],
    );
    assert.equal((await app().ask('GET', '/api/oauth/clients', { credential: owner.accessKey })).body.total, 2);
  });

  test('a rotated secret replaces the old one at once, and tokens stay', async () => {
    const tenant = await openTenant(app());
    const apiId = await tenant.createApi('One');
    const client = await tenant.createClient(apiId);
    await tenant.issue(client);
    const path = `/api/apis/oauth/${apiId}/${client.client_id}`;
    const rotated = await tenant.ok('POST', `/api/apis/oauth/${apiId}/${client.client_id}/rotate`);
    rememberSecrets({ secret: rotated.secret });
    assert.notEqual(rotated.secret, client.secret);
    const { oauthClients } = app().application.installation.services;
    assert.equal(await oauthClients.clientSecretMatches(apiId, client.client_id, client.secret), false);
    assert.equal(await oauthClients.clientSecretMatches(apiId, client.client_id, rotated.secret), true);
    assert.equal((await tenant.ok('GET', `${path}/tokens`)).length, 1);
  });

  test('one token is revoked with its grant, then all tokens of the client, and no others', async () => {
    const tenant = await openTenant(app());
    const apiId = await tenant.createApi('One');
    const [client, other] = [await tenant.createClient(apiId), await tenant.createClient(apiId)];
    const [first, second] = [await tenant.issue(client), await tenant.issue(client)];
    const kept = await tenant.issue(other);
    const path = `/api/apis/oauth/${apiId}/${client.client_id}/tokens`;
    const codes = async () => (await tenant.ok('GET', path)).map(({ code }: { code: string }) => code);
    assert.equal((await tenant.ask('POST', `${path}/revoke`, { token: kept.token })).status, 404);
    assert.equal((await tenant.ask('POST', `${path}/revoke`, { token: first.refresh })).status, 404);
    await tenant.ok('POST', `/api/apis/oauth/${apiId}/${client.client_id}/tokens/revoke`, { token: first.token });
    assert.deepEqual(await codes(), [second.token]);
    const { oauthTokens } = app().application.installation.services;
    assert.equal(await oauthTokens.find(apiId, 'refresh', first.refresh), undefined);
    assert.ok(await oauthTokens.find(apiId, 'refresh', second.refresh));
    await tenant.ok('DELETE', `/api/apis/oauth/${apiId}/${client.client_id}/tokens`);
    assert.deepEqual(await codes(), []);
    assert.equal(await oauthTokens.find(apiId, 'refresh', second.refresh), undefined);
    assert.ok(await oauthTokens.find(apiId, 'access', kept.token));
  });

  test('tokens are revoked by the id of the client alone, for every API that has it', async () => {
    const tenant = await openTenant(app());
    const [one, two] = [await tenant.createApi('One'), await tenant.createApi('Two')];
    const client_id = createPublicId();
    const [first, second] = [
      await tenant.createClient(one, { client_id }),
      await tenant.createClient(two, { client_id }),
    ];
    const other = await tenant.issue(await tenant.createClient(one));
    const [inFirst, inSecond] = [await tenant.issue(first), await tenant.issue(second)];
    const { oauthTokens } = app().application.installation.services;
    const isValid = async (apiId: string, kind: 'access' | 'refresh', token: string) =>
      (await oauthTokens.find(apiId, kind, token)) !== undefined;
    const revoke = (body: object) => tenant.ok('POST', `/api/apis/oauth/${client_id}/revoke`, body);
    const { Status, Message } = await revoke({ token: other.token });
    assert.deepEqual([Status, Message], ['OK', 'token revoked successfully']);
    assert.ok(await isValid(one, 'access', other.token));
    await revoke({ token: inSecond.token, token_type_hint: 'refresh_token' });
    assert.ok(await isValid(two, 'access', inSecond.token));
    await revoke({ token: inSecond.token, token_type_hint: 'access_token' });
    assert.ok(!(await isValid(two, 'access', inSecond.token)));
    await revoke({ token: inFirst.refresh });
    assert.ok(!(await isValid(one, 'access', inFirst.token)));
    const next = [await tenant.issue(first), await tenant.issue(second)];
    const revokeAll = (client_secret: string) =>
      tenant.ask('POST', `/api/apis/oauth/${client_id}/revoke_all`, { client_secret });
    const wrong = await revokeAll('another secret');
    assert.deepEqual([wrong.status, wrong.body.Message], [400, 'client_secret is wrong']);
    assert.ok(await isValid(one, 'access', next[0]!.token));
    const done = await revokeAll(second.secret);
    assert.deepEqual([done.status, done.body.Message], [200, 'tokens revoked successfully']);
    assert.ok(await isValid(one, 'refresh', next[0]!.refresh));
    assert.ok(!(await isValid(two, 'refresh', next[1]!.refresh)));
    const misspelt = await tenant.ask('POST', `/api/apis/oauth/${client_id}/revoke`, { tokn: 'x' });
    assert.match(misspelt.text, /tokn: no such member; did you mean token/);
  });

  test('revocation by the id of a client reaches no API of other owners and no other organisation', async () => {
    const [tenant, other] = [await openTenant(app()), await openTenant(app())];
    const hidden = await tenant.createApi('Hidden');
    const client = await tenant.createClient(hidden);
    const { token } = await tenant.issue(client);
    const me = { email_address: `${createPublicId()}@example.org`, first_name: 'A', last_name: 'B', active: true };
    const addUser = async (email_address: string) =>
      (
        await app().ask('POST', '/admin/users', {
          body: { ...me, email_address, org_id: tenant.orgId, user_permissions: { oauth: 'write' } },
        })
      ).body;
    const [owner, colleague] = [await addUser(me.email_address), await addUser(`${createPublicId()}@example.org`)];
    await tenant.ok('PUT', `/api/apis/${hidden}/access`, { userIds: [owner.Meta.id], userGroupIds: [] });
    for (const credential of [other.accessKey, colleague.Message])
      for (const [end, body] of [
        ['revoke', { token }],
        ['revoke_all', { client_secret: client.secret }],
      ] as const) {
        const path = `/api/apis/oauth/${client.client_id}/${end}`;
        assert.equal((await app().ask('POST', path, { credential, body })).status, 404, end);
      }
    const { oauthTokens } = app().application.installation.services;
    assert.ok(await oauthTokens.find(hidden, 'access', token));
    const path = `/api/apis/oauth/${client.client_id}/revoke`;
    assert.equal((await app().ask('POST', path, { credential: owner.Message, body: { token } })).status, 200);
    assert.equal(await oauthTokens.find(hidden, 'access', token), undefined);
  });

  test('an unknown API, an unknown client and those of another organisation are not found', async () => {
    const [tenant, other] = [await openTenant(app()), await openTenant(app())];
    const apiId = await tenant.createApi('One');
    const client = await tenant.createClient(apiId);
    const { token } = await tenant.issue(client);
    for (const [ask, path] of [
      [tenant.ask, `/api/apis/oauth/${apiId}/unknown`],
      [tenant.ask, `/api/apis/oauth/unknown/${client.client_id}`],
      [other.ask, `/api/apis/oauth/${apiId}/${client.client_id}`],
    ] as const)
      for (const [method, end, body] of [
        ['POST', 'rotate', undefined],
        ['DELETE', 'tokens', undefined],
        ['POST', 'tokens/revoke', { token }],
      ] as const)
        assert.equal((await ask(method, `${path}/${end}`, body)).status, 404, `${method} ${path}/${end}`);
    assert.equal((await tenant.ok('GET', `/api/apis/oauth/${apiId}/${client.client_id}/tokens`)).length, 1);
  });

  test('clients that an earlier release stored are indexed by the migration', async () => {
    const tenant = await openTenant(app());
    const apiId = await tenant.createApi('One');
    const client = await tenant.createClient(apiId, { client_name: 'Older', description: 'from before' });
    const { records, services } = app().application.installation;
    const { db } = records;
    await db.updateTable('oauth_clients').set({ policy_id: 'x' }).execute();
    const readIndex = () =>
      db.selectFrom('search_names').selectAll().where('kind', '=', 'oauth_clients').orderBy('object').execute();
    const before = await readIndex();
    await db.deleteFrom('search_names').where('kind', '=', 'oauth_clients').execute();
    const position = migrations.findIndex(it => it.name === 'oauth-client-search');
    await db.schema.dropIndex('oauth_clients_policy').execute();
    await db.schema.alterTable('oauth_clients').dropColumn('policy_id').execute();
    await services.meta.set('schema_version', String(position));
    await migrate(db, records.engine, migrations.slice(0, position + 1));
    await services.meta.set('schema_version', String(migrations.length));
    assert.deepEqual(await readIndex(), before);
    assert.deepEqual((await tenant.list('?q=older')).ids, [client.client_id]);
    assert.deepEqual((await tenant.list('?policy_id=x')).ids, []);
  });
});

test('a token is revoked by its hash where only hashes are stored', async () => {
  const app = await startApp('sqlite', { settings: { 'keys.at_rest': 'hashed' } });
  const tenant = await openTenant(app);
  const apiId = await tenant.createApi('One');
  const client = await tenant.createClient(apiId);
  const { token } = await tenant.issue(client);
  const path = `/api/apis/oauth/${apiId}/${client.client_id}/tokens`;
  const [{ code }] = await tenant.ok('GET', path);
  assert.notEqual(code, token);
  await tenant.ok('POST', `${path}/revoke`, { token: code });
  assert.deepEqual(await tenant.ok('GET', path), []);
  await app.close();
});

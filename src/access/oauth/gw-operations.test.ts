import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId, createSecretText } from '#base/ids.ts';
import { type Answer, onEveryEngine, rememberSecrets, type TestApp } from '../../../tests/support/app.ts';

const hourMs = 3_600_000;
const members = [
  'api_id',
  'client_id',
  'client_name',
  'description',
  'meta_data',
  'policy_id',
  'redirect_uri',
  'secret',
];

function expectError({ status, body, text }: Answer, expected: number, message: string | RegExp): void {
  assert.equal(status, expected, text);
  assert.equal(body.status, 'error');
  if (typeof message === 'string') assert.equal(body.message, message);
  else assert.match(body.message, message);
}

/** An organisation with APIs of its own. */
async function shop(app: TestApp) {
  const { orgId, accessKey } = await app.stranger();
  const { services } = app.application.installation;
  const ask = (method: string, path: string, body?: unknown) =>
    app.ask(method, path, body === undefined ? {} : { body });
  const api = async (more: object = { use_oauth2: true }) => {
    const api_id = createPublicId();
    const api_definition = {
      api_id,
      name: api_id,
      proxy: { listen_path: `/${api_id}`, target_url: 'http://127.0.0.1:1' },
    };
    const made = await app.ask('POST', '/api/apis', {
      credential: accessKey,
      body: { api_definition: { ...api_definition, ...more } },
    });
    assert.equal(made.status, 200, made.text);
    return api_id;
  };
  const policy = async (...apiIds: string[]) => {
    const id = createPublicId();
    const access_rights = Object.fromEntries(apiIds.map(apiId => [apiId, { api_id: apiId, versions: ['Default'] }]));
    assert.equal((await ask('POST', '/gw/policies', { id, org_id: orgId, access_rights })).status, 200);
    return id;
  };
  const client = async (sent: object) => {
    const made = await ask('POST', '/gw/oauth/clients/create', sent);
    assert.equal(made.status, 200, made.text);
    rememberSecrets({ secret: made.body.secret });
    return made.body;
  };
  /** Tokens as the provider keeps them. */
  const tokens = async (apiId: string, clientId: string, count = 1, livesMs = hourMs) => {
    const nowMs = app.application.installation.services.clock.now();
    const grant = { orgId, apiId, clientId, grantId: createPublicId(), owner: '', scope: '' };
    const made = Array.from({ length: count }, () => ({
      access: orgId + createPublicId(),
      refresh: createSecretText(),
    }));
    for (const { access, refresh } of made) {
      rememberSecrets({ access, refresh });
      const kept = { expiresAtMs: nowMs + livesMs, key: {} };
      await services.oauthTokens.insert(
        grant,
        [
          { kind: 'access', token: access, ...kept },
          { kind: 'refresh', token: refresh, ...kept },
        ],
        nowMs,
      );
    }
    return made;
  };
  const findTokens = async (apiId: string, { access, refresh }: { access: string; refresh: string }) => [
    (await services.oauthTokens.find(apiId, 'access', access)) !== undefined,
    (await services.oauthTokens.find(apiId, 'refresh', refresh)) !== undefined,
  ];
  return { orgId, ask, api, policy, client, tokens, known: findTokens };
}

const form = (app: TestApp, path: string, fields: Record<string, string>) =>
  app.ask('POST', path, {
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

onEveryEngine('OAuth clients of the gateway API', app => {
  test('a client is created, listed, read, changed and removed, with the exact response shapes', async () => {
    const { ask, api, policy, client } = await shop(app());
    const apiId = await api();
    const made = await client({ api_id: apiId, redirect_uri: 'https://a.example/back', description: 'd' });
    assert.deepEqual(Object.keys(made).sort(), members);
    assert.match(made.client_id, /^[0-9a-f]{32}$/);
    assert.deepEqual([made.api_id, made.meta_data, made.description], [apiId, null, 'd']);
    const path = `/gw/oauth/clients/${apiId}/${made.client_id}`;
    assert.deepEqual((await ask('GET', path)).body, made);
    assert.deepEqual((await ask('GET', `/gw/oauth/clients/${apiId}`)).body, [{ ...made, secret: '' }]);
    const policyId = await policy(apiId);
    const change = { policy_id: policyId, meta_data: { team: 'a' }, secret: 'another', client_id: 'another' };
    const changed = await ask('PUT', path, change);
    assert.deepEqual(changed.body, { ...made, policy_id: policyId, meta_data: { team: 'a' } });
    assert.deepEqual((await ask('GET', path)).body, changed.body);
    assert.deepEqual((await ask('DELETE', path)).body, { key: made.client_id, status: 'ok', action: 'deleted' });
    expectError(await ask('GET', path), 404, 'OAuth Client ID not found');
    expectError(await ask('PUT', path, {}), 404, 'OAuth Client ID not found');
    expectError(await ask('DELETE', path), 404, 'OAuth Client ID not found');
  });

  test('the API or policy of a client must exist and accept tokens', async () => {
    const { ask, api, client } = await shop(app());
    const create = (sent: unknown) => ask('POST', '/gw/oauth/clients/create', sent);
    expectError(await create({ api_id: 'none' }), 400, "API doesn't exist");
    expectError(await create({ api_id: await api({ use_keyless: true }) }), 400, 'API is not OAuth2');
    expectError(await create({}), 400, /^api_id: is required/);
    expectError(await create({ policy_id: 'none' }), 400, "Policy doesn't exist");
    const apiId = await api();
    expectError(await create({ api_id: apiId, policy_id: 'none' }), 400, "Policy doesn't exist");
    expectError(await create({ api_id: apiId, redirect_uri: 'javascript:x' }), 400, /^redirect_uri: /);
    expectError(await create({ api_id: apiId, client_id: 7 }), 400, 'client_id: expected string, received number');
    const own = { api_id: apiId, client_id: 'mine', secret: 'chosen-by-me' };
    assert.deepEqual(
      [(await client(own)).client_id, (await client({ ...own, client_id: 'm2' })).secret],
      ['mine', own.secret],
    );
    assert.equal((await create(own)).status, 409);
    expectError(await ask('GET', '/gw/oauth/clients/none'), 404, "API doesn't exist");
    expectError(await ask('GET', '/gw/oauth/clients/none/mine'), 404, 'OAuth Client ID not found');
    expectError(await ask('PUT', '/gw/oauth/clients/none/mine', {}), 404, "API doesn't exist");
    assert.deepEqual((await ask('GET', `/gw/oauth/clients/${await api({ use_keyless: true })}`)).body, []);
  });

  test('a client created for a policy exists for every API of it that accepts tokens, with one secret', async () => {
    const { orgId, ask, api, policy, client } = await shop(app());
    const [one, two, open] = [await api(), await api({ enable_jwt: true }), await api({ use_keyless: true })];
    const made = await client({ policy_id: await policy(one, two, open) });
    const known = await ask('GET', `/gw/oauth/clients/apis/${made.client_id}?orgID=${orgId}`);
    assert.deepEqual(new Set(known.body), new Set([one, two]));
    for (const apiId of [one, two])
      assert.equal((await ask('GET', `/gw/oauth/clients/${apiId}/${made.client_id}`)).body.secret, made.secret);
    assert.deepEqual((await ask('GET', `/gw/oauth/clients/apis/nobody?orgID=${orgId}`)).body, []);
    assert.equal((await ask('GET', `/gw/oauth/clients/apis/${made.client_id}`)).status, 400);
    const clash = { policy_id: await policy(two), client_id: made.client_id };
    assert.equal((await ask('POST', '/gw/oauth/clients/create', clash)).status, 409);
    expectError(
      await ask('POST', '/gw/oauth/clients/create', { policy_id: await policy(open) }),
      400,
      /^api_id: is required/,
    );
  });

  test('a new policy must grant the API, and revokes the tokens issued under the old one', async () => {
    const { ask, api, policy, client, tokens, known } = await shop(app());
    const apiId = await api();
    const made = await client({ api_id: apiId });
    const path = `/gw/oauth/clients/${apiId}/${made.client_id}`;
    expectError(await ask('PUT', path, { policy_id: 'none' }), 404, "Policy doesn't exist");
    const foreign = "Policy access rights doesn't contain API this OAuth client belongs to";
    expectError(await ask('PUT', path, { policy_id: await policy('another') }), 400, foreign);
    const [pair] = await tokens(apiId, made.client_id);
    await ask('PUT', path, { description: 'the same policy' });
    assert.deepEqual(await known(apiId, pair!), [true, true]);
    await ask('PUT', path, { policy_id: await policy(apiId) });
    assert.deepEqual(await known(apiId, pair!), [false, false]);
  });

  test('removing a client removes its tokens; of concurrent deletes one succeeds', async () => {
    const { ask, api, client, tokens, known } = await shop(app());
    const apiId = await api();
    const { client_id } = await client({ api_id: apiId });
    const [pair] = await tokens(apiId, client_id);
    const gone = await Promise.all([1, 2, 3].map(() => ask('DELETE', `/gw/oauth/clients/${apiId}/${client_id}`)));
    assert.deepEqual(gone.map(it => it.status).sort(), [200, 404, 404]);
    assert.deepEqual(await known(apiId, pair!), [false, false]);
  });

  test('concurrent changes of a client are all stored', async () => {
    const { ask, api, client } = await shop(app());
    const apiId = await api();
    const { client_id, secret } = await client({ api_id: apiId });
    const path = `/gw/oauth/clients/${apiId}/${client_id}`;
    const changes = [{ description: 'd' }, { client_name: 'n' }, { meta_data: { m: 1 } }];
    const [rotated] = await Promise.all([
      ask('PUT', `${path}/rotate`),
      ...changes.map(change => ask('PUT', path, change)),
    ]);
    const { body } = await ask('GET', path);
    assert.deepEqual([body.description, body.client_name, body.meta_data], ['d', 'n', { m: 1 }]);
    assert.equal(body.secret, rotated.body.secret);
    assert.notEqual(body.secret, secret);
  });
});

onEveryEngine('OAuth tokens of the gateway API', app => {
  test('unexpired tokens are listed, all or in pages of a hundred', async () => {
    const { ask, api, client, tokens } = await shop(app());
    const apiId = await api();
    const { client_id } = await client({ api_id: apiId });
    const path = `/gw/oauth/clients/${apiId}/${client_id}/tokens`;
    assert.deepEqual((await ask('GET', path)).body, []);
    const none = { Pagination: { page_num: 1, page_total: 1, page_size: 100 }, Tokens: [] };
    assert.deepEqual((await ask('GET', `${path}?page=1`)).body, none);
    const made = await tokens(apiId, client_id, 101);
    await tokens(apiId, client_id, 1, -1);
    const { body: all } = await ask('GET', path);
    assert.equal(all.length, 101);
    assert.deepEqual(Object.keys(all[0]).sort(), ['code', 'expires']);
    assert.deepEqual(new Set(all.map((it: { code: string }) => it.code)), new Set(made.map(it => it.access)));
    const { body: second } = await ask('GET', `${path}?page=2`);
    assert.deepEqual([second.Pagination.page_num, second.Pagination.page_total, second.Tokens.length], [2, 2, 1]);
    for (const page of ['0', '-3', 'x', '']) {
      const { body } = await ask('GET', `${path}?page=${page}`);
      assert.deepEqual([body.Pagination.page_num, body.Tokens.length], [1, 100]);
    }
    assert.deepEqual((await ask('GET', `${path}?page=3`)).body.Tokens, []);
    expectError(await ask('GET', `/gw/oauth/clients/none/${client_id}/tokens`), 404, 'OAuth Client ID not found');
    expectError(await ask('GET', `/gw/oauth/clients/${apiId}/none/tokens`), 404, 'OAuth Client ID not found');
  });

  test('a refresh token is revoked once, and its value is not logged', async () => {
    const { ask, api, client, tokens, known } = await shop(app());
    const apiId = await api();
    const { client_id } = await client({ api_id: apiId });
    const [pair] = await tokens(apiId, client_id);
    const path = `/gw/oauth/refresh/${pair!.refresh}`;
    expectError(await ask('DELETE', path), 400, 'Missing parameter api_id');
    expectError(await ask('DELETE', `${path}?api_id=none`), 404, 'API for this refresh token not found');
    const open = await api({ use_keyless: true });
    expectError(await ask('DELETE', `${path}?api_id=${open}`), 400, 'OAuth is not enabled on this API');
    const ended = await ask('DELETE', `${path}?api_id=${apiId}`);
    assert.deepEqual(ended.body, { key: pair!.refresh, status: 'ok', action: 'deleted' });
    assert.deepEqual(await known(apiId, pair!), [true, false]);
    expectError(await ask('DELETE', `${path}?api_id=${apiId}`), 404, /^Failed to invalidate refresh token/);
    const { records } = app().application.installation;
    const audited = await records.db
      .selectFrom('audit')
      .select(['url', 'body'])
      .orderBy('id', 'desc')
      .limit(5)
      .execute();
    assert.doesNotMatch(JSON.stringify(audited), new RegExp(pair!.refresh));
  });

  test('one token of a client is revoked by token_type_hint; tokens of other clients stay', async () => {
    const { orgId, api, client, tokens, known } = await shop(app());
    const apiId = await api();
    const { client_id } = await client({ api_id: apiId });
    const other = await client({ api_id: apiId });
    const revoke = (fields: Record<string, string>) => form(app(), '/gw/oauth/revoke', fields);
    const [first, second] = [(await tokens(apiId, client_id))[0]!, (await tokens(apiId, client_id))[0]!];
    const done = { status: 'ok', message: 'token revoked successfully' };
    expectError(await revoke({}), 400, 'token is required');
    expectError(await revoke({ token: first.access }), 400, 'client_id is required');
    expectError(await revoke({ token: first.access, client_id: 'none' }), 400, "oauth client doesn't exist");
    assert.deepEqual((await revoke({ token: first.access, client_id: other.client_id })).body, done);
    const hinted = { token: first.access, client_id, token_type_hint: 'refresh_token' };
    assert.deepEqual((await revoke(hinted)).body, done);
    assert.deepEqual(await known(apiId, first), [true, true]);
    assert.deepEqual((await revoke({ token: first.access, client_id, org_id: orgId })).body, done);
    assert.deepEqual(await known(apiId, first), [false, true]);
    assert.deepEqual((await revoke({ token: second.refresh, client_id })).body, done);
    assert.deepEqual(await known(apiId, second), [false, false]);
  });

  test('all tokens of a client are revoked with its secret, and only with it', async () => {
    const { api, client, tokens, known } = await shop(app());
    const apiId = await api();
    const { client_id, secret } = await client({ api_id: apiId });
    const other = await client({ api_id: apiId });
    const [own] = await tokens(apiId, client_id);
    const [foreign] = await tokens(apiId, other.client_id);
    const revoke = (fields: Record<string, string>) => form(app(), '/gw/oauth/revoke_all', fields);
    expectError(await revoke({}), 401, 'client_id is required');
    expectError(await revoke({ client_id }), 401, 'client_secret is required');
    expectError(await revoke({ client_id: 'none', client_secret: secret }), 404, "oauth client doesn't exist");
    expectError(await revoke({ client_id, client_secret: other.secret }), 401, 'client secret is wrong');
    assert.deepEqual(await known(apiId, own!), [true, true]);
    const done = await revoke({ client_id, client_secret: secret });
    assert.deepEqual(done.body, { status: 'ok', message: 'tokens revoked successfully' });
    assert.deepEqual(await known(apiId, own!), [false, false]);
    assert.deepEqual(await known(apiId, foreign!), [true, true]);
  });

  test('expired tokens are purged, unexpired ones stay', async () => {
    const { ask, api, client, tokens, known } = await shop(app());
    const apiId = await api();
    const { client_id } = await client({ api_id: apiId });
    const [lapsed] = await tokens(apiId, client_id, 1, -hourMs);
    const [live] = await tokens(apiId, client_id);
    expectError(await ask('DELETE', '/gw/oauth/tokens'), 400, 'scope parameter is required');
    expectError(await ask('DELETE', '/gw/oauth/tokens?scope=all'), 400, 'unknown scope');
    const done = await ask('DELETE', '/gw/oauth/tokens?scope=lapsed');
    assert.deepEqual([done.status, done.body], [200, { status: 'ok', message: 'lapsed tokens purged' }]);
    assert.deepEqual(await known(apiId, lapsed!), [false, false]);
    assert.deepEqual(await known(apiId, live!), [true, true]);
  });

  test('the operator purges expired tokens on the admin surface, with the scope named', async () => {
    const { ask, api, client, tokens, known } = await shop(app());
    const apiId = await api();
    const { client_id } = await client({ api_id: apiId });
    const [lapsed] = await tokens(apiId, client_id, 1, -hourMs);
    const [live] = await tokens(apiId, client_id);
    const missing = await ask('DELETE', '/admin/oauth/tokens');
    assert.deepEqual([missing.status, missing.body.Status], [422, 'Error']);
    const unknown = await ask('DELETE', '/admin/oauth/tokens?scope=all');
    assert.deepEqual([unknown.status, unknown.body.Message], [400, 'unknown scope']);
    assert.deepEqual(await known(apiId, lapsed!), [true, true]);
    const { body } = await ask('DELETE', '/admin/oauth/tokens?scope=lapsed');
    assert.deepEqual(body, { Status: 'OK', Message: 'success', Meta: null });
    assert.deepEqual(await known(apiId, lapsed!), [false, false]);
    assert.deepEqual(await known(apiId, live!), [true, true]);
  });
});

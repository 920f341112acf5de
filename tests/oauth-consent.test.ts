import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, rememberSecrets, startApp } from './support/app.ts';
import { walkOf } from './support/doc-commands.ts';
import { policyFor } from './support/oauth2.ts';
import { freePort } from './support/services/server.ts';
import { openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

const back = 'https://app.example/back';
const oauth = (more: object = {}) => ({
  use_keyless: false,
  use_oauth2: true,
  oauth_meta: { allowed_access_types: ['authorization_code'], allowed_authorize_types: ['code', 'token'] },
  ...more,
});

onEveryEngine('OAuth consent', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream.close());

  /** A user of the operator's organisation: the account of a login page. */
  async function addUser(user_permissions: Record<string, string>): Promise<string> {
    const { body, text } = await app().ask('POST', '/admin/users', {
      body: {
        org_id: app().credentials.organisation_id,
        email_address: `${createPublicId()}@example.org`,
        first_name: 'A',
        last_name: 'B',
        active: true,
        user_permissions,
      },
    });
    assert.equal(body.Status, 'OK', text);
    return body.Message;
  }

  async function addProvider(more: object = {}) {
    const definition = openApi(upstream, oauth(more));
    const url = await publish(app(), definition);
    const apiId = definition.api_id;
    const client = { redirect_uri: back, policy_id: await policyFor(app(), apiId) };
    const { status, body, text } = await app().ask('POST', `/api/apis/oauth/${apiId}`, { body: client });
    assert.equal(status, 200, text);
    rememberSecrets({ secret: body.secret });
    const asked = { response_type: 'code', client_id: body.client_id as string, redirect_uri: back };
    const agree = async (credential: string | undefined, given: object = {}, id = apiId) => {
      const asking = { body: { ...asked, ...given }, ...(credential === undefined ? {} : { credential }) };
      const answer = await app().ask('POST', `/api/apis/oauth/${id}/authorize-client`, asking);
      const { code, access_token } = answer.body;
      rememberSecrets({ ...(code && { code }), ...(access_token && { access_token }) });
      return answer;
    };
    const redeem = async (code: string) => {
      const reply = await fetch(`${url}/oauth/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${body.client_id}:${body.secret}`)}` },
        body: new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: back }),
      });
      const { access_token = '' } = (await reply.json()) as { access_token?: string };
      if (access_token) rememberSecrets({ access_token });
      return { status: reply.status, token: access_token };
    };
    const call = async (token: string) =>
      (await fetch(`${url}/x`, { headers: { authorization: `Bearer ${token}` } })).status;
    return { apiId, agree, redeem, call };
  }

  function checkRefusal(
    { status, body, text }: Awaited<ReturnType<ReturnType<typeof app>['ask']>>,
    wanted: number,
    why: RegExp,
  ) {
    assert.equal(status, wanted, text);
    assert.match(body.Message, why);
  }

  test('a user with oauth:write obtains a code without the gateway secret, and the client redeems it', async () => {
    const { agree, redeem, call } = await addProvider();
    const user = await addUser({ oauth: 'write' });
    const { status, body, text } = await agree(user, { state: 'a b' });
    assert.equal(status, 200, text);
    assert.equal(body.state, 'a b');
    assert.equal(body.redirect_to, `${back}?${new URLSearchParams({ code: body.code, state: 'a b' })}`);
    const redeemed = await redeem(body.code);
    assert.equal(redeemed.status, 200);
    assert.equal(await call(redeemed.token), 200);
    assert.notEqual((await redeem(body.code)).status, 200);
  });

  test('an implicit token is issued where the API allows it', async () => {
    const { agree, call } = await addProvider();
    const { body } = await agree(await addUser({ oauth: 'write' }), { response_type: 'token' });
    await waitUntilApplied(app());
    assert.equal(await call(body.access_token), 200);
    assert.ok(body.redirect_to.startsWith(`${back}#`));
  });

  test('users without the permission and users of other organisations are refused', async () => {
    const { agree } = await addProvider();
    checkRefusal(await agree(await addUser({ oauth: 'read', apis: 'write' })), 403, /oauth:write/);
    checkRefusal(await agree((await app().stranger()).accessKey), 404, /API doesn't exist/);
    checkRefusal(await agree('unknown'), 401, /Not authorised/);
  });

  test('an invalid authorization request is refused with its OAuth error code', async () => {
    const { agree } = await addProvider();
    checkRefusal(
      await agree(undefined, { redirect_uri: 'https://evil.example/' }),
      400,
      /^invalid_request: .*redirect_uri/,
    );
    checkRefusal(await agree(undefined, { client_id: 'unknown' }), 400, /^server_error: /);
    checkRefusal(await agree(undefined, { response_type: 'id_token' }), 400, /^unsupported_response_type: /);
    checkRefusal(await agree(undefined, { code_challenge: 'x', code_challenge_method: 'S256' }), 400, /code_challenge/);
    checkRefusal(await agree(undefined, { surprise: 'x' }), 400, /surprise/);
  });

  test('an API without an OAuth provider, or an inactive API, issues no code', async () => {
    const { agree } = await addProvider();
    const plain = openApi(upstream);
    await publish(app(), plain);
    checkRefusal(await agree(undefined, {}, plain.api_id), 400, /not OAuth2/);
    const inactive = openApi(upstream, oauth({ active: false }));
    await app().ask('POST', '/api/apis', { body: { api_definition: inactive } });
    checkRefusal(await agree(undefined, {}, inactive.api_id), 400, /not active/);
  });

  test('key rules set the rights of a token, for users with permission to write keys', async () => {
    const { apiId, agree, redeem, call } = await addProvider();
    const other = await addProvider();
    const rules = (id: string) => ({
      rate: 1000,
      per: 1,
      access_rights: { [id]: { api_id: id, versions: ['Default'] } },
    });
    const [login, keyed] = [await addUser({ oauth: 'write' }), await addUser({ oauth: 'write', keys: 'write' })];
    checkRefusal(await agree(login, { key_rules: rules(apiId) }), 403, /keys:write/);
    checkRefusal(await agree(keyed, { key_rules: { rate: 'fast' } }), 400, /^key_rules\.rate: /);
    checkRefusal(await agree(keyed, { key_rules: '{' }), 400, /malformed/);
    for (const key_rules of [rules(apiId), JSON.stringify(rules(apiId))]) {
      const { body } = await agree(keyed, { key_rules });
      assert.equal(await call((await redeem(body.code)).token), 200);
    }
    const elsewhere = await agree(keyed, { key_rules: rules(other.apiId) });
    assert.equal(await call((await redeem(elsewhere.body.code)).token), 403);
  });

  test('key rules do not grant access to APIs of other owners', async () => {
    const { agree } = await addProvider();
    const definition = openApi(upstream, {
      use_keyless: false,
      use_standard_auth: true,
      auth_configs: { authToken: {} },
    });
    const body = { api_definition: definition, user_owners: ['another'] };
    assert.equal((await app().ask('POST', '/api/apis', { body })).status, 200);
    const id = definition.api_id;
    const key_rules = { rate: 1, per: 1, access_rights: { [id]: { api_id: id, versions: ['Default'] } } };
    checkRefusal(await agree(await addUser({ oauth: 'write', keys: 'write' }), { key_rules }), 403, /do not own/);
  });

  test('the guide to OAuth 2.0 works as documented', async () => {
    const guide = walkOf('docs/guide/auth-oauth2.md');
    assert.ok(guide.promised.length >= 25, String(guide.promised.length));
    const { dashboard: DASHBOARD, gateway: GATEWAY } = app().url;
    const SERVER_PORT = String(await freePort());
    await guide.run({ DASHBOARD, GATEWAY, DATA: app().directory, SERVER_PORT });
  });
});

test('a process with the role dashboard issues authorization codes', async () => {
  const app = await startApp('sqlite', { settings: { role: 'dashboard' } });
  try {
    const definition = openApi({ url: 'http://127.0.0.1:9' }, oauth());
    const made = await app.ask('POST', '/api/apis', { body: { api_definition: definition } });
    assert.equal(made.status, 200, made.text);
    const path = `/api/apis/oauth/${definition.api_id}`;
    const policy_id = await policyFor(app, definition.api_id);
    const { body: client } = await app.ask('POST', path, { body: { redirect_uri: back, policy_id } });
    const body = { response_type: 'code', client_id: client.client_id, redirect_uri: back };
    const { status, text, body: granted } = await app.ask('POST', `${path}/authorize-client`, { body });
    assert.equal(status, 200, text);
    assert.ok(granted.redirect_to.startsWith(`${back}?code=`));
  } finally {
    await app.close();
  }
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { StoredKey } from '#access/keys/store.ts';
import { hashPassword } from '#base/passwords.ts';
import { type Bench, errorBody, openBench, orgId, startMs } from '../../../../tests/support/step-harness.ts';
import { type Publisher, startPublisher } from '../../../../tests/support/tokens.ts';
import { eventually } from '../../../../tests/support/upstream.ts';
import type { Api } from '../../routing/api.ts';

const gatewaySecret = 'the secret of this gateway, for login pages';
const back = 'https://good.example/back';
const rights = { bench: { versions: ['Default'] } };
const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
const everyGrant = ['authorization_code', 'refresh_token', 'password', 'client_credentials'];
const verifier = 'v'.repeat(43);
const challenge = createHash('sha256').update(verifier).digest('base64url');

describe('OAuth provider', () => {
  let bench: Bench;
  let api: Api;
  const definition = (meta: object = {}, more: object = {}) => ({
    use_oauth2: true,
    oauth_meta: {
      allowed_access_types: everyGrant,
      allowed_authorize_types: ['code', 'token'],
      auth_login_redirect: 'https://login.example/in',
      ...meta,
    },
    ...more,
  });
  before(async () => {
    bench = await openBench({ 'gateway.secret': gatewaySecret, 'oauth.notification_retry_seconds': '0' });
    api = await bench.compile(definition());
    await bench.policy({ id: 'shop-policy', access_rights: rights, rate: 5, per: 1, meta_data: { plan: 'p' } });
    await bench.policy({ id: 'closed', state: 'draft', access_rights: rights, rate: 5, per: 1 });
    await client('shop', { redirect_uri: `${back}, myapp://back` });
    await client('single');
    await client('bare', { redirect_uri: '' });
    await client('poor', { policy_id: '' });
    await client('late', { policy_id: 'closed' });
  });
  after(() => bench.close());
  beforeEach(() => {
    bench.time.nowMs = startMs;
  });

  async function client(client_id: string, more: object = {}): Promise<void> {
    await bench.oauthClients.insert({
      id: client_id,
      org_id: orgId,
      api_id: 'bench',
      client_id,
      secret: `${client_id} secret`,
      redirect_uri: back,
      policy_id: 'shop-policy',
      description: '',
      client_name: '',
      meta_data: { team: 'a' },
      created_at: '2030-01-01T00:00:00Z',
      ...more,
    });
  }

  interface Posted {
    headers?: Record<string, string>;
    to?: Api;
    method?: string;
  }
  async function post(target: string, form: Record<string, string> | string, posted: Posted = {}) {
    const { headers = {}, to = api, method = 'POST' } = posted;
    const body = typeof form === 'string' ? form : new URLSearchParams(form).toString();
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const given = await bench.ask(to, { method, target, headers: { ...type, ...headers }, body });
    return { ...given, json: given.body === '' ? undefined : JSON.parse(given.body) };
  }
  const agree = (form: Record<string, string> = {}, secret = gatewaySecret, to = api) =>
    post(
      '/gw/oauth/authorize-client/',
      { response_type: 'code', client_id: 'shop', redirect_uri: back, ...form },
      { headers: { 'X-Gw-Authorization': secret }, to },
    );
  const token = (form: Record<string, string>, id = 'shop', secret = `${id} secret`, to = api) =>
    post('/oauth/token', form, { headers: { Authorization: basic(id, secret) }, to });
  const call = (accessToken: string) => bench.send(api, { headers: { Authorization: `Bearer ${accessToken}` } });
  const newCode = async (form: Record<string, string> = {}): Promise<string> => (await agree(form)).json.code;
  const swap = (code: string, more: Record<string, string> = {}, id?: string) =>
    token({ grant_type: 'authorization_code', code, redirect_uri: back, ...more }, id);
  function expectDenied({ status, json }: Awaited<ReturnType<typeof post>>, error: string): void {
    assert.deepEqual([status, json.error, typeof json.error_description], [403, error, 'string']);
  }

  describe('authorization endpoint', () => {
    const authorize = (query: Record<string, string>, method = 'GET') =>
      method === 'GET'
        ? post(`/oauth/authorize?${new URLSearchParams(query)}`, '', { method })
        : post('/oauth/authorize/', query);
    const asked = { response_type: 'code', client_id: 'shop', redirect_uri: back, state: 'a b' };

    test('redirects to the login page with the query of the client', async () => {
      const { status, headers, body } = await authorize(asked);
      assert.deepEqual([status, body], [307, '']);
      assert.equal(headers.get('location'), `https://login.example/in?${new URLSearchParams(asked)}`);
      const posted = await authorize(asked, 'POST');
      assert.deepEqual([posted.status, posted.headers.get('location')], [307, 'https://login.example/in']);
      const withQuery = await post('/oauth/authorize/?lang=en', asked);
      assert.deepEqual([withQuery.status, withQuery.headers.get('location')], [307, 'https://login.example/in']);
    });

    test('refuses an invalid request before the login', async () => {
      for (const [wrong, message] of [
        [{ response_type: '' }, /parameter is missing/],
        [{ response_type: 'id_token' }, /response type/],
        [{ client_id: '' }, /parameter is missing/],
        [{ client_id: 'nobody' }, /could not process the request/],
        [{ client_id: 'bare' }, /has no redirect_uri/],
        [{ redirect_uri: '' }, /redirect_uri is required/],
        [{ redirect_uri: 'https://evil.example/' }, /not registered for the client/],
        [{ code_challenge: 'x'.repeat(43) }, /must be S256/],
        [{ code_challenge: verifier, code_challenge_method: 'plain' }, /must be S256/],
        [{ code_challenge: 'short', code_challenge_method: 'S256' }, /malformed/],
        [{ scope: 'a"b' }, /scope/],
      ] as const) {
        const { status, json } = await authorize({ ...asked, ...wrong });
        assert.equal(status, 403);
        assert.equal(json.status, 'error');
        assert.match(json.message, message);
      }
      const twice = await post(`/oauth/authorize?${new URLSearchParams(asked)}&redirect_uri=https://evil.example`, '', {
        method: 'GET',
      });
      assert.equal(twice.status, 403);
      const codeOnly = await bench.compile(definition({ allowed_authorize_types: ['code'] }));
      const implicit = `/oauth/authorize?${new URLSearchParams({ ...asked, response_type: 'token' })}`;
      assert.equal((await post(implicit, '', { method: 'GET', to: codeOnly })).status, 403);
    });

    test('redirects only to a registered URI, by exact match', async () => {
      for (const uri of [
        'https://good.example.evil/back',
        'https://good.example@evil.example/back',
        'https://good.example/back/../../evil',
        'https://good.example/back?x=1',
        'https://good.example/back#f',
        'https://good.example/backdoor',
        'https://good.example:444/back',
        'http://good.example/back',
        'HTTPS://good.example/back',
        ' https://good.example/back',
        `${back},myapp://back`,
      ])
        expectDenied(await agree({ redirect_uri: uri }), 'invalid_request');
      assert.equal((await agree({ redirect_uri: 'myapp://back' })).status, 200);
      assert.equal((await agree({ redirect_uri: '', client_id: 'single' })).status, 200);
    });
  });

  describe('consent of the login page', () => {
    test('returns a code and the redirect with its state', async () => {
      const { status, json } = await agree({ state: 's&1' });
      assert.equal(status, 200);
      assert.match(json.code, /^[\w-]{22}$/);
      assert.deepEqual(json, {
        code: json.code,
        state: 's&1',
        redirect_to: `${back}?${new URLSearchParams({ code: json.code, state: 's&1' })}`,
      });
      assert.deepEqual(Object.keys((await agree()).json), ['code', 'redirect_to']);
    });

    test('needs the gateway secret', async () => {
      for (const secret of ['', 'wrong']) {
        const { status, json } = await agree({}, secret);
        assert.equal(status, 403);
        const message = 'Attempted administrative access with invalid or missing key!';
        assert.deepEqual(json, { status: 'error', message });
      }
    });

    test('returns a token for response_type token where the API allows it', async () => {
      const { status, json } = await agree({ response_type: 'token', state: 's', scope: 'r w' });
      assert.equal(status, 200);
      const { access_token, redirect_to, ...rest } = json;
      assert.deepEqual(rest, { token_type: 'bearer', expires_in: 3600, scope: 'r w', state: 's' });
      const fragment = new URLSearchParams({
        access_token,
        token_type: 'bearer',
        expires_in: '3600',
        scope: 'r w',
        state: 's',
      });
      assert.equal(redirect_to, `${back}#${fragment}`);
      assert.equal((await call(access_token)).status, 0);
    });

    test('key_rules define the token’s key; otherwise the client’s policy does', async () => {
      const rules = { access_rights: rights, rate: 77, per: 1, meta_data: { team: 'mine', x: 1 }, alias: 'ruled' };
      const ruled = (await swap(await newCode({ key_rules: JSON.stringify(rules) }))).json;
      const { session } = (await call(ruled.access_token)).call;
      assert.deepEqual([session?.alias, session?.limits.rate?.rate], ['ruled', 77]);
      assert.deepEqual(session?.metaData, { team: 'mine', x: 1 });
      const { session: plain } = (await call((await swap(await newCode())).json.access_token)).call;
      assert.deepEqual(
        [plain?.policyIds, plain?.oauthClientId, plain?.metaData],
        [['shop-policy'], 'shop', { team: 'a', plan: 'p' }],
      );
    });

    test('refuses key_rules that cannot be applied', async () => {
      for (const key_rules of ['nonsense', '[]', '{"rate":"x"}', '{"rate":5}', '{"apply_policies":["none"]}'])
        expectDenied(await agree({ key_rules }), 'invalid_request');
      expectDenied(await agree({ key_rules: '{"apply_policies":["closed"]}' }), 'invalid_request');
      expectDenied(await agree({ client_id: 'poor' }), 'unauthorized_client');
      expectDenied(await agree({ client_id: 'late' }), 'unauthorized_client');
      expectDenied(await agree({ client_id: 'bare' }), 'unauthorized_client');
      const wrong = await agree({ client_id: 'nobody', state: 'kept' });
      expectDenied(wrong, 'server_error');
      assert.equal(wrong.json.state, 'kept');
    });
  });

  describe('authorization code grant', () => {
    test('a code is exchanged for tokens, with no-store headers', async () => {
      const { status, json, headers } = await swap(await newCode({ scope: 'r' }));
      assert.equal(status, 200);
      const { access_token, refresh_token, ...rest } = json;
      assert.deepEqual(rest, { token_type: 'bearer', expires_in: 3600, scope: 'r' });
      assert.ok(refresh_token);
      for (const [name, value] of Object.entries({
        'content-type': 'application/json',
        'x-content-type-options': 'nosniff',
        'x-xss-protection': '1; mode=block',
        'x-frame-options': 'DENY',
        'strict-transport-security': 'max-age=63072000; includeSubDomains',
        'cache-control': 'no-cache, no-store, must-revalidate',
        pragma: 'no-cache',
        expires: '0',
      }))
        assert.equal(headers.get(name), value);
      const found = await call(access_token);
      assert.deepEqual([found.status, found.call.keyId, found.call.authMethod], [0, access_token, 'oauth']);
      assert.equal(found.call.session?.expires, startMs / 1000 + 3600);
    });

    test('a JSON body is accepted like a form', async () => {
      const body = JSON.stringify({ grant_type: 'authorization_code', code: await newCode(), redirect_uri: back });
      const headers = { Authorization: basic('shop', 'shop secret'), 'Content-Type': 'application/json' };
      assert.equal((await post('/oauth/token/', body, { headers })).status, 200);
      for (const broken of ['[]', 'x', '{"grant_type":1}', `{"grant_type":"password",${body.slice(1)}`])
        expectDenied(await post('/oauth/token', broken, { headers }), 'invalid_request');
    });

    test('a code is redeemed once; a second attempt revokes the tokens', async () => {
      const code = await newCode();
      const first = (await swap(code)).json;
      assert.equal((await call(first.access_token)).status, 0);
      expectDenied(await swap(code), 'invalid_grant');
      bench.invalidateAll();
      assert.equal((await call(first.access_token)).status, 403);
      expectDenied(await token({ grant_type: 'refresh_token', refresh_token: first.refresh_token }), 'invalid_grant');
    });

    test('a code can be redeemed once, also concurrently', async () => {
      const code = await newCode();
      const all = await Promise.all(Array.from({ length: 8 }, () => swap(code)));
      assert.deepEqual(all.map(({ status }) => status).sort(), [200, 403, 403, 403, 403, 403, 403, 403]);
    });

    test('a code is bound to its client, redirect URI and expiry', async () => {
      const codes = await Promise.all([1, 2, 3, 4].map(() => newCode()));
      expectDenied(await swap(codes[0]!, {}, 'single'), 'invalid_grant');
      assert.equal((await swap(codes[0]!)).status, 200, 'another client’s try does not use it up');
      for (const redirect_uri of ['', 'myapp://back', `${back}/`])
        expectDenied(await swap(codes[1]!, { redirect_uri }), 'invalid_grant');
      expectDenied(await swap(codes[1]!), 'invalid_grant');
      bench.time.nowMs += 249_999;
      assert.equal((await swap(codes[2]!)).status, 200);
      bench.time.nowMs += 1;
      expectDenied(await swap(codes[3]!), 'invalid_grant');
      expectDenied(await swap('no-such-code'), 'invalid_grant');
      expectDenied(await swap(''), 'invalid_request');
    });

    test('redirect_uri may be omitted again where the authorization request omitted it', async () => {
      const code = await newCode({ client_id: 'single', redirect_uri: '' });
      assert.equal((await swap(code, { redirect_uri: '' }, 'single')).status, 200);
      const other = await newCode({ client_id: 'single', redirect_uri: '' });
      expectDenied(await swap(other, { redirect_uri: 'https://evil.example' }, 'single'), 'invalid_grant');
    });

    test('PKCE: a challenge needs its verifier, and a verifier needs a challenge', async () => {
      const asked = { code_challenge: challenge, code_challenge_method: 'S256' };
      assert.equal((await swap(await newCode(asked), { code_verifier: verifier })).status, 200);
      expectDenied(await swap(await newCode(asked)), 'invalid_grant');
      expectDenied(await swap(await newCode(asked), { code_verifier: 'w'.repeat(43) }), 'invalid_grant');
      expectDenied(await swap(await newCode(asked), { code_verifier: challenge }), 'invalid_grant');
      expectDenied(await swap(await newCode(), { code_verifier: verifier }), 'invalid_grant');
      expectDenied(await agree({ code_challenge: verifier, code_challenge_method: 'plain' }), 'invalid_request');
      expectDenied(await agree({ code_challenge_method: 'S256' }), 'invalid_request');
    });
  });

  describe('client authentication', () => {
    const asked = { grant_type: 'client_credentials' };

    const inBody = (id: string, secret: string, headers: Record<string, string> = {}) =>
      post('/oauth/token', { ...asked, client_id: id, client_secret: secret }, { headers });
    function expectInvalidClient(
      { status, json, headers }: Awaited<ReturnType<typeof post>>,
      byBasic: boolean,
    ): string {
      assert.deepEqual([status, json.error], [401, 'invalid_client']);
      assert.equal(headers.get('www-authenticate'), byBasic ? 'Basic realm="oauth"' : undefined);
      return JSON.stringify(json);
    }

    test('the secret is in the header or the body, never both', async () => {
      assert.equal((await token(asked)).status, 200);
      assert.equal((await inBody('shop', 'shop secret')).status, 200);
      const Authorization = basic('shop', 'shop secret');
      expectDenied(await inBody('shop', 'shop secret', { Authorization }), 'invalid_request');
      const postAs = (client_id: string) =>
        post('/oauth/token', { ...asked, client_id }, { headers: { Authorization } });
      expectDenied(await postAs('other'), 'invalid_request');
      assert.equal((await postAs('shop')).status, 200);
    });

    test('unknown clients and wrong secrets are refused alike', async () => {
      const said = [
        expectInvalidClient(await token(asked, 'shop', 'wrong'), true),
        expectInvalidClient(await token(asked, 'shop', ''), true),
        expectInvalidClient(await token(asked, 'nobody'), true),
        expectInvalidClient(await inBody('shop', 'wrong'), false),
        expectInvalidClient(await inBody('shop', ''), false),
        expectInvalidClient(await inBody('nobody', 'x'), false),
      ];
      assert.equal(new Set(said).size, 1);
    });

    test('missing or malformed credentials: invalid_request with the expected form', async () => {
      expectDenied(await post('/oauth/token', asked), 'invalid_request');
      expectDenied(await post('/oauth/token', { ...asked, client_id: 'shop' }), 'invalid_request');
      expectDenied(await post('/oauth/token', { ...asked, client_secret: 'shop secret' }), 'invalid_request');
      for (const Authorization of ['Basic', 'Basic !', 'Bearer x', `Basic ${Buffer.from('shop').toString('base64')}`])
        expectDenied(await post('/oauth/token', asked, { headers: { Authorization } }), 'invalid_request');
      expectDenied(await token(asked, 'bare'), 'unauthorized_client');
      expectDenied(await token(asked, 'poor'), 'unauthorized_client');
    });

    test('form-encoded Basic credentials are accepted', async () => {
      await client('a+b', { secret: 's%20 +/=' });
      assert.equal((await token(asked, 'a+b', 's%20 +/=')).status, 200);
      const formEncode = (text: string) => encodeURIComponent(text).replaceAll('%20', '+');
      assert.equal((await token(asked, formEncode('a+b'), formEncode('s%20 +/='))).status, 200);
      expectInvalidClient(await token(asked, formEncode('a+b'), 's%20%20'), true);
      expectInvalidClient(await token(asked, 'a+b', '%'), true);
    });

    test('a POST ignores query parameters, which end up in logs', async () => {
      const headers = { Authorization: basic('shop', 'shop secret') };
      const grant = { grant_type: 'client_credentials' };
      assert.equal((await post('/oauth/token', grant, { headers })).status, 200);
      const inAddress = await post(`/oauth/token?${new URLSearchParams(grant)}`, '', { headers });
      expectDenied(inAddress, 'invalid_request');
      const secret = { client_id: 'shop', client_secret: 'shop secret' };
      const shown = await post(`/oauth/token?${new URLSearchParams(secret)}`, grant);
      assert.notEqual(shown.status, 200, shown.body);
      const { json } = await post('/oauth/token', grant, { headers });
      const token = json.access_token;
      await post(`/oauth/revoke?${new URLSearchParams({ token, ...secret })}`, '', { headers });
      assert.equal((await call(token)).status, 0, 'nothing is revoked by an address');
    });

    test('the token endpoint needs POST and an allowed grant type', async () => {
      const headers = { Authorization: basic('shop', 'shop secret') };
      expectDenied(
        await post('/oauth/token?grant_type=client_credentials', '', { method: 'GET', headers }),
        'invalid_request',
      );
      expectDenied(await token({}), 'invalid_request');
      expectDenied(
        await post('/oauth/token', 'grant_type=client_credentials&grant_type=password', { headers }),
        'invalid_request',
      );
      for (const grant_type of ['assertion', 'implicit', 'constructor', 'x'])
        expectDenied(await token({ grant_type, assertion_type: 't', assertion: 'a' }), 'unsupported_grant_type');
      const fewer = await bench.compile(definition({ allowed_access_types: ['password'] }));
      expectDenied(await token(asked, 'shop', 'shop secret', fewer), 'unsupported_grant_type');
      const put = await post('/oauth/token', '', { method: 'PUT' });
      assert.deepEqual([put.status, put.headers.get('allow')], [405, 'GET, POST']);
    });

    test('client credentials grant: a token without a refresh token', async () => {
      const { status, json } = await token({ ...asked, scope: 'r' });
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(json), ['access_token', 'token_type', 'expires_in', 'scope']);
      assert.equal((await call(json.access_token)).status, 0);
      expectDenied(await token({ ...asked, scope: 'r\u0000' }), 'invalid_scope');
    });

    test('assertion grant: only where the API allows it', async () => {
      const asserting = await bench.compile(definition({ allowed_access_types: ['assertion'] }));
      const form = { grant_type: 'assertion', assertion_type: 't', assertion: 'a' };
      const { status, json } = await token(form, 'shop', 'shop secret', asserting);
      assert.deepEqual([status, json.refresh_token], [200, undefined]);
      expectDenied(await token({ grant_type: 'assertion' }, 'shop', 'shop secret', asserting), 'invalid_request');
    });

    test('oauth.error_status sets the status of errors', async () => {
      const other = await openBench({ 'oauth.error_status': '400' });
      const to = await other.compile(definition());
      const given = await other.ask(to, { method: 'POST', target: '/oauth/token', body: '' });
      assert.equal(given.status, 400);
      await other.close();
    });
  });

  describe('refresh tokens', () => {
    const refresh = (refresh_token: string, id?: string) => token({ grant_type: 'refresh_token', refresh_token }, id);

    test('a refresh token is exchanged for new tokens and the old ones are revoked', async () => {
      const first = (await swap(await newCode({ scope: 'r' }))).json;
      assert.equal((await call(first.access_token)).status, 0);
      const { status, json } = await refresh(first.refresh_token);
      assert.deepEqual([status, json.scope, json.expires_in], [200, 'r', 3600]);
      bench.invalidateAll();
      assert.equal((await call(first.access_token)).status, 403);
      assert.equal((await call(json.access_token)).status, 0);
      assert.notEqual(json.refresh_token, first.refresh_token);
      assert.equal((await refresh(json.refresh_token)).status, 200);
    });

    test('a replayed refresh token revokes the whole grant', async () => {
      const first = (await swap(await newCode())).json;
      const second = (await refresh(first.refresh_token)).json;
      expectDenied(await refresh(first.refresh_token), 'invalid_grant');
      bench.invalidateAll();
      assert.equal((await call(second.access_token)).status, 403);
      expectDenied(await refresh(second.refresh_token), 'invalid_grant');
    });

    test('a refresh token is redeemed once, also concurrently, by its client, until it expires', async () => {
      const first = (await swap(await newCode())).json;
      expectDenied(await refresh(first.refresh_token, 'single'), 'invalid_grant');
      expectDenied(await refresh(first.access_token), 'invalid_grant');
      expectDenied(await refresh('nothing'), 'invalid_grant');
      expectDenied(await refresh(''), 'invalid_request');
      bench.time.nowMs += 1_209_600_000 - 1;
      const all = await Promise.all([1, 2, 3].map(() => refresh(first.refresh_token)));
      assert.deepEqual(all.map(({ status }) => status).sort(), [200, 403, 403]);
      bench.time.nowMs = startMs;
      const late = (await swap(await newCode())).json;
      bench.time.nowMs += 1_209_600_000;
      expectDenied(await refresh(late.refresh_token), 'invalid_grant');
    });

    test('no refresh token is issued where the API does not allow the grant', async () => {
      const to = await bench.compile(definition({ allowed_access_types: ['authorization_code'] }));
      const { json } = await token(
        { grant_type: 'authorization_code', code: await newCode(), redirect_uri: back },
        'shop',
        'shop secret',
        to,
      );
      assert.equal(json.refresh_token, undefined);
    });
  });

  describe('password grant', () => {
    const signIn = (username: string, password: string) => token({ grant_type: 'password', username, password });
    const user = async (name: string, more: object = {}) =>
      bench.key(
        {
          access_rights: rights,
          alias: name,
          hmac_enabled: true,
          hmac_string: 'secret of the user',
          basic_auth_data: { password: await hashPassword('right'), hash_type: 'scrypt' },
          ...more,
        },
        { name, kind: 'basic' },
      );

    test('a token has the user’s rights without the user’s secrets', async () => {
      const userKey = await user('user-1');
      const { status, json } = await signIn('user-1', 'right');
      assert.equal(status, 200);
      assert.ok(json.refresh_token);
      const { session } = (await call(json.access_token)).call;
      assert.deepEqual(
        [session?.alias, session?.password, session?.hmacSecret, session?.oauthClientId],
        ['user-1', undefined, undefined, 'shop'],
      );
      const noted = (await bench.keys.getAnywhere(userKey))!.key.oauth_keys;
      assert.deepEqual(noted, { shop: bench.keys.hashOf(json.access_token) });
      const again = await signIn('user-1', 'right');
      bench.invalidateAll();
      assert.equal((await call(json.access_token)).status, 403, 'one token for a user and a client');
      assert.equal((await call(again.json.access_token)).status, 0);
    });

    test('a wrong password, an unknown or a disabled user: access_denied', async () => {
      await user('user-2');
      await user('user-off', { is_inactive: true });
      await user('user-old', { expires: startMs / 1000 });
      await bench.key({ access_rights: rights }, { name: 'no-password' });
      for (const [name, password] of [
        ['user-2', 'wrong'],
        ['nobody-at-all', 'right'],
        ['user-off', 'right'],
        ['user-old', 'right'],
        ['no-password', ''],
        ['no-password', 'x'],
      ] as const)
        expectDenied(await signIn(name, password), password === '' ? 'invalid_request' : 'access_denied');
    });

    test('a refresh uses the current rights of the user, and fails after a change of user or password', async () => {
      const renew = (refresh_token: string) => token({ grant_type: 'refresh_token', refresh_token });
      const more = { apply_policies: ['shop-policy'] };
      for (const [name, leave] of [
        ['user-gone', (it: StoredKey) => bench.keys.remove(it)],
        ['user-stopped', (it: StoredKey) => change(it, { is_inactive: true })],
        ['user-past', (it: StoredKey) => change(it, { expires: startMs / 1000 })],
        ['user-anew', async (it: StoredKey) => change(it, await passwordOf('another'))],
      ] as const) {
        const stored = (await bench.keys.getAnywhere(await user(name)))!;
        const first = (await signIn(name, 'right')).json;
        await change(stored, more);
        const second = (await renew(first.refresh_token)).json;
        assert.deepEqual((await call(second.access_token)).call.session?.policyIds, ['shop-policy'], name);
        await leave(stored);
        expectDenied(await renew(second.refresh_token), 'invalid_grant');
        bench.invalidateAll();
        assert.equal((await call(second.access_token)).status, 403, `${name}: nothing goes on`);
      }
      async function passwordOf(password: string) {
        return { basic_auth_data: { password: await hashPassword(password), hash_type: 'scrypt' } };
      }
      async function change(stored: StoredKey, changes: object) {
        await bench.keys.change(stored, async previous => ({ key: { ...previous, ...changes }, policyIds: [] }));
      }
    });

    test('a user without rights gets the client’s policy, until the user expires', async () => {
      await user('user-3', { access_rights: {}, expires: startMs / 1000 + 60 });
      const { json } = await signIn('user-3', 'right');
      assert.equal(json.expires_in, 60);
      assert.deepEqual((await call(json.access_token)).call.session?.policyIds, ['shop-policy']);
      bench.time.nowMs += 60_000;
      expectDenied(await token({ grant_type: 'refresh_token', refresh_token: json.refresh_token }), 'invalid_grant');
    });
  });

  describe('access tokens', () => {
    test('an access token needs Bearer: 400 otherwise, 403 when unknown', async () => {
      const send = (Authorization: string) => bench.send(api, { headers: { Authorization } });
      const { access_token } = (await token({ grant_type: 'client_credentials' })).json;
      for (const sent of ['', 'Bearer', 'Bearer ', access_token]) {
        const { status, body, events } = await send(sent);
        assert.deepEqual([status, body, events], [400, errorBody('Authorization field missing'), []]);
      }
      const basicHead = await send(`Basic ${access_token}`);
      assert.deepEqual(
        [basicHead.status, basicHead.body, basicHead.events],
        [400, errorBody('Bearer token malformed'), []],
      );
      for (const text of ['nobody', "x'or/**/1=1--", 'x'.repeat(5000)]) {
        const { status, body, events } = await send(`bearer ${text}`);
        const key = bench.services.keyCache.hashOf(text);
        assert.deepEqual(
          [status, body, events],
          [403, errorBody('Key not authorised'), [{ event: 'AuthFailure', message: 'Auth Failure', key }]],
        );
      }
      const refreshToken = (await swap(await newCode())).json.refresh_token;
      assert.equal((await send(`Bearer ${refreshToken}`)).status, 403, 'a refresh token opens nothing');
      const stranger = await bench.compile({ ...definition(), org_id: 'ffffffffffffffffffffffff' });
      const there = await bench.send(stranger, { headers: { Authorization: `Bearer ${access_token}` } });
      assert.equal(there.status, 403);
    });

    test('a cached access token costs no query and expires', async () => {
      const { access_token } = (await token({ grant_type: 'client_credentials' })).json;
      await call(access_token);
      const before = bench.queries();
      assert.equal((await call(access_token)).status, 0);
      assert.equal(bench.queries(), before);
      bench.time.nowMs += 3_600_000 - 1;
      assert.equal((await call(access_token)).status, 0);
      bench.time.nowMs += 1;
      assert.equal((await call(access_token)).status, 403);
    });

    test('an access token of a deleted client is refused', async () => {
      await client('leaver');
      const { access_token } = (await token({ grant_type: 'client_credentials' }, 'leaver')).json;
      assert.equal((await call(access_token)).status, 0);
      await bench.oauthClients.remove('bench', 'leaver');
      bench.invalidateAll();
      const { status, body, events } = await call(access_token);
      assert.deepEqual(
        [status, body, events],
        [403, errorBody('Key not authorised. OAuth client access was revoked'), []],
      );
    });

    test('access tokens are not readable in the database', async () => {
      const code = await newCode();
      const { access_token, refresh_token } = (await swap(code)).json;
      const rows = JSON.stringify([
        await bench.records.db.selectFrom('oauth_tokens').selectAll().execute(),
        await bench.records.db.selectFrom('oauth_codes').selectAll().execute(),
      ]);
      for (const text of [code, access_token, refresh_token]) assert.ok(!rows.includes(text));
    });

    test('expired tokens are removed', async () => {
      await token({ grant_type: 'client_credentials' });
      bench.time.nowMs += 100 * 86_400_000;
      await token({ grant_type: 'client_credentials' });
      const old = () =>
        bench.records.db.selectFrom('oauth_tokens').select('id').where('expires_at', '<', bench.time.nowMs).execute();
      await eventually(async () => assert.deepEqual(await old(), []));
    });
  });

  describe('revocation', () => {
    const revoke = (form: Record<string, string>) => post('/oauth/revoke', form);
    const ok = (message: string) => ({ status: 'ok', message });
    const no = (message: string) => ({ status: 'error', message });

    test('the holder of a token can revoke it', async () => {
      const { access_token } = (await token({ grant_type: 'client_credentials' })).json;
      await call(access_token);
      assert.deepEqual((await revoke({ token: access_token, token_type_hint: 'refresh_token' })).status, 200);
      bench.invalidateAll();
      assert.equal((await call(access_token)).status, 0, 'it is no refresh token');
      const { status, json } = await revoke({ token: access_token });
      assert.deepEqual([status, json], [200, ok('token revoked successfully')]);
      bench.invalidateAll();
      assert.equal((await call(access_token)).status, 403);
      assert.deepEqual((await revoke({ token: 'nothing' })).status, 200);
      const missing = await revoke({});
      assert.deepEqual([missing.status, missing.json], [400, no('token is required')]);
    });

    test('revoking a refresh token revokes its access token', async () => {
      const { access_token, refresh_token } = (await swap(await newCode())).json;
      await revoke({ token: refresh_token, token_type_hint: 'refresh_token' });
      bench.invalidateAll();
      assert.equal((await call(access_token)).status, 403);
      expectDenied(await token({ grant_type: 'refresh_token', refresh_token }), 'invalid_grant');
    });

    test('a client revokes all its tokens and codes with its secret', async () => {
      const all = (form: Record<string, string>) => post('/oauth/revoke_all', form);
      await client('ender');
      const { access_token } = (await token({ grant_type: 'client_credentials' }, 'ender')).json;
      const code = await newCode({ client_id: 'ender' });
      for (const [form, status, message] of [
        [{}, 401, 'client_id is required'],
        [{ client_id: 'ender' }, 401, 'client_secret is required'],
        [{ client_id: 'nobody', client_secret: 'x' }, 401, 'client secret is wrong'],
        [{ client_id: 'ender', client_secret: 'x' }, 401, 'client secret is wrong'],
      ] as [Record<string, string>, number, string][]) {
        const given = await all(form);
        assert.deepEqual([given.status, given.json], [status, no(message)]);
      }
      assert.equal((await call(access_token)).status, 0);
      const done = await all({ client_id: 'ender', client_secret: 'ender secret' });
      assert.deepEqual([done.status, done.json], [200, ok('tokens revoked successfully')]);
      bench.invalidateAll();
      assert.equal((await call(access_token)).status, 403);
      expectDenied(await swap(code, {}, 'ender'), 'invalid_grant');
    });
  });

  describe('token notifications', () => {
    let told: Publisher;
    let telling: Api;
    before(async () => {
      told = await startPublisher();
      const notifications = { shared_secret: 'between us', oauth_on_keychange_url: `${told.url}/told` };
      telling = await bench.compile(definition({}, { notifications }));
    });
    after(() => told.close());
    beforeEach(() => {
      told.bodies = [];
      told.away = false;
      told.pages['/told'] = {};
    });

    test('every token is notified, with the shared secret', async () => {
      const code = await newCode();
      const first = (
        await token({ grant_type: 'authorization_code', code, redirect_uri: back }, 'shop', 'shop secret', telling)
      ).json;
      await eventually(() => assert.equal(told.bodies.length, 1));
      assert.equal(told.bodies[0]!.headers['x-gw-shared-secret'], 'between us');
      assert.deepEqual(JSON.parse(told.bodies[0]!.body), {
        auth_code: code,
        old_refresh_token: '',
        notification_type: 'new',
        new_oauth_token: first.access_token,
        refresh_token: first.refresh_token,
      });
      const { refresh_token } = first;
      const second = (await token({ grant_type: 'refresh_token', refresh_token }, 'shop', 'shop secret', telling)).json;
      await eventually(() => assert.equal(told.bodies.length, 2));
      assert.deepEqual(JSON.parse(told.bodies[1]!.body), {
        auth_code: '',
        old_refresh_token: refresh_token,
        notification_type: 'refresh',
        new_oauth_token: second.access_token,
        refresh_token: second.refresh_token,
      });
    });

    test('a notification is attempted three times at most, and no request waits for it', async () => {
      told.away = true;
      const given: string[] = [];
      const listNotified = () => told.bodies.map(({ body }) => given.indexOf(JSON.parse(body).new_oauth_token));
      const give = async () => {
        const { status, json } = await token({ grant_type: 'client_credentials' }, 'shop', 'shop secret', telling);
        assert.equal(status, 200);
        given.push(json.access_token);
      };
      await give();
      await eventually(() => assert.deepEqual(listNotified(), [0, 0, 0]));
      told.away = false;
      await give();
      await eventually(() => assert.deepEqual(listNotified(), [0, 0, 0, 1]));
      await give();
      await eventually(() => assert.deepEqual(listNotified(), [0, 0, 0, 1, 2], 'a notice that was taken is sent once'));
    });
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  benchRights,
  codeVerifier,
  expectDenied,
  oauthDefinition,
  openOauthProvider,
  redirectUri,
} from '../../../../tests/support/oauth-provider.ts';

describe('OAuth provider', () => {
  const { bench, post, submitConsent, call, newCode, redeemCode } = openOauthProvider();

  describe('authorization endpoint', () => {
    const authorize = (query: Record<string, string>, method = 'GET') =>
      method === 'GET'
        ? post(`/oauth/authorize?${new URLSearchParams(query)}`, '', { method })
        : post('/oauth/authorize/', query);
    const asked = { response_type: 'code', client_id: 'shop', redirect_uri: redirectUri, state: 'a b' };

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
        [{ code_challenge: codeVerifier, code_challenge_method: 'plain' }, /must be S256/],
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
      const codeOnly = await bench().compile(oauthDefinition({ allowed_authorize_types: ['code'] }));
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
        `${redirectUri},myapp://back`,
      ])
        expectDenied(await submitConsent({ redirect_uri: uri }), 'invalid_request');
      assert.equal((await submitConsent({ redirect_uri: 'myapp://back' })).status, 200);
      assert.equal((await submitConsent({ redirect_uri: '', client_id: 'single' })).status, 200);
    });
  });

  describe('consent of the login page', () => {
    test('returns a code and the redirect with its state', async () => {
      const { status, json } = await submitConsent({ state: 's&1' });
      assert.equal(status, 200);
      assert.match(json.code, /^[\w-]{22}$/);
      assert.deepEqual(json, {
        code: json.code,
        state: 's&1',
        redirect_to: `${redirectUri}?${new URLSearchParams({ code: json.code, state: 's&1' })}`,
      });
      assert.deepEqual(Object.keys((await submitConsent()).json), ['code', 'redirect_to']);
    });

    test('needs the gateway secret', async () => {
      for (const secret of ['', 'wrong']) {
        const { status, json } = await submitConsent({}, secret);
        assert.equal(status, 403);
        const message = 'Attempted administrative access with invalid or missing key!';
        assert.deepEqual(json, { status: 'error', message });
      }
    });

    test('returns a token for response_type token where the API allows it', async () => {
      const { status, json } = await submitConsent({ response_type: 'token', state: 's', scope: 'r w' });
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
      assert.equal(redirect_to, `${redirectUri}#${fragment}`);
      assert.equal((await call(access_token)).status, 0);
    });

    test('key_rules define the token’s key; otherwise the client’s policy does', async () => {
      const rules = { access_rights: benchRights, rate: 77, per: 1, meta_data: { team: 'mine', x: 1 }, alias: 'ruled' };
      const ruled = (await redeemCode(await newCode({ key_rules: JSON.stringify(rules) }))).json;
      const { session } = (await call(ruled.access_token)).call;
      assert.deepEqual([session?.alias, session?.limits.rate?.rate], ['ruled', 77]);
      assert.deepEqual(session?.metaData, { team: 'mine', x: 1 });
      const { session: plain } = (await call((await redeemCode(await newCode())).json.access_token)).call;
      assert.deepEqual(
        [plain?.policyIds, plain?.oauthClientId, plain?.metaData],
        [['shop-policy'], 'shop', { team: 'a', plan: 'p' }],
      );
    });

    test('refuses key_rules that cannot be applied', async () => {
      for (const key_rules of ['nonsense', '[]', '{"rate":"x"}', '{"rate":5}', '{"apply_policies":["none"]}'])
        expectDenied(await submitConsent({ key_rules }), 'invalid_request');
      expectDenied(await submitConsent({ key_rules: '{"apply_policies":["closed"]}' }), 'invalid_request');
      expectDenied(await submitConsent({ client_id: 'poor' }), 'unauthorized_client');
      expectDenied(await submitConsent({ client_id: 'late' }), 'unauthorized_client');
      expectDenied(await submitConsent({ client_id: 'bare' }), 'unauthorized_client');
      const wrong = await submitConsent({ client_id: 'nobody', state: 'kept' });
      expectDenied(wrong, 'server_error');
      assert.equal(wrong.json.state, 'kept');
    });
  });
});

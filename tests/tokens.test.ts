import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { onEveryEngine, rememberSecrets } from './support/app.ts';
import { jwkOf, mint, type Publisher, rsaPair, startPublisher } from './support/tokens.ts';
import { openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { eventually, startUpstream, type Upstream } from './support/upstream.ts';

const back = 'https://app.example/back';
const basic = (id: string, secret: string) => ({
  Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});

onEveryEngine(
  'OAuth 2.0 provider and JWT',
  app => {
    let upstream: Upstream;
    let publisher: Publisher;
    before(async () => {
      upstream = await startUpstream();
      publisher = await startPublisher();
    });
    after(async () => {
      await upstream.close();
      await publisher.close();
    });

    async function policyFor(apiId: string, more: object = {}): Promise<string> {
      const policy = {
        name: `Policy of ${apiId}`,
        access_rights: { [apiId]: { api_id: apiId, versions: ['Default'] } },
      };
      const body = { ...policy, rate: 1000, per: 1, active: true, ...more };
      const made = await app().ask('POST', '/api/portal/policies', { body });
      assert.equal(made.status, 200, made.text);
      return made.body.Message;
    }

    async function provider(client: object = {}) {
      const definition = openApi(upstream, {
        use_keyless: false,
        use_oauth2: true,
        oauth_meta: {
          allowed_access_types: ['authorization_code', 'refresh_token', 'client_credentials'],
          allowed_authorize_types: ['code'],
          auth_login_redirect: 'https://login.example/',
        },
      });
      const url = await publish(app(), definition);
      const body = { redirect_uri: back, policy_id: await policyFor(definition.api_id), ...client };
      const made = await app().ask('POST', `/api/apis/oauth/${definition.api_id}`, { body });
      assert.equal(made.status, 200, made.text);
      const { client_id: id, secret } = made.body as { client_id: string; secret: string };
      rememberSecrets({ secret });
      await waitUntilApplied(app());
      const post = async (path: string, form: Record<string, string>, headers: Record<string, string> = {}) => {
        const reply = await fetch(url + path, { method: 'POST', body: new URLSearchParams(form), headers });
        const text = await reply.text();
        return { status: reply.status, headers: reply.headers, body: JSON.parse(text) };
      };
      const token = async (form: Record<string, string>) => {
        const given = await post('/oauth/token', form, basic(id, secret));
        const { access_token, refresh_token } = given.body;
        rememberSecrets({ ...(access_token && { access_token }), ...(refresh_token && { refresh_token }) });
        return given;
      };
      const agree = (form: Record<string, string> = {}) =>
        post(
          '/gw/oauth/authorize-client/',
          { response_type: 'code', client_id: id, redirect_uri: back, ...form },
          { 'X-Gw-Authorization': app().credentials.gateway_secret },
        );
      const call = async (accessToken: string) => {
        const reply = await fetch(`${url}/x`, { headers: { Authorization: `Bearer ${accessToken}` } });
        return { status: reply.status, text: await reply.text() };
      };
      return { url, apiId: definition.api_id, id, secret, post, token, agree, call };
    }

    test('authorization code flow with PKCE: consent, token, request, refresh, revocation', async () => {
      const { url, apiId, id, token, agree, call, post } = await provider();
      const query = new URLSearchParams({ response_type: 'code', client_id: id, redirect_uri: back, state: 'x' });
      const sent = await fetch(`${url}/oauth/authorize?${query}`, { redirect: 'manual' });
      assert.deepEqual([sent.status, sent.headers.get('location')], [307, `https://login.example/?${query}`]);
      const verifier = 'some-verifier-of-a-client-that-is-long-enough';
      const { body: agreed } = await agree({
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      });
      rememberSecrets({ code: agreed.code });
      const form = { grant_type: 'authorization_code', code: agreed.code, redirect_uri: back, code_verifier: verifier };
      const first = await token(form);
      assert.equal(first.status, 200);
      assert.equal(first.headers.get('cache-control'), 'no-cache, no-store, must-revalidate');
      assert.equal((await call(first.body.access_token)).status, 200);
      const list = await app().ask('GET', `/api/apis/oauth/${apiId}/${id}/tokens`);
      assert.deepEqual(
        list.body.map(({ code }: { code: string }) => code),
        [first.body.access_token],
      );
      assert.ok(list.body[0].expires > Date.now() / 1000);
      const second = await token({ grant_type: 'refresh_token', refresh_token: first.body.refresh_token });
      assert.equal(second.status, 200);
      await waitUntilApplied(app());
      assert.equal((await call(first.body.access_token)).status, 403);
      assert.equal((await call(second.body.access_token)).status, 200);
      assert.equal((await post('/oauth/revoke', { token: second.body.access_token })).status, 200);
      await waitUntilApplied(app());
      assert.equal((await call(second.body.access_token)).status, 403);
    });

    test('an authorization code and a refresh token can each be redeemed once, also concurrently', async () => {
      const { token, agree } = await provider();
      const { code } = (await agree()).body;
      const swap = () => token({ grant_type: 'authorization_code', code, redirect_uri: back });
      const codes = await Promise.all(Array.from({ length: 10 }, swap));
      assert.equal(codes.filter(({ status }) => status === 200).length, 1);
      const { code: another } = (await agree()).body;
      const { refresh_token } = (await token({ grant_type: 'authorization_code', code: another, redirect_uri: back }))
        .body;
      const refresh = () => token({ grant_type: 'refresh_token', refresh_token });
      const refreshed = await Promise.all(Array.from({ length: 10 }, refresh));
      assert.equal(refreshed.filter(({ status }) => status === 200).length, 1);
      assert.ok(refreshed.every(({ status, body }) => status === 200 || body.error === 'invalid_grant'));
    });

    test('policies in the metadata of a client grant its tokens nothing, also with the id of a client of that API', async () => {
      const other = await provider();
      const access_rights = { [other.apiId]: { api_id: other.apiId, versions: ['Default'] } };
      const policies = [{ id: 'embedded', name: 'Embedded', rate: 1000, per: 1, active: true, access_rights }];
      const own = await provider({ client_id: other.id, meta_data: { team: 'a', policies } });
      const { status, body } = await own.token({ grant_type: 'client_credentials' });
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal((await own.call(body.access_token)).status, 200);
      assert.equal((await other.call(body.access_token)).status, 403);
    });

    test('deleting a client revokes its tokens', async () => {
      const { apiId, id, token, call } = await provider();
      const { access_token } = (await token({ grant_type: 'client_credentials' })).body;
      assert.equal((await call(access_token)).status, 200);
      assert.equal((await app().ask('DELETE', `/api/apis/oauth/${apiId}/${id}`)).status, 200);
      await waitUntilApplied(app());
      const { status, text } = await call(access_token);
      assert.equal(status, 403);
      assert.match(text, /OAuth client access was revoked/);
      assert.equal((await app().ask('GET', `/api/apis/oauth/${apiId}/${id}/tokens`)).status, 404);
    });

    test('an oversized form gets 413 and a wrong method 405 before the provider', async () => {
      const { url, post } = await provider();
      const large = await fetch(`${url}/oauth/token`, { method: 'POST', body: `code=${'x'.repeat(70_000)}` });
      assert.equal(large.status, 413);
      const wrong = await fetch(`${url}/oauth/revoke`);
      assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'POST']);
      assert.equal((await post('/oauth/nothing', {})).status, 400, 'not a provider route: the chain requires a token');
    });

    test('tokens of another organisation’s client cannot be listed', async () => {
      const { apiId, id } = await provider();
      const { accessKey } = await app().stranger();
      const given = await app().ask('GET', `/api/apis/oauth/${apiId}/${id}/tokens`, { credential: accessKey });
      assert.equal(given.status, 404);
    });

    test('a JWT follows changes of its policy and of the issuer’s key set', async () => {
      const [one, two] = [rsaPair(), rsaPair()];
      publisher.pages['/jwks'] = { keys: [jwkOf(one.publicKey, { kid: 'one' })] };
      const definition = openApi(upstream, {
        use_keyless: false,
        enable_jwt: true,
        jwt_signing_method: 'rsa',
        jwt_source: `${publisher.url}/jwks`,
        jwt_policy_field_name: 'pol',
        strip_auth_data: true,
      });
      const url = await publish(app(), definition);
      const pol = await policyFor(definition.api_id);
      await waitUntilApplied(app());
      const call = async (kid: string, key: typeof one) => {
        const token = mint({ sub: 'ann', pol }, key.privateKey, { header: { kid } });
        const reply = await fetch(`${url}/x`, { headers: { Authorization: `Bearer ${token}` } });
        return { status: reply.status, text: await reply.text() };
      };
      const first = await call('one', one);
      assert.equal(first.status, 200, first.text);
      assert.equal(JSON.parse(first.text).headers.authorization, undefined, 'the token stays here');
      publisher.pages['/jwks'] = { keys: [jwkOf(two.publicKey, { kid: 'two' }), jwkOf(one.publicKey, { kid: 'one' })] };
      await eventually(async () => assert.equal((await call('two', two)).status, 200));
      assert.equal((await call('one', two)).status, 403);
      assert.equal((await app().ask('DELETE', `/api/portal/policies/${pol}`)).status, 200);
      await waitUntilApplied(app());
      const without = await call('one', one);
      assert.equal(without.status, 403);
      assert.match(without.text, /key not authorized: no matching policy"/);
    });
  },
  { settings: { 'jwks.min_refresh_seconds': '0' } },
);

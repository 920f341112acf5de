import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  basic,
  expectDenied,
  oauthDefinition,
  openOauthProvider,
  type TokenResponse,
} from '../../../../tests/support/oauth-provider.ts';
import { openBench } from '../../../../tests/support/step-harness.ts';

describe('OAuth provider', () => {
  const { bench, addClient, post, token, call } = openOauthProvider();

  describe('client authentication', () => {
    const asked = { grant_type: 'client_credentials' };

    const inBody = (id: string, secret: string, headers: Record<string, string> = {}) =>
      post('/oauth/token', { ...asked, client_id: id, client_secret: secret }, { headers });
    function expectInvalidClient({ status, json, headers }: TokenResponse, byBasic: boolean): string {
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
      const descriptions = [
        expectInvalidClient(await token(asked, 'shop', 'wrong'), true),
        expectInvalidClient(await token(asked, 'shop', ''), true),
        expectInvalidClient(await token(asked, 'nobody'), true),
        expectInvalidClient(await inBody('shop', 'wrong'), false),
        expectInvalidClient(await inBody('shop', ''), false),
        expectInvalidClient(await inBody('nobody', 'x'), false),
      ];
      assert.equal(new Set(descriptions).size, 1);
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
      await addClient('a+b', { secret: 's%20 +/=' });
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
      const fewer = await bench().compile(oauthDefinition({ allowed_access_types: ['password'] }));
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
      const asserting = await bench().compile(oauthDefinition({ allowed_access_types: ['assertion'] }));
      const form = { grant_type: 'assertion', assertion_type: 't', assertion: 'a' };
      const { status, json } = await token(form, 'shop', 'shop secret', asserting);
      assert.deepEqual([status, json.refresh_token], [200, undefined]);
      expectDenied(await token({ grant_type: 'assertion' }, 'shop', 'shop secret', asserting), 'invalid_request');
    });

    test('oauth.error_status sets the status of errors', async () => {
      const other = await openBench({ 'oauth.error_status': '400' });
      const to = await other.compile(oauthDefinition());
      const given = await other.ask(to, { method: 'POST', target: '/oauth/token', body: '' });
      assert.equal(given.status, 400);
      await other.close();
    });
  });
});

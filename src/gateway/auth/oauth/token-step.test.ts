import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectDenied, oauthDefinition, openOauthProvider } from '../../../../tests/support/oauth-provider.ts';
import { errorBody } from '../../../../tests/support/step-harness.ts';
import { eventually } from '../../../../tests/support/upstream.ts';

describe('OAuth provider', () => {
  const { bench, api, addClient, post, token, call, newCode, redeemCode } = openOauthProvider();

  describe('access tokens', () => {
    test('an access token needs Bearer: 400 otherwise, 403 when unknown', async () => {
      const send = (Authorization: string) => bench().send(api(), { headers: { Authorization } });
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
        const key = bench().services.keyCache.hashOf(text);
        assert.deepEqual(
          [status, body, events],
          [403, errorBody('Key not authorised'), [{ event: 'AuthFailure', message: 'Auth Failure', key }]],
        );
      }
      const refreshToken = (await redeemCode(await newCode())).json.refresh_token;
      assert.equal((await send(`Bearer ${refreshToken}`)).status, 403, 'a refresh token opens nothing');
      const stranger = await bench().compile({ ...oauthDefinition(), org_id: 'ffffffffffffffffffffffff' });
      const there = await bench().send(stranger, { headers: { Authorization: `Bearer ${access_token}` } });
      assert.equal(there.status, 403);
    });

    test('a cached access token costs no query and expires', async () => {
      const { access_token } = (await token({ grant_type: 'client_credentials' })).json;
      await call(access_token);
      const before = bench().queries();
      assert.equal((await call(access_token)).status, 0);
      assert.equal(bench().queries(), before);
      bench().time.nowMs += 3_600_000 - 1;
      assert.equal((await call(access_token)).status, 0);
      bench().time.nowMs += 1;
      assert.equal((await call(access_token)).status, 403);
    });

    test('an access token of a deleted client is refused', async () => {
      await addClient('leaver');
      const { access_token } = (await token({ grant_type: 'client_credentials' }, 'leaver')).json;
      assert.equal((await call(access_token)).status, 0);
      await bench().oauthClients.remove('bench', 'leaver');
      bench().invalidateAll();
      const { status, body, events } = await call(access_token);
      assert.deepEqual(
        [status, body, events],
        [403, errorBody('Key not authorised. OAuth client access was revoked'), []],
      );
    });

    test('access tokens are not readable in the database', async () => {
      const code = await newCode();
      const { access_token, refresh_token } = (await redeemCode(code)).json;
      const rows = JSON.stringify([
        await bench().records.db.selectFrom('oauth_tokens').selectAll().execute(),
        await bench().records.db.selectFrom('oauth_codes').selectAll().execute(),
      ]);
      for (const text of [code, access_token, refresh_token]) assert.ok(!rows.includes(text));
    });

    test('expired tokens are removed', async () => {
      await token({ grant_type: 'client_credentials' });
      bench().time.nowMs += 100 * 86_400_000;
      await token({ grant_type: 'client_credentials' });
      const old = () =>
        bench()
          .records.db.selectFrom('oauth_tokens')
          .select('id')
          .where('expires_at', '<', bench().time.nowMs)
          .execute();
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
      bench().invalidateAll();
      assert.equal((await call(access_token)).status, 0, 'it is no refresh token');
      const { status, json } = await revoke({ token: access_token });
      assert.deepEqual([status, json], [200, ok('token revoked successfully')]);
      bench().invalidateAll();
      assert.equal((await call(access_token)).status, 403);
      assert.deepEqual((await revoke({ token: 'nothing' })).status, 200);
      const missing = await revoke({});
      assert.deepEqual([missing.status, missing.json], [400, no('token is required')]);
    });

    test('revoking a refresh token revokes its access token', async () => {
      const { access_token, refresh_token } = (await redeemCode(await newCode())).json;
      await revoke({ token: refresh_token, token_type_hint: 'refresh_token' });
      bench().invalidateAll();
      assert.equal((await call(access_token)).status, 403);
      expectDenied(await token({ grant_type: 'refresh_token', refresh_token }), 'invalid_grant');
    });

    test('a client revokes all its tokens and codes with its secret', async () => {
      const all = (form: Record<string, string>) => post('/oauth/revoke_all', form);
      await addClient('ender');
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
      bench().invalidateAll();
      assert.equal((await call(access_token)).status, 403);
      expectDenied(await redeemCode(code, {}, 'ender'), 'invalid_grant');
    });
  });
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import type { StoredKey } from '#access/keys/store.ts';
import { hashPassword } from '#base/passwords.ts';
import {
  basic,
  benchRights,
  codeVerifier,
  expectDenied,
  oauthDefinition,
  openOauthProvider,
  redirectUri,
} from '../../../../tests/support/oauth-provider.ts';
import { startMs } from '../../../../tests/support/step-harness.ts';

const challenge = createHash('sha256').update(codeVerifier).digest('base64url');

describe('OAuth provider', () => {
  const { bench, post, submitConsent, token, call, newCode, redeemCode } = openOauthProvider();

  describe('authorization code grant', () => {
    test('a code is exchanged for tokens, with no-store headers', async () => {
      const { status, json, headers } = await redeemCode(await newCode({ scope: 'r' }));
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
      const body = JSON.stringify({
        grant_type: 'authorization_code',
        code: await newCode(),
        redirect_uri: redirectUri,
      });
      const headers = { Authorization: basic('shop', 'shop secret'), 'Content-Type': 'application/json' };
      assert.equal((await post('/oauth/token/', body, { headers })).status, 200);
      for (const broken of ['[]', 'x', '{"grant_type":1}', `{"grant_type":"password",${body.slice(1)}`])
        expectDenied(await post('/oauth/token', broken, { headers }), 'invalid_request');
    });

    test('a code is redeemed once; a second attempt revokes the tokens', async () => {
      const code = await newCode();
      const first = (await redeemCode(code)).json;
      assert.equal((await call(first.access_token)).status, 0);
      expectDenied(await redeemCode(code), 'invalid_grant');
      bench().invalidateAll();
      assert.equal((await call(first.access_token)).status, 403);
      expectDenied(await token({ grant_type: 'refresh_token', refresh_token: first.refresh_token }), 'invalid_grant');
    });

    test('a code can be redeemed once, also concurrently', async () => {
      const code = await newCode();
      const all = await Promise.all(Array.from({ length: 8 }, () => redeemCode(code)));
      assert.deepEqual(all.map(({ status }) => status).sort(), [200, 403, 403, 403, 403, 403, 403, 403]);
    });

    test('a code is bound to its client, redirect URI and expiry', async () => {
      const codes = await Promise.all([1, 2, 3, 4].map(() => newCode()));
      expectDenied(await redeemCode(codes[0]!, {}, 'single'), 'invalid_grant');
      assert.equal((await redeemCode(codes[0]!)).status, 200, 'another client’s try does not use it up');
      for (const redirect_uri of ['', 'myapp://back', `${redirectUri}/`])
        expectDenied(await redeemCode(codes[1]!, { redirect_uri }), 'invalid_grant');
      expectDenied(await redeemCode(codes[1]!), 'invalid_grant');
      bench().time.nowMs += 249_999;
      assert.equal((await redeemCode(codes[2]!)).status, 200);
      bench().time.nowMs += 1;
      expectDenied(await redeemCode(codes[3]!), 'invalid_grant');
      expectDenied(await redeemCode('no-such-code'), 'invalid_grant');
      expectDenied(await redeemCode(''), 'invalid_request');
    });

    test('redirect_uri may be omitted again where the authorization request omitted it', async () => {
      const code = await newCode({ client_id: 'single', redirect_uri: '' });
      assert.equal((await redeemCode(code, { redirect_uri: '' }, 'single')).status, 200);
      const other = await newCode({ client_id: 'single', redirect_uri: '' });
      expectDenied(await redeemCode(other, { redirect_uri: 'https://evil.example' }, 'single'), 'invalid_grant');
    });

    test('PKCE: a challenge needs its codeVerifier, and a codeVerifier needs a challenge', async () => {
      const asked = { code_challenge: challenge, code_challenge_method: 'S256' };
      assert.equal((await redeemCode(await newCode(asked), { code_verifier: codeVerifier })).status, 200);
      expectDenied(await redeemCode(await newCode(asked)), 'invalid_grant');
      expectDenied(await redeemCode(await newCode(asked), { code_verifier: 'w'.repeat(43) }), 'invalid_grant');
      expectDenied(await redeemCode(await newCode(asked), { code_verifier: challenge }), 'invalid_grant');
      expectDenied(await redeemCode(await newCode(), { code_verifier: codeVerifier }), 'invalid_grant');
      expectDenied(
        await submitConsent({ code_challenge: codeVerifier, code_challenge_method: 'plain' }),
        'invalid_request',
      );
      expectDenied(await submitConsent({ code_challenge_method: 'S256' }), 'invalid_request');
    });
  });

  describe('refresh tokens', () => {
    const refresh = (refresh_token: string, id?: string) => token({ grant_type: 'refresh_token', refresh_token }, id);

    test('a refresh token is exchanged for new tokens and the old ones are revoked', async () => {
      const first = (await redeemCode(await newCode({ scope: 'r' }))).json;
      assert.equal((await call(first.access_token)).status, 0);
      const { status, json } = await refresh(first.refresh_token);
      assert.deepEqual([status, json.scope, json.expires_in], [200, 'r', 3600]);
      bench().invalidateAll();
      assert.equal((await call(first.access_token)).status, 403);
      assert.equal((await call(json.access_token)).status, 0);
      assert.notEqual(json.refresh_token, first.refresh_token);
      assert.equal((await refresh(json.refresh_token)).status, 200);
    });

    test('a replayed refresh token revokes the whole grant', async () => {
      const first = (await redeemCode(await newCode())).json;
      const second = (await refresh(first.refresh_token)).json;
      expectDenied(await refresh(first.refresh_token), 'invalid_grant');
      bench().invalidateAll();
      assert.equal((await call(second.access_token)).status, 403);
      expectDenied(await refresh(second.refresh_token), 'invalid_grant');
    });

    test('a refresh token is redeemed once, also concurrently, by its client, until it expires', async () => {
      const first = (await redeemCode(await newCode())).json;
      expectDenied(await refresh(first.refresh_token, 'single'), 'invalid_grant');
      expectDenied(await refresh(first.access_token), 'invalid_grant');
      expectDenied(await refresh('nothing'), 'invalid_grant');
      expectDenied(await refresh(''), 'invalid_request');
      bench().time.nowMs += 1_209_600_000 - 1;
      const all = await Promise.all([1, 2, 3].map(() => refresh(first.refresh_token)));
      assert.deepEqual(all.map(({ status }) => status).sort(), [200, 403, 403]);
      bench().time.nowMs = startMs;
      const late = (await redeemCode(await newCode())).json;
      bench().time.nowMs += 1_209_600_000;
      expectDenied(await refresh(late.refresh_token), 'invalid_grant');
    });

    test('no refresh token is issued where the API does not allow the grant', async () => {
      const to = await bench().compile(oauthDefinition({ allowed_access_types: ['authorization_code'] }));
      const { json } = await token(
        { grant_type: 'authorization_code', code: await newCode(), redirect_uri: redirectUri },
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
      bench().key(
        {
          access_rights: benchRights,
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
      const noted = (await bench().keys.getAnywhere(userKey))!.key.oauth_keys;
      assert.deepEqual(noted, { shop: bench().keys.hashOf(json.access_token) });
      const again = await signIn('user-1', 'right');
      bench().invalidateAll();
      assert.equal((await call(json.access_token)).status, 403, 'one token for a user and a client');
      assert.equal((await call(again.json.access_token)).status, 0);
    });

    test('a wrong password, an unknown or a disabled user: access_denied', async () => {
      await user('user-2');
      await user('user-off', { is_inactive: true });
      await user('user-old', { expires: startMs / 1000 });
      await bench().key({ access_rights: benchRights }, { name: 'no-password' });
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
        ['user-gone', (it: StoredKey) => bench().keys.remove(it)],
        ['user-stopped', (it: StoredKey) => change(it, { is_inactive: true })],
        ['user-past', (it: StoredKey) => change(it, { expires: startMs / 1000 })],
        ['user-changed', async (it: StoredKey) => change(it, await passwordOf('another'))],
      ] as const) {
        const stored = (await bench().keys.getAnywhere(await user(name)))!;
        const first = (await signIn(name, 'right')).json;
        await change(stored, more);
        const second = (await renew(first.refresh_token)).json;
        assert.deepEqual((await call(second.access_token)).call.session?.policyIds, ['shop-policy'], name);
        await leave(stored);
        expectDenied(await renew(second.refresh_token), 'invalid_grant');
        bench().invalidateAll();
        assert.equal((await call(second.access_token)).status, 403, `${name}: the token is refused`);
      }
      async function passwordOf(password: string) {
        return { basic_auth_data: { password: await hashPassword(password), hash_type: 'scrypt' } };
      }
      async function change(stored: StoredKey, changes: object) {
        await bench().keys.change(stored, async previous => ({ key: { ...previous, ...changes }, policyIds: [] }));
      }
    });

    test('a user without rights gets the client’s policy, until the user expires', async () => {
      await user('user-3', { access_rights: {}, expires: startMs / 1000 + 60 });
      const { json } = await signIn('user-3', 'right');
      assert.equal(json.expires_in, 60);
      assert.deepEqual((await call(json.access_token)).call.session?.policyIds, ['shop-policy']);
      bench().time.nowMs += 60_000;
      expectDenied(await token({ grant_type: 'refresh_token', refresh_token: json.refresh_token }), 'invalid_grant');
    });
  });
});

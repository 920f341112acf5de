import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SignJWT } from 'jose';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../../tests/support/app.ts';
import { addPerson } from '../../../../tests/support/browser.ts';
import { type CookieJar, dashboardUrl, visit } from '../../../../tests/support/oidc.ts';
import { forgerKeys, type OidcForger, startForger } from '../../../../tests/support/oidc-forger.ts';
import { eventually } from '../../../../tests/support/upstream.ts';

type Json = Record<string, unknown>;

onEveryEngine(
  'Sign-on through a provider that chooses its time',
  app => {
    let forger: OidcForger;
    before(async () => {
      forger = await startForger();
    });
    after(() => forger?.close());

    async function createProfile(more: Json = {}) {
      const DiscoverURL = `${forger.issuer}/.well-known/openid-configuration`;
      const UseProviders = [{ Name: 'openid-connect', Key: 'client', DiscoverURL }];
      const body = { Name: 'Slow', ProviderName: 'SocialProvider', ProviderConfig: { UseProviders }, ...more };
      const made = await app().ask('POST', '/api/sso/profiles', { body });
      assert.equal(made.status, 200, made.text);
      const path = `/api/sso/profiles/${made.body.Meta}`;
      return { body, path, login: `${app().url.dashboard}/tib/auth/${made.body.Meta}/openid-connect` };
    }

    /** Begins a sign-on; returns the request that completes it with these claims. */
    async function begin(login: string, more: Json = {}) {
      const jar: CookieJar = new Map();
      const location = (await visit(login, jar)).headers.get('location')!;
      const { nonce, state } = Object.fromEntries(new URL(location).searchParams);
      const seconds = Math.floor(Date.now() / 1000);
      const claims = { iss: forger.issuer, aud: 'client', sub: `u${createPublicId()}`, nonce, iat: seconds };
      const signer = new SignJWT({ ...claims, exp: seconds + 60, ...more });
      const id_token = await signer.setProtectedHeader({ alg: 'RS256', kid: 'k' }).sign(forgerKeys.privateKey);
      return async () => {
        forger.token = { id_token, ...(forger.userinfo && { access_token: 'a' }) };
        return visit(`${login}/callback?code=c&state=${state}`, jar);
      };
    }

    const email = () => ({ email: `${createPublicId()}@example.org`, email_verified: true });

    /** Holds the responses of the token endpoint; returns their release. */
    function holdTokens(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      forger.hold = promise;
      return resolve;
    }

    test('a profile that is changed or deleted during a sign-on opens no session', async () => {
      for (const change of ['delete', 'deactivate', 'rename']) {
        const { body, path, login } = await createProfile();
        const complete = await begin(login, email());
        const release = holdTokens();
        const count = forger.tokenRequests.length;
        const completed = complete();
        await eventually(async () => assert.equal(forger.tokenRequests.length, count + 1));
        const changed =
          change === 'delete'
            ? await app().ask('DELETE', path)
            : await app().ask('PUT', path, {
                body: { ...body, ...(change === 'rename' ? { Name: 'N' } : { Active: false }) },
              });
        assert.equal(changed.status, 200, changed.text);
        release();
        const response = await completed;
        assert.equal(response.status, 403, change);
        const cookies = response.headers.getSetCookie();
        assert.ok(cookies.length === 1 && cookies[0]?.startsWith('gw-sign-on=; Max-Age=0;'), String(cookies));
        assert.match(await response.text(), /was changed during this sign-on/);
      }
    });

    test('sign-ons of one organisation that wait for its provider are bounded', async () => {
      const { login } = await createProfile();
      const waiting = await Promise.all(Array.from({ length: 10 }, () => begin(login, email())));
      const further = await begin(login, email());
      const release = holdTokens();
      const count = forger.tokenRequests.length;
      const completed = waiting.map(complete => complete());
      await eventually(async () => assert.equal(forger.tokenRequests.length, count + 10));
      const refused = await further();
      assert.equal(refused.status, 503);
      assert.match(await refused.text(), /Too many sign-ons of this organisation/);
      release();
      await Promise.all(completed);
      const { status } = await (await begin(login, email()))();
      assert.equal(status, 303);
    });

    test('email_verified is about the address of its own document', async () => {
      const { login } = await createProfile({ SSOOnlyForRegisteredUsers: true });
      const person = await addPerson(app());
      const signOn = async (claims: Json, userinfo: Json) => {
        const sub = `u${createPublicId()}`;
        const complete = await begin(login, { sub, ...claims });
        forger.userinfo = { sub, ...userinfo };
        return complete();
      };
      const { username } = person;
      const mixed: [Json, Json][] = [
        [{ email: username }, { email: 'eve@example.org', email_verified: true }],
        [
          { email: username, email_verified: false },
          { email: username, email_verified: true },
        ],
        [{ email_verified: true }, { email: username }],
      ];
      for (const [claims, userinfo] of mixed) {
        const response = await signOn(claims, userinfo);
        assert.equal(response.status, 403, JSON.stringify([claims, userinfo]));
        assert.match(await response.text(), /has not verified it/);
      }
      const right = await signOn({ email: username }, { email: username, email_verified: true });
      assert.equal(right.status, 303, await right.text());
      forger.userinfo = undefined;
    });
  },
  { settings: { 'dashboard.url': dashboardUrl, 'sign_in.max_address_failures': '0' } },
);

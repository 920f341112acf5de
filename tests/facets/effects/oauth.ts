import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json-tree.ts';
import { eventually } from '../../support/upstream.ts';
import {
  accessToken,
  bearer,
  classic,
  entryChange,
  keepsOutWith,
  letsInWith,
  now,
  oauthClient,
  publicSource,
  publishes,
  redirect,
  requireMethod,
} from '../auth-methods.ts';
import type { Effect, Ground, Served } from '../effect.ts';

/** Callers send a token that the gateway issued, or that another server did. */

const header = { enabled: true, name: 'Authorization' };

/** Asks for consent as a browser does, and agrees as a login page does. */
async function consent({ app, call }: Served, clientId: string, type: string) {
  const wanted = new URLSearchParams({ response_type: type, client_id: clientId, redirect_uri: redirect });
  const sent = await call(`/oauth/authorize?${wanted}`);
  const agreed = await call('/gw/oauth/authorize-client/', {
    method: 'POST',
    body: wanted,
    headers: { 'x-gw-authorization': app.credentials.gateway_secret },
  });
  return { sent: [sent.status, sent.headers.get('location')], login: `https://login.example/?${wanted}`, agreed };
}

const notices = ({ id }: Ground) => `/${id}/notices`;

const provider: readonly Effect[] = [
  {
    rows: 'oauth.allowedAuthorizeTypes,allowedAccessTypes,authLoginRedirect',
    promise: 'authorization redirects to the login page, and only the configured grants are allowed',
    classic: () =>
      classic('oauth', {
        oauth_meta: {
          allowed_authorize_types: ['code'],
          allowed_access_types: ['authorization_code'],
          auth_login_redirect: 'https://login.example/',
        },
      }),
    oas: () =>
      requireMethod('oauth', {
        header,
        allowedAuthorizeTypes: ['code'],
        allowedAccessTypes: ['authorization_code'],
        authLoginRedirect: 'https://login.example/',
      }),
    async observe(at) {
      const client = await oauthClient(at);
      const { sent, login, agreed } = await consent(at, client.id, 'code');
      assert.deepEqual(sent, [307, login]);
      const form = { grant_type: 'authorization_code', code: agreed.body.code, redirect_uri: redirect };
      const { access_token, refresh_token } = await accessToken(at, client, form);
      await letsInWith(at, `Bearer ${access_token}`);
      assert.equal(refresh_token, undefined);
      assert.equal((await consent(at, client.id, 'token')).agreed.status, 403);
      assert.equal((await accessToken(at, client, { grant_type: 'client_credentials' })).status, 403);
    },
  },
  {
    rows: 'oauth.refreshToken',
    promise: 'a token is issued with a refresh token',
    oas: () =>
      requireMethod('oauth', {
        header,
        allowedAuthorizeTypes: ['code'],
        allowedAccessTypes: ['authorization_code'],
        authLoginRedirect: 'https://login.example/',
        refreshToken: true,
      }),
    async observe(at) {
      const client = await oauthClient(at);
      const { code } = (await consent(at, client.id, 'code')).agreed.body;
      const first = await accessToken(at, client, { grant_type: 'authorization_code', code, redirect_uri: redirect });
      const form = { grant_type: 'refresh_token', refresh_token: first.refresh_token! };
      await letsInWith(at, `Bearer ${(await accessToken(at, client, form)).access_token}`);
    },
  },
  {
    rows: 'oauth.notifyUrl,notifySecret',
    promise: 'the notification URL receives every new token with its shared secret',
    classic: at =>
      classic('oauth', {
        oauth_meta: { allowed_access_types: ['client_credentials'] },
        notifications: { shared_secret: 'hush', oauth_on_keychange_url: at.upstream.url + notices(at) },
      }),
    oas: at =>
      requireMethod('oauth', {
        header,
        allowedAccessTypes: ['client_credentials'],
        notifications: { sharedSecret: 'hush', onKeyChangeUrl: at.upstream.url + notices(at) },
      }),
    async observe(at) {
      const { access_token } = await accessToken(at, await oauthClient(at), { grant_type: 'client_credentials' });
      const received = await eventually(() => {
        const found = at.upstream.requests.find(({ url }) => url === notices(at));
        assert.ok(found, 'no notice');
        return found;
      });
      assert.equal(received.headers['x-gw-shared-secret'], 'hush');
      assert.equal(JSON.parse(received.body).new_oauth_token, access_token);
    },
  },
];

const external = (provider: (at: Ground) => JsonObject): Pick<Effect, 'classic' | 'oas'> => ({
  classic: at => classic('externalOAuth', { external_oauth: { enabled: true, providers: [provider(at)] } }),
  oas: at => requireMethod('externalOAuth', { header, providers: [provider(at)] }),
});

const introspect = ({ id }: Ground) => `/${id}/introspect`;
const timesAsked = (at: Ground) => at.upstream.requests.filter(({ url }) => url === introspect(at)).length;

/** Introspection endpoint: `good` is active, for authenticated clients only. */
const introspectToken = (body: string): JsonObject => {
  const form = new URLSearchParams(body);
  const trusted = form.get('client_id') === 'me' && form.get('client_secret') === 'mine';
  return { active: trusted && form.get('token') === 'good', user: 'ann' };
};

const introspection = (at: Ground, identity: string, cache: JsonObject): JsonObject => {
  const introspection = { enabled: true, url: at.upstream.url + introspect(at), cache };
  return {
    introspection:
      at.format === 'classic'
        ? { ...introspection, client_id: 'me', client_secret: 'mine', identity_base_field: identity }
        : { ...introspection, clientId: 'me', clientSecret: 'mine', identityBaseField: identity },
  };
};

const others: readonly Effect[] = [
  {
    rows: 'externalOAuth.providers externalOAuth.providers[].jwtEnabled externalOAuth.providers[].signingMethod externalOAuth.providers[].source externalOAuth.providers[].identityBaseField externalOAuth.providers[].issuedAtSkewSeconds externalOAuth.providers[].notBeforeSkewSeconds externalOAuth.providers[].expiresAtSkewSeconds',
    promise: 'JWTs of another authorization server are verified',
    ...external(({ format }) => ({
      jwt:
        format === 'classic'
          ? {
              enabled: true,
              signing_method: 'ecdsa',
              source: publicSource,
              identity_base_field: 'user',
              issued_at_validation_skew: 100,
              not_before_validation_skew: 200,
              expires_at_validation_skew: 300,
            }
          : {
              enabled: true,
              signingMethod: 'ecdsa',
              source: publicSource,
              identityBaseField: 'user',
              issuedAtValidationSkew: 100,
              notBeforeValidationSkew: 200,
              expiresAtValidationSkew: 300,
            },
    })),
    async observe(at) {
      const when = (claim: string, seconds: number) => bearer({ user: 'ann', [claim]: now() + seconds });
      await letsInWith(at, bearer({ user: 'ann' }), when('iat', 90), when('nbf', 190), when('exp', -200));
      await keepsOutWith(at, when('iat', 190), when('nbf', 290), when('exp', -301));
      for (const wrong of [bearer({ sub: 'ann' }), `${bearer({ user: 'ann' })}x`])
        assert.notEqual((await at.call('/thing', { headers: { authorization: wrong } })).status, 200);
    },
  },
  {
    rows: 'externalOAuth.providers[].introspectionEnabled externalOAuth.providers[].url externalOAuth.providers[].clientId externalOAuth.providers[].clientSecret externalOAuth.providers[].introspectionIdentityField externalOAuth.providers[].cacheEnabled externalOAuth.providers[].cacheSeconds',
    promise: 'tokens of another authorization server are introspected, and results cached',
    ...external(at => introspection(at, 'user', { enabled: true, timeout: 2 })),
    async observe(at) {
      publishes(at.upstream, { [introspect(at)]: introspectToken });
      await letsInWith(at, 'Bearer good');
      await keepsOutWith(at, 'Bearer bad');
      await eventually(async () => {
        const before = timesAsked(at);
        await letsInWith(at, 'Bearer good', 'Bearer good');
        assert.equal(timesAsked(at), before, 'its word is remembered');
      });
      const before = timesAsked(at);
      await eventually(async () => {
        await letsInWith(at, 'Bearer good');
        assert.ok(timesAsked(at) > before, 'its word grows old');
      });
      const unnamed = [introspection(at, '', { enabled: false })];
      await at.change(
        at.format === 'classic' ? { external_oauth: { providers: unnamed } } : entryChange({ providers: unnamed }),
      );
      assert.notEqual((await at.call('/thing', { headers: { authorization: 'Bearer good' } })).status, 200);
    },
  },
];

export const oauth: readonly Effect[] = [...provider, ...others];

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Bag } from '#definition/tree.ts';
import type { Effect, Served } from '../effect.ts';

/** Callers send a key. */

/** An OpenAPI document whose callers send a key; `entry` is what the gateway's part says of that. */
const guarded = (entry: Bag, component: Bag = { type: 'apiKey', in: 'header', name: 'Authorization' }) => ({
  components: { securitySchemes: { keys: component } },
  security: [{ keys: [] }],
  x: { server: { authentication: { enabled: true, securitySchemes: { keys: { enabled: true, ...entry } } } } },
});
const keyed = (more: Bag = {}) => ({ use_keyless: false, use_standard_auth: true, ...more });

async function letsIn({ call }: Served, path: string, headers: Record<string, string> = {}): Promise<void> {
  const { status, text } = await call(path, { headers });
  assert.equal(status, 200, text);
}
async function keepsOut({ call }: Served, path: string, headers: Record<string, string> = {}): Promise<void> {
  const { status } = await call(path, { headers });
  assert.ok(status === 401 || status === 403, `let in with ${status}`);
}

const signed = (key: string, secret: string, at = Date.now()) =>
  createHash('sha256')
    .update(`${key}${secret}${Math.floor(at / 1000)}`)
    .digest('hex');

const signature = {
  algorithm: 'MasherySHA256',
  header: 'X-Signature',
  secret: 'a shared secret',
  allowed_clock_skew: 5,
  error_code: 418,
  error_message: 'sign it',
  use_param: true,
  param_name: 'sig',
};

export const tokens: readonly Effect[] = [
  {
    rows: 'authentication.enabled token.enabled,headerEnabled,headerName',
    promise: 'a key in the named header lets in, nothing else does',
    classic: () => keyed({ auth_configs: { authToken: { disable_header: false, auth_header_name: 'X-Key' } } }),
    oas: () => guarded({ header: { enabled: true, name: 'X-Key' } }, { type: 'apiKey', in: 'header', name: 'X-Key' }),
    async observe(at) {
      const key = await at.key();
      await letsIn(at, '/thing', { 'x-key': key });
      await keepsOut(at, '/thing', { 'x-key': `${key}x` });
      await keepsOut(at, '/thing', { authorization: key });
      await keepsOut(at, '/thing');
    },
  },
  {
    rows: 'token.queryEnabled,queryName,cookieEnabled,cookieName',
    promise: 'a key may come in the query or in a cookie',
    classic: () =>
      keyed({
        auth_configs: { authToken: { use_param: true, param_name: 'k', use_cookie: true, cookie_name: 'kc' } },
      }),
    oas: () => guarded({ query: { enabled: true, name: 'k' }, cookie: { enabled: true, name: 'kc' } }),
    async observe(at) {
      const key = await at.key();
      await letsIn(at, `/thing?k=${key}`);
      await letsIn(at, '/thing', { cookie: `kc=${key}` });
      await keepsOut(at, `/thing?other=${key}`);
      await keepsOut(at, '/thing', { cookie: `other=${key}` });
    },
  },
  {
    rows: 'token.signatureEnabled,signatureAlgorithm,signatureHeader,signatureSecret,signatureClockSkewSeconds,signatureErrorCode,signatureErrorMessage,signatureQueryEnabled,signatureQueryName',
    promise: 'a key has to be signed, in the header or the parameter named',
    classic: () => keyed({ auth_configs: { authToken: { validate_signature: true, signature } } }),
    oas: () =>
      guarded({
        signatureValidation: {
          enabled: true,
          algorithm: 'MasherySHA256',
          header: 'X-Signature',
          secret: signature.secret,
          allowedClockSkew: 5,
          errorCode: 418,
          errorMessage: 'sign it',
          query: { enabled: true, name: 'sig' },
        },
      }),
    async observe(at) {
      const key = await at.key();
      const good = signed(key, signature.secret);
      await letsIn(at, '/thing', { authorization: key, 'x-signature': good });
      await letsIn(at, `/thing?sig=${good}`, { authorization: key });
      for (const wrong of [signed(key, 'another'), signed(key, signature.secret, Date.now() - 60_000), '']) {
        const { status, body } = await at.call('/thing', { headers: { authorization: key, 'x-signature': wrong } });
        assert.deepEqual([status, body], [418, { error: 'sign it' }]);
      }
    },
  },
  {
    rows: 'authentication.stripAuthorizationData',
    promise: 'credentials do not reach the upstream',
    classic: () => keyed({ strip_auth_data: true }),
    oas: () => ({
      ...guarded({}),
      x: { server: { authentication: { ...guarded({}).x.server.authentication, stripAuthorizationData: true } } },
    }),
    async observe(at) {
      const key = await at.key();
      await letsIn(at, '/thing', { authorization: key });
      assert.equal(at.upstream.requests.at(-1)!.headers.authorization, undefined);
    },
  },
];

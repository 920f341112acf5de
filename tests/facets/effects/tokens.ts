import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { JsonObject } from '#base/json-tree.ts';
import { classic, entryChange, keepsOut, requireMethod as keyGuarded, letsIn } from '../auth-methods.ts';
import type { Effect, Served } from '../effect.ts';

/** Callers send a key. */

const requireTokenOas = (entry: JsonObject, component?: JsonObject) => keyGuarded('token', entry, {}, component);
const requireTokenClassic = (more: JsonObject = {}) => classic('token', more);

const signKey = (key: string, secret: string, at = Date.now()) =>
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

/** `unnamed` removes the parameter's name, which then defaults to that of the header. */
const signatureAsked = (unnamed: Record<string, JsonObject>) => async (at: Served) => {
  const key = await at.key();
  /** A little ahead of the clock here, as the skew allows. */
  const good = () => signKey(key, signature.secret, Date.now() + 4000);
  await letsIn(at, '/thing', { authorization: key, 'x-signature': good() });
  await letsIn(at, `/thing?sig=${good()}`, { authorization: key });
  for (const wrong of [signKey(key, 'another'), signKey(key, signature.secret, Date.now() - 60_000), '']) {
    const { status, body } = await at.call('/thing', { headers: { authorization: key, 'x-signature': wrong } });
    assert.deepEqual([status, body], [418, { error: 'sign it' }]);
  }
  await at.change(unnamed[at.format]!);
  await letsIn(at, `/thing?X-Signature=${good()}`, { authorization: key });
};

export const tokens: readonly Effect[] = [
  {
    rows: 'authentication.enabled token.headerEnabled,headerName',
    promise: 'a key is accepted only in the configured header',
    classic: () =>
      requireTokenClassic({ auth_configs: { authToken: { disable_header: false, auth_header_name: 'X-Key' } } }),
    oas: () =>
      requireTokenOas({ header: { enabled: true, name: 'X-Key' } }, { type: 'apiKey', in: 'header', name: 'X-Key' }),
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
    promise: 'a key is accepted in the query or in a cookie',
    classic: () =>
      requireTokenClassic({
        auth_configs: { authToken: { use_param: true, param_name: 'k', use_cookie: true, cookie_name: 'kc' } },
      }),
    oas: () => requireTokenOas({ query: { enabled: true, name: 'k' }, cookie: { enabled: true, name: 'kc' } }),
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
    promise: 'a key needs a signature in the configured header or parameter',
    classic: () => requireTokenClassic({ auth_configs: { authToken: { validate_signature: true, signature } } }),
    oas: () =>
      requireTokenOas({
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
    observe: signatureAsked({
      classic: { auth_configs: { authToken: { signature: { param_name: '' } } } },
      oas: entryChange({ signatureValidation: { query: { name: '' } } }),
    }),
  },
  {
    rows: 'authentication.stripAuthorizationData',
    promise: 'credentials are stripped from the upstream request',
    classic: () => requireTokenClassic({ strip_auth_data: true }),
    oas: () => keyGuarded('token', {}, { stripAuthorizationData: true }),
    async observe(at) {
      const key = await at.key();
      await letsIn(at, '/thing', { authorization: key });
      assert.equal(at.upstream.requests.at(-1)!.headers.authorization, undefined);
    },
  },
  {
    rows: 'olderAuth.disableHeader,headerName,queryEnabled,queryName,cookieEnabled,cookieName',
    promise: 'the legacy auth member sets the location of keys',
    classic: () =>
      requireTokenClassic({
        auth: {
          disable_header: false,
          auth_header_name: 'X-Old',
          use_param: true,
          param_name: 'old',
          use_cookie: true,
          cookie_name: 'older',
        },
      }),
    async observe(at) {
      const key = await at.key();
      await letsIn(at, '/thing', { 'x-old': key });
      await letsIn(at, `/thing?old=${key}`);
      await letsIn(at, '/thing', { cookie: `older=${key}` });
      await keepsOut(at, '/thing', { authorization: key });
      await at.change({ auth: { disable_header: true } });
      await keepsOut(at, '/thing', { 'x-old': key });
    },
  },
  {
    rows: 'olderAuth.signatureEnabled,signatureAlgorithm,signatureHeader,signatureSecret,signatureClockSkewSeconds,signatureErrorCode,signatureErrorMessage,signatureQueryEnabled,signatureQueryName',
    promise: 'the legacy auth member sets signatures, with the secret as a reference',
    settings: { 'secrets.values': JSON.stringify({ signing: signature.secret }) },
    classic: () =>
      requireTokenClassic({
        auth: { validate_signature: true, signature: { ...signature, secret: '$secret_conf.signing' } },
      }),
    observe: signatureAsked({ classic: { auth: { signature: { param_name: '' } } } }),
  },
];

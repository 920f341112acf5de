import type { JsonObject } from '#base/json-tree.ts';
import { eventually } from '../../support/upstream.ts';
import {
  basic,
  basicUser,
  classic,
  keepsOut,
  keepsOutWith,
  letsIn,
  letsInWith,
  now,
  requireMethod,
  signCall,
  signingKey,
} from '../auth-methods.ts';
import type { Effect, Served } from '../effect.ts';

/** Which of several ways in gives the session, and how long keys are kept. */

/** Each way in by what a definition calls it when it names the one that counts. Where it names none, the last does. */
const last = 'auth_token';
type Identity = 'basic_auth_user' | 'hmac_key' | typeof last;
const stateOf = (identity: Identity, counts: Identity): JsonObject => ({ is_inactive: identity !== counts });

/** Callers who show all three, of which only the one that counts is in force. */
async function fetchShown(at: Served, counts: Identity): Promise<Record<string, string>> {
  const user = await basicUser(at, stateOf('basic_auth_user', counts));
  const { text, headers } = signCall(await signingKey(at, stateOf('hmac_key', counts)));
  return {
    ...headers,
    authorization: basic(user),
    'x-signed': text,
    'x-key': await at.key(stateOf(last, counts)),
  };
}

const several = (counts: Identity): Effect => ({
  rows: 'authentication.baseIdentityProvider token.enabled',
  promise: `all of several authentication methods are required, and the session is that of ${counts}`,
  classic: () => ({
    ...classic('basic'),
    ...classic('hmac'),
    ...classic('token'),
    base_identity_provided_by: counts,
    auth_configs: { hmac: { auth_header_name: 'X-Signed' }, authToken: { auth_header_name: 'X-Key' } },
  }),
  oas: () => ({
    components: {
      securitySchemes: {
        words: { type: 'http', scheme: 'basic' },
        keys: { type: 'apiKey', in: 'header', name: 'X-Key' },
      },
    },
    security: [{ words: [], keys: [] }],
    x: {
      server: {
        authentication: {
          enabled: true,
          baseIdentityProvider: counts,
          hmac: { enabled: true, header: { enabled: true, name: 'X-Signed' } },
          securitySchemes: {
            words: { enabled: true, header: { enabled: true, name: 'Authorization' } },
            keys: { enabled: true },
          },
        },
      },
    },
  }),
  async observe(at) {
    const headers = await fetchShown(at, counts);
    await letsIn(at, '/thing', headers);
    for (const missing of ['authorization', 'x-signed', 'x-key']) {
      const { [missing]: _, ...rest } = headers;
      await keepsOut(at, '/thing', rest);
    }
    await keepsOut(at, '/thing', await fetchShown(at, last));
  },
});

export const sessions: readonly Effect[] = [
  several('basic_auth_user'),
  several('hmac_key'),
  {
    rows: 'authentication.sessionLifetimeEnabled,sessionLifetimeSeconds',
    promise: 'session_lifetime limits the lifetime of a key',
    classic: () => classic('token', { session_lifetime: 2 }),
    oas: () => requireMethod('token', {}, { customKeyLifetime: { enabled: true, value: '2s' } }),
    async observe(at) {
      const key = await at.key({ expires: now() + 3600 });
      await eventually(() => keepsOutWith(at, key));
    },
  },
  {
    rows: 'authentication.sessionLifetimeRespectsExpiry',
    promise: 'a key lives at least until its expiry when that is respected',
    classic: () => classic('token', { session_lifetime: 1, session_lifetime_respects_key_expiration: true }),
    oas: () => requireMethod('token', {}, { customKeyLifetime: { enabled: true, value: '1s', respectValidity: true } }),
    async observe(at) {
      const lasting = await at.key({ expires: now() + 3600 });
      const brief = await at.key({ expires: now() + 2 });
      await eventually(() => keepsOutWith(at, brief));
      await letsInWith(at, lasting);
    },
  },
];

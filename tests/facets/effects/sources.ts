import type { JsonObject } from '#base/json-tree.ts';
import * as ways from '../auth-methods.ts';
import type { Effect, Ground, Served } from '../effect.ts';

/** Where each way in looks for its credential. Keys have effects of their own. */
interface WayIn {
  readonly name: Exclude<ways.WayName, 'token'>;
  classic(at: Ground): JsonObject | Promise<JsonObject>;
  oas(at: Ground): JsonObject | Promise<JsonObject>;
  credential(at: Served): Promise<{ text: string; headers?: Record<string, string> }>;
}

const jwtKey = 'a shared secret of one caller, long enough';

const waysIn: readonly WayIn[] = [
  {
    name: 'basic',
    classic: () => ({}),
    oas: () => ({}),
    credential: async at => ({ text: ways.basic(await ways.basicUser(at)) }),
  },
  {
    name: 'hmac',
    classic: () => ({}),
    oas: () => ({}),
    credential: async at => ways.signCall(await ways.signingKey(at)),
  },
  {
    name: 'jwt',
    classic: () => ({ jwt_signing_method: 'hmac' }),
    oas: () => ({ signingMethod: 'hmac' }),
    credential: async at => {
      const kid = await at.key({ jwt_data: { secret: jwtKey } });
      return { text: ways.mintSharedToken({ sub: 'ann' }, jwtKey, kid) };
    },
  },
  {
    name: 'oauth',
    classic: () => ({ oauth_meta: { allowed_access_types: ['client_credentials'] } }),
    oas: () => ({ allowedAccessTypes: ['client_credentials'] }),
    credential: async at => {
      const client = await ways.oauthClient(at);
      const { access_token } = await ways.accessToken(at, client, { grant_type: 'client_credentials' });
      return { text: `Bearer ${access_token}` };
    },
  },
  {
    name: 'externalOAuth',
    classic: () => ({
      external_oauth: {
        enabled: true,
        providers: [{ jwt: { enabled: true, signing_method: 'ecdsa', source: ways.publicSource } }],
      },
    }),
    oas: () => ({ providers: [{ jwt: { enabled: true, signingMethod: 'ecdsa', source: ways.publicSource } }] }),
    credential: async () => ({ text: ways.bearer({ sub: 'ann' }) }),
  },
  {
    name: 'oidc',
    classic: async at => ({
      openid_options: {
        providers: [{ issuer: ways.issuerOf(at), client_ids: { [btoa('app')]: await ways.policyFor(at) } }],
      },
    }),
    oas: async at => ({
      providers: [
        {
          issuer: ways.issuerOf(at),
          clientToPolicyMapping: [{ clientId: 'app', policyId: await ways.policyFor(at) }],
        },
      ],
    }),
    credential: async at => {
      ways.publishIssuers(at, 'issuer');
      return { text: ways.bearer({ sub: 'ann', aud: 'app', iss: ways.issuerOf(at) }) };
    },
  },
];

const places = {
  disable_header: false,
  auth_header_name: 'X-Who',
  use_param: true,
  param_name: 'who',
  use_cookie: true,
  cookie_name: 'whom',
};

export const sources: readonly Effect[] = waysIn.map(way => ({
  rows: `${way.name}.enabled,headerEnabled,headerName,queryEnabled,queryName,cookieEnabled,cookieName`,
  promise: `the credential of ${way.name} is accepted only in the configured header, parameter or cookie`,
  classic: async at => ways.classic(way.name, { ...(await way.classic(at)), auth_configs: { [way.name]: places } }),
  oas: async at =>
    ways.requireMethod(way.name, {
      ...(await way.oas(at)),
      header: { enabled: true, name: 'X-Who' },
      query: { enabled: true, name: 'who' },
      cookie: { enabled: true, name: 'whom' },
    }),
  async observe(at) {
    const { text, headers = {} } = await way.credential(at);
    await ways.letsIn(at, '/thing', { ...headers, 'x-who': text });
    await ways.letsIn(at, `/thing?who=${encodeURIComponent(text)}`, headers);
    await ways.letsIn(at, '/thing', { ...headers, cookie: `whom=${text}` });
    await ways.keepsOut(at, '/thing', headers);
    await ways.keepsOut(at, '/thing', { ...headers, authorization: text });
    await ways.keepsOut(at, '/thing', { ...headers, cookie: `who=${text}` });
    await ways.keepsOut(at, `/thing?whom=${encodeURIComponent(text)}`, headers);
  },
}));

import assert from 'node:assert/strict';
import { createHmac, createPublicKey, verify } from 'node:crypto';
import type { JsonObject } from '#base/json-tree.ts';
import { makeCertificate } from '../../support/certificates.ts';
import type { Received, Upstream } from '../../support/upstream.ts';
import { global, snake, statusOf, version } from '../definitions.ts';
import type { Effect, Ground, Served } from '../effect.ts';

/** How the gateway signs in at upstreams, and signs what it sends. */

const basic = {
  enabled: true,
  username: 'gateway',
  password: 'pass:word',
  header: { enabled: true, name: 'X-Sign-In' },
};

const fetchForwarded = async (at: Served, headers: Record<string, string> = {}): Promise<Received> => {
  assert.equal(await statusOf(at, '/thing', headers), 200);
  return at.upstream.requests.at(-1)!;
};

/** Requests to authorization servers, by the id of the API. */
const issuers = new Map<string, Upstream>();
async function tokenUrl({ id, another }: Ground): Promise<string> {
  const issuer = await another();
  issuer.answer = (_request, response) =>
    response.end(JSON.stringify({ access_token: 'a-token', expires_in: 3600, tier: 'gold' }));
  issuers.set(id, issuer);
  return `${issuer.url}/token`;
}

const client = {
  clientId: 'gw',
  clientSecret: 'a secret',
  method: 'client_secret_post',
  scopes: ['a', 'b'],
  header: { enabled: true, name: 'X-Token' },
  extraMetadata: ['tier'],
};
const user = { username: 'someone', password: 'a password' };
/** Further members of the token response become context variables. */
const shown = { 'X-Tier': '$gw_context.tier' };

const grants = [
  { facet: 'upstreamClientCredentials', name: 'clientCredentials', type: 'client_credentials', more: {}, rows: '' },
  { facet: 'upstreamPassword', name: 'password', type: 'password', more: user, rows: ',username,password' },
] as const;

const grantEffects = grants.map(
  ({ facet, name, type, more, rows }): Effect => ({
    rows:
      'upstreamAuth.enabled,oauthEnabled,allowedAuthorizeTypes ' +
      `${facet}.clientId,clientSecret,tokenUrl,method,scopes,headerEnabled,headerName,extraMetadata${rows}`,
    promise: `the upstream receives a fetched OAuth token (${name})`,
    classic: async at => {
      const own = snake({ ...client, ...more, tokenUrl: await tokenUrl(at) });
      const oauth = { enabled: true, allowed_authorize_types: [name], [type]: own };
      return {
        enable_context_vars: true,
        upstream_auth: { enabled: true, oauth },
        ...version({ global_headers: shown }),
      };
    },
    oas: async at => {
      const own = { ...client, ...more, tokenUrl: await tokenUrl(at) };
      const oauth = { enabled: true, allowedAuthorizeTypes: [name], [name]: own };
      const add = Object.entries(shown).map(([header, value]) => ({ name: header, value }));
      const base = global({ contextVariables: { enabled: true }, transformRequestHeaders: { enabled: true, add } });
      return { x: { ...base.x, upstream: { authentication: { enabled: true, oauth } } } };
    },
    async observe(at) {
      const { headers } = await fetchForwarded(at, { authorization: 'mine' });
      const expected = ['mine', 'Bearer a-token', 'gold'];
      assert.deepEqual([headers.authorization, headers['x-token'], headers['x-tier']], expected);
      const [asked] = issuers.get(at.id)!.requests;
      assert.deepEqual([asked!.url, asked!.headers.authorization], ['/token', undefined]);
      assert.deepEqual(Object.fromEntries(new URLSearchParams(asked!.body)), {
        grant_type: type,
        ...more,
        scope: 'a b',
        client_id: 'gw',
        client_secret: 'a secret',
      });
    },
  }),
);

const signed = { enabled: true, keyId: 'my-key', headers: ['X-Own', '(request-target)'], signatureHeader: 'X-Signed' };
const signing = (more: JsonObject): { classic: JsonObject; oas: { x: JsonObject } } => {
  const { enabled, headers, ...others } = { ...signed, ...more };
  return {
    classic: { request_signing: { is_enabled: enabled, header_list: headers, ...snake(others) } },
    oas: { x: { upstream: { authentication: { enabled: true, requestSigning: { ...signed, ...more } } } } },
  };
};
/** The signature of what arrived, checked as upstreams do. */
async function checkSigned(at: Served, algorithm: string, check: (text: string, signature: string) => boolean) {
  const { headers, method, url } = await fetchForwarded(at, { 'x-own': 'mine' });
  const parts = Object.fromEntries(
    [...String(headers['x-signed']).matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );
  assert.deepEqual([parts.keyId, parts.algorithm, parts.headers], ['my-key', algorithm, 'x-own (request-target)']);
  const text = `x-own: mine\n(request-target): ${method.toLowerCase()} ${url}`;
  assert.ok(check(text, decodeURIComponent(parts.signature!)));
}

/** Certificates by the id of the API. */
const signers = new Map<string, string>();
async function uploadSigner({ app, id }: Ground) {
  const { certPem, keyPem } = makeCertificate({ cn: 'Signer', keyType: 'rsa' });
  signers.set(id, certPem);
  const { body } = await app.ask('POST', '/api/certs', { body: certPem + keyPem });
  return signing({ algorithm: 'rsa-sha256', certificateId: body.id });
}

export const upstreamAuth: readonly Effect[] = [
  {
    rows: 'upstreamAuth.enabled,basicEnabled,basicUsername,basicPassword,basicHeaderEnabled,basicHeaderName',
    promise: 'the upstream receives basic authentication',
    classic: () => ({ upstream_auth: { enabled: true, basic_auth: basic } }),
    oas: () => ({ x: { upstream: { authentication: { enabled: true, basicAuth: basic } } } }),
    async observe(at) {
      const { headers } = await fetchForwarded(at, { authorization: 'mine' });
      const value = `Basic ${Buffer.from('gateway:pass:word').toString('base64')}`;
      assert.deepEqual([headers.authorization, headers['x-sign-in']], ['mine', value]);
    },
  },
  ...grantEffects,
  {
    rows: 'requestSigning.enabled,algorithm,keyId,secret,headers,signatureHeader',
    promise: 'upstream requests are signed with a shared secret',
    classic: () => signing({ algorithm: 'hmac-sha384', secret: 'shared' }).classic,
    oas: () => signing({ algorithm: 'hmac-sha384', secret: 'shared' }).oas,
    observe: at =>
      checkSigned(
        at,
        'hmac-sha384',
        (text, signature) => createHmac('sha384', 'shared').update(text).digest('base64') === signature,
      ),
  },
  {
    rows: 'requestSigning.certificateId,algorithm',
    promise: 'upstream requests are signed with the key of a certificate',
    classic: async at => (await uploadSigner(at)).classic,
    oas: async at => (await uploadSigner(at)).oas,
    observe: at =>
      checkSigned(at, 'rsa-sha256', (text, signature) =>
        verify('sha256', Buffer.from(text), createPublicKey(signers.get(at.id)!), Buffer.from(signature, 'base64')),
      ),
  },
];

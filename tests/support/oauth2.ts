import assert from 'node:assert/strict';
import { createPublicId } from '#base/ids.ts';
import type { JsonObject } from '#base/json-tree.ts';
import type { TestApp } from './app.ts';
import { mint, pemOf, rsaPair } from './tokens.ts';
import { waitUntilApplied } from './traffic.ts';
import type { Upstream } from './upstream.ts';

/** OpenAPI definitions with signed tokens, for tests of scope checks and token exchange. */
export const issuer = 'https://issuer.example';
export const signer = rsaPair();
export const tokenOf = (claims: object = {}, key = signer.privateKey): string =>
  mint({ sub: 'ann', iss: issuer, exp: Math.floor(Date.now() / 1000) + 600, ...claims }, key);

const components: JsonObject = {
  jwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  scopes: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: '/token', scopes: { read: '', extra: '' } } } },
  key: { type: 'apiKey', in: 'header', name: 'X-Key' },
  other: { type: 'apiKey', in: 'header', name: 'X-Other' },
  basic: { type: 'http', scheme: 'basic' },
  external: { type: 'oauth2', flows: {} },
};

export interface Wanted {
  /** Members of the document. */
  readonly document?: JsonObject;
  /** Members of the scheme with scope checks and token exchange. */
  readonly scheme?: JsonObject;
  /** Members of `server.authentication`, and of its schemes. */
  readonly authentication?: JsonObject;
  readonly schemes?: JsonObject;
  readonly server?: JsonObject;
  readonly operations?: JsonObject;
  readonly global?: JsonObject;
}

export const header = { enabled: true, name: 'Authorization' };

/** A definition that lets signed tokens in. */
export function documentOf(
  upstream: Pick<Upstream, 'url'>,
  id: string,
  policy: string,
  wanted: Wanted = {},
): JsonObject {
  const { document = {}, scheme, authentication, schemes, server, operations = {}, global = {} } = wanted;
  const source = Buffer.from(pemOf(signer.publicKey)).toString('base64');
  const securitySchemes = {
    jwt: { enabled: true, header, source, signingMethod: 'rsa', defaultPolicies: [policy] },
    ...(scheme && { scopes: { enabled: true, header, ...scheme } }),
    ...schemes,
  };
  return {
    openapi: '3.0.3',
    info: { title: id, version: '1' },
    paths: {},
    components: { securitySchemes: components },
    security: [{ jwt: [], ...(scheme && { scopes: [] }) }],
    ...document,
    'x-gw-api-gateway': {
      info: { id, name: id, state: { active: true } },
      upstream: { url: upstream.url },
      server: {
        listenPath: { value: `/${id}/`, strip: true },
        authentication: { enabled: true, securitySchemes, ...authentication },
        ...server,
      },
      middleware: { operations, global },
    },
  };
}

export async function policyFor(app: TestApp, apiId: string): Promise<string> {
  const access_rights = { [apiId]: { api_id: apiId, versions: [''] } };
  const body = { name: apiId, access_rights, rate: 1000, per: 1, active: true, state: 'active' };
  const made = await app.ask('POST', '/api/portal/policies', { body });
  assert.equal(made.status, 200, made.text);
  return made.body.Message;
}

/** Publishes such a definition; what comes back calls it. */
export async function publishTokens(app: TestApp, upstream: Pick<Upstream, 'url'>, wanted: Wanted = {}) {
  const id = `o${createPublicId()}`;
  const policy = await policyFor(app, id);
  const reply = await app.ask('POST', '/gw/apis/oas', { body: documentOf(upstream, id, policy, wanted) });
  assert.equal(reply.status, 200, reply.text);
  await waitUntilApplied(app);
  const url = `${app.url.gateway}/${id}`;
  async function call(path: string, headers: Record<string, string> = {}, init: RequestInit = {}) {
    const given = await fetch(url + path, { headers, ...init });
    const text = await given.text();
    return { status: given.status, headers: given.headers, text, body: parseJson(text) };
  }
  return { id, url, policy, call, as: (claims: object) => ({ authorization: `Bearer ${tokenOf(claims)}` }) };
}

function parseJson(text: string): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A handler of the OpenAPI format that calls an address when something happens. */
export const hook = (trigger: string, url: string): JsonObject => ({
  eventHandlers: [
    {
      enabled: true,
      trigger,
      type: 'webhook',
      name: trigger,
      url,
      method: 'POST',
      cooldownPeriod: '0s',
      bodyTemplate: '',
    },
  ],
});

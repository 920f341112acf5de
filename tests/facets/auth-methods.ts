import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createPublicId } from '#base/ids.ts';
import type { JsonObject } from '#base/json-tree.ts';
import { ecPair, jwkOf, mint, pemOf } from '../support/tokens.ts';
import { waitUntilApplied } from '../support/traffic.ts';
import type { Upstream } from '../support/upstream.ts';
import type { Ground, Served } from './effect.ts';

/** Shared by effects of authentication: method of each method, credentials, and expected results. */

const components: Readonly<Record<string, JsonObject>> = {
  token: { type: 'apiKey', in: 'header', name: 'Authorization' },
  jwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  basic: { type: 'http', scheme: 'basic' },
  oauth: { type: 'oauth2', flows: {} },
  externalOAuth: { type: 'oauth2', flows: {} },
};

/** An OpenAPI document with one auth method. `entry` are members of its scheme, `more` those of all schemes. */
export function requireMethod(way: string, entry: JsonObject, more: JsonObject = {}, component = components[way]) {
  const method = { enabled: true, ...entry };
  const own = component ? { securitySchemes: { mine: method } } : { [way]: method };
  return {
    ...(component && { components: { securitySchemes: { mine: component } }, security: [{ mine: [] }] }),
    x: { server: { authentication: { enabled: true, ...own, ...more } } },
  };
}

/** A change of that entry, in the gateway's part. */
export const entryChange = (entry: JsonObject): JsonObject => ({
  server: { authentication: { securitySchemes: { mine: entry } } },
});

/** Members of a classic definition with one auth method; `config` is the member with the credential sources. */
const classicOf = {
  token: { use_standard_auth: true },
  jwt: { enable_jwt: true },
  basic: { use_basic_auth: true },
  oauth: { use_oauth2: true },
  externalOAuth: { external_oauth: { enabled: true } },
  hmac: { enable_signature_checking: true },
  oidc: { use_openid: true },
} as const;
export type WayName = keyof typeof classicOf;
export const classic = (way: WayName, more: JsonObject = {}): JsonObject => ({
  use_keyless: false,
  ...classicOf[way],
  ...more,
});

type Headers = Record<string, string>;

export async function letsIn({ call }: Served, path: string, headers: Headers = {}, init: RequestInit = {}) {
  const answer = await call(path, { headers, ...init });
  assert.equal(answer.status, 200, answer.text);
  return answer;
}
export async function keepsOut({ call }: Served, path: string, headers: Headers = {}, init: RequestInit = {}) {
  const { status, text } = await call(path, { headers, ...init });
  assert.ok([400, 401, 403].includes(status), `${status} ${text}`);
}
/** Each credential in turn, as it is sent in the Authorization header. */
export async function letsInWith(at: Served, ...credentials: readonly string[]): Promise<void> {
  for (const authorization of credentials) await letsIn(at, '/thing', { authorization });
}
export async function keepsOutWith(at: Served, ...credentials: readonly string[]): Promise<void> {
  for (const authorization of credentials) await keepsOut(at, '/thing', { authorization });
}

/** Rights to the API, or to another one. */
export const rightsTo = (id: string): JsonObject => ({ [id]: { api_id: id, api_name: id, versions: ['Default', ''] } });

export async function createObject({ app }: Ground, path: string, body: JsonObject) {
  const answer = await app.ask('POST', path, { body });
  assert.equal(answer.status, 200, answer.text);
  await waitUntilApplied(app);
  return answer.body;
}

export async function policyFor(at: Ground, apiId = at.id, more: JsonObject = {}): Promise<string> {
  const policy = {
    name: createPublicId(),
    id: createPublicId(),
    active: true,
    state: 'active',
    access_rights: rightsTo(apiId),
  };
  return (await createObject(at, '/api/portal/policies', { ...policy, ...more })).Message;
}

/** A policy that opens something else. */
export const otherPolicy = (at: Ground): Promise<string> => policyFor(at, `other-${at.id}`);

/** Lets the upstream serve pages of its own beside its echo; a page may look at the body it is sent. */
export function publishes(upstream: Upstream, pages: Readonly<Record<string, (body: string) => unknown>>): void {
  upstream.answer = ({ method, url = '', headers }, response, body) => {
    const page = pages[url];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(page ? page(body) : { method, url, headers, body }));
  };
}

/** Who signs tokens here. */
export const signer = ecPair();
export const publicSource = Buffer.from(pemOf(signer.publicKey)).toString('base64');
export const now = () => Math.floor(Date.now() / 1000);
export const mintSignedToken = (claims: JsonObject, header: object = { kid: 'one' }, key = signer.privateKey): string =>
  mint({ exp: now() + 600, ...claims }, key, { alg: 'ES256', header });
export const mintSharedToken = (claims: JsonObject, secret: string, kid?: string): string =>
  mint({ exp: now() + 600, ...claims }, secret, { alg: 'HS256', header: kid === undefined ? {} : { kid } });
export const bearer = (claims: JsonObject): string => `Bearer ${mintSignedToken(claims)}`;
export const keySet = (kid = 'one', key = signer.publicKey) => ({ keys: [jwkOf(key, { kid })] });

/** An OpenID provider of the API's own, served by the upstream. */
export const issuerOf = ({ upstream, id }: Ground, name = 'issuer') => `${upstream.url}/${id}/${name}`;
export function publishIssuers(at: Ground, ...names: readonly string[]): void {
  const pages = names.flatMap(name => [
    [
      `/${at.id}/${name}/.well-known/openid-configuration`,
      () => ({ issuer: issuerOf(at, name), jwks_uri: `${issuerOf(at, name)}/keys` }),
    ],
    [`/${at.id}/${name}/keys`, () => keySet()],
  ]);
  publishes(at.upstream, Object.fromEntries(pages));
}

export const password = 'open:sesame';
export const basic = (user: string, word = password) => `Basic ${Buffer.from(`${user}:${word}`).toString('base64')}`;
export async function basicUser(at: Ground, more: JsonObject = {}): Promise<string> {
  const user = `user-${createPublicId()}`;
  const key = { access_rights: rightsTo(at.id), basic_auth_data: { password }, ...more };
  await createObject(at, `/api/apis/keys/basic/${user}`, key);
  return user;
}

/** A call signed over its date alone. */
export function signCall(keyId: string, algorithm = 'hmac-sha256', atMs = Date.now()) {
  const date = new Date(atMs).toUTCString();
  const signature = createHmac(algorithm.slice('hmac-'.length), hmacSecret).update(`x-aux-date: ${date}`);
  return {
    text: `Signature keyId="${keyId}",algorithm="${algorithm}",signature="${signature.digest('base64')}"`,
    headers: { 'x-aux-date': date },
  };
}
const hmacSecret = 'a secret that calls are signed with';
export const signingKey = (at: Served, more: JsonObject = {}) =>
  at.key({ hmac_enabled: true, hmac_string: hmacSecret, ...more });

export const redirect = 'https://app.example/back';
/** A client of the API's own OAuth provider. */
export async function oauthClient(at: Ground, more: JsonObject = {}): Promise<{ id: string; secret: string }> {
  const body = { redirect_uri: redirect, policy_id: await policyFor(at), ...more };
  const { client_id: id, secret } = await createObject(at, `/api/apis/oauth/${at.id}`, body);
  return { id, secret };
}
export async function accessToken(at: Served, { id, secret }: { id: string; secret: string }, form: Headers) {
  const body = new URLSearchParams(form);
  const { status, body: given } = await at.call('/oauth/token', {
    method: 'POST',
    body,
    headers: { authorization: basic(id, secret) },
  });
  return { status, ...given } as { status: number; access_token?: string; refresh_token?: string; error?: string };
}

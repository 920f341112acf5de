import { createHash } from 'node:crypto';
import { constantTimeEqual } from '#base/constant-time.ts';
import type { OutboundClient, OutboundRequest } from '#base/http-client/client.ts';
import { createSecretText } from '#base/ids.ts';
import { isObject, objectOrEmpty } from '#base/json-tree.ts';
import { tryParseJson } from '#base/try-parse-json.ts';
import { type AssertedUser, readGroups } from '../asserted-user.ts';
import { maxProviderBytes, providerTimeoutMs } from '../document-cache.ts';
import type { SignOnFlow } from '../flow-cookie.ts';
import { SignOnRefusal } from '../problems.ts';
import { type OpenIdConnectConfig, readOpenIdConnect } from '../profiles/provider-configs.ts';
import type { IdentityProfile } from '../profiles/schema.ts';
import { type DiscoverProvider, type OpenIdProvider, parseProviderJson } from './discovery.ts';
import { type Claims, findIdTokenFault, type VerifySignedToken } from './id-token.ts';

export interface CodeFlowServices {
  outbound: OutboundClient;
  discoverProvider: DiscoverProvider;
  verifySignedToken: VerifySignedToken;
}

/** Secrets of a new flow. */
export const createFlowSecrets = () => ({
  state: createSecretText(),
  nonce: createSecretText(),
  verifier: createSecretText(),
});

/** PKCE code challenge (RFC 7636, section 4.2). */
export const toCodeChallenge = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');

/** Authorization request (RFC 6749, section 4.1.1), with PKCE (RFC 7636) and a nonce. */
export async function buildAuthorizationUrl(
  { discoverProvider }: Pick<CodeFlowServices, 'discoverProvider'>,
  profile: IdentityProfile,
  flow: SignOnFlow,
  redirectUrl: string,
): Promise<string> {
  const config = readOpenIdConnect(profile.ProviderConfig);
  const url = new URL((await discoverProvider(profile.OrgID, config.DiscoverURL)).authorizationEndpoint);
  const parameters = {
    response_type: 'code',
    client_id: config.Key,
    redirect_uri: redirectUrl,
    scope: config.Scopes.join(' '),
    state: flow.state,
    nonce: flow.nonce,
    code_challenge: toCodeChallenge(flow.verifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

export interface LogoutRequest {
  /** Page that the provider sends the browser to. */
  readonly returnUrl: string;
  /** Of the sign-on; undefined where the session has none. */
  readonly idToken: string | undefined;
}

/**
 * Logout request (OpenID Connect RP-Initiated Logout 1.0, section 2): the ID token of the sign-on names the session that
 * ends; the provider may ask the user, and sends the browser back. Undefined where it has no such endpoint.
 */
export async function buildLogoutUrl(
  { discoverProvider }: Pick<CodeFlowServices, 'discoverProvider'>,
  profile: IdentityProfile,
  { returnUrl, idToken }: LogoutRequest,
): Promise<string | undefined> {
  const config = readOpenIdConnect(profile.ProviderConfig);
  const { endSessionEndpoint, issuer } = await discoverProvider(profile.OrgID, config.DiscoverURL);
  if (!endSessionEndpoint) return undefined;
  const url = new URL(endSessionEndpoint);
  url.searchParams.set('client_id', config.Key);
  url.searchParams.set('post_logout_redirect_uri', returnUrl);
  if (idToken !== undefined && readIssuer(idToken) === issuer) url.searchParams.set('id_token_hint', idToken);
  return url.href;
}

/** Issuer of an ID token that was verified at the sign-on: a profile may name another provider since then. */
const readIssuer = (idToken: string): unknown =>
  objectOrEmpty(tryParseJson(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString())).iss;

/** Authorization response: verifies it, redeems the code and reads the user from the ID token. */
export async function completeCodeFlow(
  services: CodeFlowServices,
  profile: IdentityProfile,
  flow: SignOnFlow,
  query: Readonly<Record<string, unknown>>,
  redirectUrl: string,
): Promise<AssertedUser> {
  const config = readOpenIdConnect(profile.ProviderConfig);
  const provider = await services.discoverProvider(profile.OrgID, config.DiscoverURL);
  const code = checkResponse(provider, flow, query);
  const client = { orgId: profile.OrgID, config, provider };
  const tokens = await redeemCode(services, client, { code, redirectUrl, verifier: flow.verifier });
  const { id_token: text, access_token: accessToken } = tokens;
  if (typeof text !== 'string') throw new SignOnRefusal('the token response has no ID token');
  const claims = await services.verifySignedToken({ orgId: profile.OrgID, jwksUrl: provider.jwksUrl, text });
  if (!claims) throw new SignOnRefusal('the ID token is invalid');
  const fault = findIdTokenFault(claims, { issuer: provider.issuer, clientId: config.Key, nonce: flow.nonce });
  if (fault) throw new SignOnRefusal(`ID token: ${fault}`);
  const userinfo = await readUserinfo(services, client, claims, accessToken);
  return { ...toAssertedUser(profile, provider, mergeClaims(claims, userinfo)), idToken: text };
}

/** State binds the response to the browser; the issuer (RFC 9207) to the provider of the request. */
function checkResponse(provider: OpenIdProvider, flow: SignOnFlow, query: Readonly<Record<string, unknown>>): string {
  const { state, code, error, iss } = query;
  if (typeof state !== 'string' || !constantTimeEqual(state, flow.state)) throw new SignOnRefusal('state mismatch');
  if (iss === undefined ? provider.sendsIssuer : iss !== provider.issuer) throw new SignOnRefusal('issuer mismatch');
  if (error !== undefined) throw new SignOnRefusal(`the provider responded with ${String(error).slice(0, 100)}`);
  if (typeof code !== 'string' || code === '') throw new SignOnRefusal('authorization code missing');
  return code;
}

interface OpenIdClient {
  readonly orgId: string;
  readonly config: OpenIdConnectConfig;
  readonly provider: OpenIdProvider;
}

async function redeemCode(
  services: CodeFlowServices,
  { orgId, config, provider }: OpenIdClient,
  { code, redirectUrl, verifier }: { code: string; redirectUrl: string; verifier: string },
): Promise<Record<string, unknown>> {
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUrl,
    code_verifier: verifier,
  });
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
  if (config.Secret !== '' && provider.acceptsBasic) headers.authorization = formatBasic(config.Key, config.Secret);
  else {
    form.set('client_id', config.Key);
    if (config.Secret !== '') form.set('client_secret', config.Secret);
  }
  return fetchJson(services, { url: provider.tokenEndpoint, method: 'POST', headers, body: form.toString(), orgId });
}

/** RFC 6749, section 2.3.1: both parts are form-encoded. */
const formatBasic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${encodeForm(id)}:${encodeForm(secret)}`).toString('base64')}`;
const encodeForm = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);

/** Claims of the userinfo endpoint; it must be about the same subject (OpenID Connect Core 1.0, section 5.3.2). */
async function readUserinfo(
  services: CodeFlowServices,
  { orgId, config, provider }: OpenIdClient,
  { sub }: Claims,
  accessToken: unknown,
): Promise<Claims> {
  const url = provider.userinfoEndpoint;
  if (config.SkipUserInfoRequest || url === undefined || typeof accessToken !== 'string') return {};
  const claims = await fetchJson(services, { url, headers: { authorization: `Bearer ${accessToken}` }, orgId });
  if (claims.sub !== sub) throw new SignOnRefusal('userinfo: subject mismatch');
  return claims;
}

async function fetchJson(
  { outbound }: CodeFlowServices,
  request: Pick<OutboundRequest, 'url' | 'method' | 'headers' | 'body' | 'orgId'>,
): Promise<Record<string, unknown>> {
  const { status, body } = await outbound.fetch({
    ...request,
    headers: { accept: 'application/json', ...request.headers },
    audience: 'operator',
    timeoutMs: providerTimeoutMs,
    maxBytes: maxProviderBytes,
  });
  if (status !== 200) throw new SignOnRefusal(`an endpoint of the provider responded with status ${status}`);
  const value = parseProviderJson(body);
  if (!isObject(value)) throw new SignOnRefusal('an endpoint of the provider responded without a JSON object');
  return value;
}

const readText = (value: unknown) => (typeof value === 'string' ? value : '');

/** Claims of the ID token before those of userinfo. `email_verified` is about `email` of the same document. */
function mergeClaims(claims: Claims, userinfo: Claims): Claims {
  const source = claims.email === undefined ? userinfo : claims;
  const { email, email_verified = claims.email === userinfo.email ? userinfo.email_verified : undefined } = source;
  return { ...userinfo, ...claims, email, email_verified };
}

/** `email_verified` is about the claim `email` alone: another claim is never verified. */
function toAssertedUser(profile: IdentityProfile, { issuer }: OpenIdProvider, claims: Claims): AssertedUser {
  const { CustomEmailField, CustomUserIDField, CustomUserGroupField, UserGroupSeparator } = profile;
  const emailClaim = CustomEmailField || 'email';
  return {
    issuer,
    subject: readText(claims[CustomUserIDField || 'sub']),
    isSubjectStable: true,
    email: readText(claims[emailClaim]),
    isEmailVerified: emailClaim === 'email' && claims.email_verified === true,
    displayName: readText(claims.name) || readText(claims.preferred_username),
    groups: CustomUserGroupField === '' ? [] : readGroups(claims[CustomUserGroupField], UserGroupSeparator),
    claims,
  };
}

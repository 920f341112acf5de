import { createHash } from 'node:crypto';
import { constantTimeEqual } from '#base/constant-time.ts';
import type { OutboundClient, OutboundRequest } from '#base/http-client/client.ts';
import { createSecretText } from '#base/ids.ts';
import { isObject } from '#base/json-tree.ts';
import { type AssertedUser, readGroups } from '../asserted-user.ts';
import type { SignOnFlow } from '../flow-cookie.ts';
import { SignOnRefusal } from '../problems.ts';
import type { IdentityProfile } from '../profile-schema.ts';
import { type OpenIdConnectConfig, readOpenIdConnect } from '../provider-configs.ts';
import {
  type Discovery,
  maxProviderBytes,
  type OpenIdProvider,
  parseProviderJson,
  providerTimeoutMs,
} from './discovery.ts';
import { type Claims, findIdTokenFault, type VerifySignedToken } from './id-token.ts';

export interface CodeFlowServices {
  outbound: OutboundClient;
  discovery: Discovery;
  verifySignedToken: VerifySignedToken;
}

/** Secrets of a new flow. */
export const createFlowSecrets = () => ({
  state: createSecretText(),
  nonce: createSecretText(),
  verifier: createSecretText(),
});

const toChallenge = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');

/** Authorization request (RFC 6749, section 4.1.1), with PKCE (RFC 7636) and a nonce. */
export async function buildAuthorizationUrl(
  { discovery }: Pick<CodeFlowServices, 'discovery'>,
  profile: IdentityProfile,
  flow: SignOnFlow,
  redirectUrl: string,
): Promise<string> {
  const config = readOpenIdConnect(profile.ProviderConfig);
  const url = new URL((await discovery(profile.OrgID, config.DiscoverURL)).authorizationEndpoint);
  const parameters = {
    response_type: 'code',
    client_id: config.Key,
    redirect_uri: redirectUrl,
    scope: config.Scopes.join(' '),
    state: flow.state,
    nonce: flow.nonce,
    code_challenge: toChallenge(flow.verifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** Authorization response: verifies it, redeems the code and reads the user from the ID token. */
export async function completeCodeFlow(
  services: CodeFlowServices,
  profile: IdentityProfile,
  flow: SignOnFlow,
  query: Readonly<Record<string, unknown>>,
  redirectUrl: string,
): Promise<AssertedUser> {
  const config = readOpenIdConnect(profile.ProviderConfig);
  const provider = await services.discovery(profile.OrgID, config.DiscoverURL);
  const code = checkResponse(provider, flow, query);
  const client = { orgId: profile.OrgID, config, provider };
  const tokens = await redeemCode(services, client, { code, redirectUrl, verifier: flow.verifier });
  const { id_token: text, access_token: accessToken } = tokens;
  if (typeof text !== 'string') throw new SignOnRefusal('the token response has no ID token');
  const claims = await services.verifySignedToken({ orgId: profile.OrgID, jwksUrl: provider.jwksUrl, text });
  if (!claims) throw new SignOnRefusal('the ID token is invalid');
  const fault = findIdTokenFault(claims, { issuer: provider.issuer, clientId: config.Key, nonce: flow.nonce });
  if (fault) throw new SignOnRefusal(`the ID token has ${fault}`);
  const userinfo = await readUserinfo(services, client, claims, accessToken);
  return toAssertedUser(profile, { ...userinfo, ...claims });
}

/** State binds the response to the browser; the issuer (RFC 9207) to the provider of the request. */
function checkResponse(provider: OpenIdProvider, flow: SignOnFlow, query: Readonly<Record<string, unknown>>): string {
  const { state, code, error, iss } = query;
  if (typeof state !== 'string' || !constantTimeEqual(state, flow.state)) throw new SignOnRefusal('another state');
  if (iss === undefined ? provider.sendsIssuer : iss !== provider.issuer) throw new SignOnRefusal('another issuer');
  if (error !== undefined) throw new SignOnRefusal(`the provider responded with ${String(error).slice(0, 100)}`);
  if (typeof code !== 'string' || code === '') throw new SignOnRefusal('no code');
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
  if (claims.sub !== sub) throw new SignOnRefusal('the userinfo response is about another subject');
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

/** `email_verified` is about the claim `email` alone: another claim is never verified. */
function toAssertedUser(profile: IdentityProfile, claims: Claims): AssertedUser {
  const { CustomEmailField, CustomUserIDField, CustomUserGroupField, UserGroupSeparator } = profile;
  const emailClaim = CustomEmailField || 'email';
  return {
    subject: readText(claims[CustomUserIDField || 'sub']),
    email: readText(claims[emailClaim]),
    isEmailVerified: emailClaim === 'email' && claims.email_verified === true,
    displayName: readText(claims.name) || readText(claims.preferred_username),
    groups: CustomUserGroupField === '' ? [] : readGroups(claims[CustomUserGroupField], UserGroupSeparator),
  };
}

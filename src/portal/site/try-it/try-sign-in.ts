import { constantTimeEqual } from '#base/constant-time.ts';
import { createFlowSecrets, toCodeChallenge } from '#people/single-sign-on/oidc/code-flow.ts';
import { createSealedCookie, flowTtlSeconds } from '#people/single-sign-on/sealed-cookie.ts';
import { addPortalRedirect } from '../../oauth-clients/redirect-change.ts';
import type { StoredOauthClient } from '../../oauth-clients/schema.ts';
import { readPortalUrl } from '../../portal-url.ts';
import { present } from '../../problems.ts';
import { isProviderFailure } from '../../providers/provider-client.ts';
import { auditForm } from '../audit.ts';
import { html } from '../markup.ts';
import {
  type SiteDocument,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
  trySignInCallbackPath,
} from '../page.ts';
import { type FoundDocument, findDocument } from '../reference/found-document.ts';
import { canTry, readTryLimits, toUserLimitKey } from './try-call.ts';
import { findTryCredential } from './try-credentials.ts';
import { trySignInPath } from './try-form.ts';
import { saveUserToken, toTokenOwner } from './try-token.ts';

/** Authorization code with PKCE for calls of the reference: the token of the user stays on the server. */

const errorCodePattern = /^[\w-]{1,60}$/;

/** State of one sign-in, in the browser that began it. */
interface TryFlow {
  readonly state: string;
  /** PKCE code verifier (RFC 7636). */
  readonly verifier: string;
  readonly issuer: string;
  /** The provider names itself in its responses (RFC 9207): one without the name is not its own. */
  readonly sendsIssuer: boolean;
  readonly redirectUrl: string;
  readonly userId: number;
  readonly clientId: number;
  readonly credentialId: number;
  /** Session and client that the token is for. */
  readonly ownerId: string;
  readonly next: string;
  readonly expiresAtMs: number;
}

const openCookie = ({ vault, clock }: SiteServices) =>
  createSealedCookie<TryFlow>(vault, clock, {
    name: 'portal-try-it',
    purpose: 'portal try-it flow',
    path: trySignInPath,
  });

/** Fixed address of this portal: it is never taken from a request. */
const toRedirectUrl = ({ settings }: SiteServices) => readPortalUrl(settings) + trySignInCallbackPath;

/** Page with the form that began the sign-in. */
const toFormUrl = ({ chosen, url }: FoundDocument, operation: string) =>
  chosen.slot === 'graphql' ? url : `${url}/${encodeURIComponent(operation)}`;

/** Sends the user to the identity provider; what the visitor cannot call is not found. */
async function begin(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const { form, visitor, isSecure } = request;
  const params = { path: form('product'), api: form('api'), operation: form('operation') };
  const found = await findDocument({ ...request, params }, services);
  const product = found?.offer.product;
  if (!product || !canTry(product, visitor, services)) return undefined;
  const next = toFormUrl(found, params.operation);
  const credential = await findTryCredential(form('credential'), product, visitor, services);
  if (!credential?.client || !credential.needsSignIn)
    return renderFailure('The credential that you have chosen needs no sign-in: send the request.', 422, next);
  const userId = visitor.user!.ID;
  try {
    const { flow, url } = await readTryLimits(services).run(toUserLimitKey(userId), () =>
      prepare(credential.client!, product.ProviderID, services),
    );
    const ownerId = toTokenOwner(visitor.sessionId, flow.client);
    const { client, ...secrets } = flow;
    const expiresAtMs = services.clock.now() + flowTtlSeconds * 1000;
    const ids = { userId, clientId: client.ID, credentialId: credential.id, ownerId };
    const state = { ...secrets, ...ids, next, expiresAtMs };
    await auditForm('signInForToken', request, visitor.user, 200, services, String(credential.id));
    return { ...renderContinue(url), cookies: [openCookie(services).format(state, isSecure)] };
  } catch (error) {
    if (!isProviderFailure(error)) throw error;
    services.log.warn({ reason: error.message }, 'sign-in of try-it refused');
    return renderFailure('The identity provider does not accept a sign-in for this credential.', 422, next);
  }
}

/** Authorization request (RFC 6749 section 4.1.1) with PKCE, of a client that knows the page of the portal. */
async function prepare(client: StoredOauthClient, providerId: number, services: SiteServices) {
  const redirectUrl = toRedirectUrl(services);
  const known = await addPortalRedirect(client, providerId, redirectUrl, services);
  const provider = present(
    await services.portal.oauthProviders.get(client.OauthProviderID),
    'OAuth provider',
    'unknown',
  );
  const found = await services.identityProvider(provider).discover();
  const { issuer, authorization_response_iss_parameter_supported: sendsIssuer = false } = found;
  const { state, verifier } = createFlowSecrets();
  const url = new URL(found.authorization_endpoint ?? known.AuthorizationEndpoint);
  const parameters = {
    response_type: 'code',
    client_id: known.ClientID,
    redirect_uri: redirectUrl,
    scope: known.Scope,
    state,
    code_challenge: toCodeChallenge(verifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { flow: { client: known, state, verifier, issuer, sendsIssuer, redirectUrl }, url: url.href };
}

/** A page that continues by itself: the policy of forms allows no redirect to another site. */
const renderContinue = (url: string): SiteDocument => ({
  title: 'Sign in for a token',
  refreshTo: url,
  main: html`<div class="notice"><h1>Sign in for a token</h1>
<p><a href="${url}">Continue to the identity provider</a></p></div>`,
});

const renderFailure = (text: string, status: number, next: string): SiteDocument => ({
  status,
  title: 'Sign-in failed',
  main: html`<div class="notice" role="alert"><h1>Sign-in failed</h1><p>${text}</p>
<p><a href="${next}">Back</a></p></div>`,
});

const renderSignedIn = (next: string): SiteDocument => ({
  title: 'Signed in',
  main: html`<div class="notice"><h1>Signed in</h1><p data-signed-in>The portal has a token: send the request.</p>
<p>You can close this window, or <a href="${next}">go back</a>.</p></div>`,
});

/** The provider sends the browser back, without the cookie of its session: the sealed cookie names it. */
async function complete(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const cookie = openCookie(services);
  const flow = cookie.read(request.cookie);
  if (!flow) return renderFailure('The sign-in has expired, or was begun in another browser: repeat it.', 422, '/');
  const fault = await redeem(flow, request, services);
  const user = await services.portal.users.get(flow.userId);
  await auditForm('completeSignInForToken', request, user, fault ? 422 : 200, services, String(flow.credentialId));
  const page = fault ? renderFailure(fault, 422, flow.next) : renderSignedIn(flow.next);
  return { ...page, cookies: [cookie.formatExpired(request.isSecure)] };
}

/** Gets the token of a response and keeps it; returns why there is none. */
async function redeem(flow: TryFlow, { query }: SiteRequest, services: SiteServices): Promise<string | undefined> {
  const { signInTokens, clock, portal, log } = services;
  if (!constantTimeEqual(query('state'), flow.state)) return 'The response does not belong to this sign-in: repeat it.';
  // Mix-up defence (RFC 9207): the response names the provider that was asked.
  const isOfProvider = query('iss') === '' ? !flow.sendsIssuer : query('iss') === flow.issuer;
  if (!isOfProvider) return 'The response is of another identity provider.';
  const used = { purpose: 'sso-flow', orgId: '', value: flow.state, expiresAtMs: flow.expiresAtMs } as const;
  if (!(await signInTokens.markUsed(used, clock.now()))) return 'This sign-in is complete already.';
  if (query('error') !== '' || query('code') === '')
    return errorCodePattern.test(query('error'))
      ? `The identity provider responded with ${query('error')}.`
      : 'The identity provider responded without a code.';
  try {
    const client = present(await portal.registeredClients.get(flow.clientId), 'OAuth client', 'unknown');
    const provider = present(await portal.oauthProviders.get(client.OauthProviderID), 'OAuth provider', 'unknown');
    const { redirectUrl, verifier } = flow;
    const token = await readTryLimits(services).run(toUserLimitKey(flow.userId), () =>
      services.identityProvider(provider).redeemCode(client, { code: query('code'), redirectUrl, verifier }),
    );
    await saveUserToken(flow.ownerId, token, services);
    return undefined;
  } catch (error) {
    if (!isProviderFailure(error)) throw error;
    log.warn({ reason: error.message }, 'token of try-it refused');
    return 'The identity provider gave no token.';
  }
}

export const trySignInPages: readonly SitePage[] = [
  { method: 'POST', path: trySignInPath, access: 'user', respond: begin },
  { method: 'GET', path: trySignInCallbackPath, access: 'all', respond: complete },
];

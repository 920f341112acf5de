import { createPublicId } from '#base/ids.ts';
import type { Settings } from '#base/settings.ts';
import { readDashboardUrl } from '../../sessions/dashboard-url.ts';
import type { ProviderSession } from '../../sessions/provider-session.ts';
import type { SessionStore, StoredSession } from '../../sessions/store.ts';
import { problem, SignOnRefusal } from '../problems.ts';
import { readSaml } from '../profiles/provider-configs.ts';
import { type IdentityProfile, toProfileUrls } from '../profiles/schema.ts';
import { readAttribute } from './elements.ts';
import {
  checkMessage,
  formatLogoutRequest,
  formatLogoutResponse,
  isLogoutSuccess,
  matchesSubject,
  readLogoutSubject,
} from './logout-messages.ts';
import { type LogoutEndpoint, redirectBinding, type SamlProvider } from './metadata.ts';
import { type PostPage, renderPost, signXml } from './post-binding.ts';
import { buildSignedUrl, type MessageName } from './redirect-binding.ts';
import { type SamlServices, toServiceProvider } from './sign-on.ts';

export interface LogoutServices extends SamlServices {
  sessions: SessionStore;
}

/** Seconds within which the provider responds to a logout request. */
const requestTtlSeconds = 600;
/** SAML 2.0 Bindings, section 3.4.3. */
const maxRelayStateBytes = 80;

/** A message for the provider: a redirect, or a page that posts it. */
export type LogoutReply = { readonly url: string } | PostPage;

/** Verified message of a provider: the element as its signature covers it. */
export interface LogoutMessage {
  readonly name: MessageName;
  readonly element: unknown;
  readonly relayState: string;
}

/** Profile with a key, and its URLs. */
export function toLogoutProfile(profile: IdentityProfile, settings: Settings) {
  const { redirectUrl } = toProfileUrls(profile, readDashboardUrl(settings));
  const { entityId, key, logoutUrl } = toServiceProvider(profile, redirectUrl);
  if (!key) throw problem.logout_unavailable();
  return { profile, entityId, key, logoutUrl };
}
export type LogoutProfile = ReturnType<typeof toLogoutProfile>;

/** Logout request for the session of a token; undefined where the provider has no single logout service. */
export async function requestLogout(
  { findSamlProvider, signInTokens, clock }: LogoutServices,
  own: LogoutProfile,
  token: string,
): Promise<LogoutReply | undefined> {
  const { ID, OrgID, ProviderConfig } = own.profile;
  const nowMs = clock.now();
  const found = await signInTokens.find('saml-logout', token, nowMs);
  if (found?.ownerId !== ID) throw problem.logout_unknown();
  const { logout } = await findSamlProvider(OrgID, readSaml(ProviderConfig));
  if (!(await signInTokens.use(found))) throw problem.logout_unknown();
  if (!logout) return undefined;
  const expiresAtMs = nowMs + requestTtlSeconds * 1000;
  const pending = { purpose: 'saml-logout-request', orgId: OrgID, ownerId: ID, expiresAtMs } as const;
  const id = `_${await signInTokens.insert(pending, nowMs)}`;
  const head = { id, entityId: own.entityId, destination: logout.requestUrl, nowMs };
  const xml = formatLogoutRequest(head, JSON.parse(found.body) as ProviderSession);
  return sendMessage(logout, logout.requestUrl, { name: 'SAMLRequest', xml, relayState: '' }, own);
}

function sendMessage(
  { binding }: LogoutEndpoint,
  url: string,
  { name, xml, relayState }: { readonly name: MessageName; readonly xml: string; readonly relayState: string },
  { key: { privateKey } }: LogoutProfile,
): LogoutReply {
  if (binding === redirectBinding) return { url: buildSignedUrl(url, { name, xml, relayState, privateKey }) };
  return renderPost(url, name, signXml(xml, privateKey), relayState);
}

/** Logout request of the provider: ends the sessions it names, and responds. Each request is accepted once. */
export async function receiveLogoutRequest(
  { sessions, signInTokens, clock }: LogoutServices,
  own: LogoutProfile,
  { entityId: issuer, logout }: SamlProvider,
  { element, relayState }: LogoutMessage,
): Promise<{ readonly ended: readonly StoredSession[]; readonly reply: LogoutReply | undefined }> {
  const { ID: profileId, OrgID: orgId } = own.profile;
  const nowMs = clock.now();
  const { id, expiresAtMs } = checkMessage(element, { issuer, logoutUrl: own.logoutUrl, nowMs });
  const subject = readLogoutSubject(element, nowMs);
  if (Buffer.byteLength(relayState) > maxRelayStateBytes)
    throw new SignOnRefusal(`RelayState exceeds ${maxRelayStateBytes} bytes`);
  const value = JSON.stringify([profileId, issuer, id]);
  if (!(await signInTokens.markUsed({ purpose: 'saml-logout', orgId, value, expiresAtMs }, nowMs)))
    throw new SignOnRefusal('the logout request was used already');
  const found = await sessions.listOfProvider(profileId, subject.nameId, nowMs);
  const ended = found.filter(it => it.providerSession && matchesSubject(it.providerSession, subject));
  for (const session of ended) await sessions.remove(session.userId, session.id);
  if (!logout) return { ended, reply: undefined };
  const head = { id: `_${createPublicId()}`, entityId: own.entityId, destination: logout.responseUrl, nowMs };
  const xml = formatLogoutResponse(head, id);
  return { ended, reply: sendMessage(logout, logout.responseUrl, { name: 'SAMLResponse', xml, relayState }, own) };
}

/** Response of the provider to a logout request of this side. Each request is answered once. */
export async function receiveLogoutResponse(
  { signInTokens, clock }: LogoutServices,
  own: LogoutProfile,
  { entityId: issuer }: SamlProvider,
  { element }: LogoutMessage,
): Promise<void> {
  const nowMs = clock.now();
  checkMessage(element, { issuer, logoutUrl: own.logoutUrl, nowMs });
  const token = readAttribute(element, 'InResponseTo').replace(/^_/, '');
  const pending = await signInTokens.find('saml-logout-request', token, nowMs);
  if (pending?.ownerId !== own.profile.ID || !(await signInTokens.use(pending))) throw problem.logout_unknown();
  if (!isLogoutSuccess(element)) throw problem.logout_incomplete();
}

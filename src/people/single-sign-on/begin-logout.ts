import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import { readDashboardUrl } from '../sessions/dashboard-url.ts';
import type { SessionStore, StoredSession } from '../sessions/store.ts';
import { readOpenIdConnect, readSaml } from './profiles/provider-configs.ts';
import type { IdentityProfile } from './profiles/schema.ts';
import type { IdentityProfileStore } from './profiles/store.ts';
import type { ProviderSlots } from './provider-slots.ts';
import type { SamlServices } from './saml/sign-on.ts';

/** Seconds within which the browser continues a sign-out at a SAML provider. */
const beginTtlSeconds = 60;

export interface BeginLogoutServices extends Pick<SamlServices, 'signInTokens' | 'clock' | 'settings'> {
  identityProfiles: IdentityProfileStore;
  sessions: Pick<SessionStore, 'openIdToken'>;
  outbound: OutboundClient;
  providerSlots: ProviderSlots;
  log: Log;
}

/** Sign-out of this side: URL at which the browser continues it; undefined where the profile has no single logout. */
export function createBeginProviderLogout(services: BeginLogoutServices) {
  let openId: ReturnType<typeof loadOpenId> | undefined;
  return async (session: StoredSession): Promise<string | undefined> => {
    const { profileId } = session;
    const profile = profileId === '' ? undefined : await services.identityProfiles.findActive(profileId);
    if (profile?.ProviderName === 'SAMLProvider') return beginSamlLogout(services, profile, session);
    if (profile?.ProviderName !== 'SocialProvider' || !readOpenIdConnect(profile.ProviderConfig).SingleLogout)
      return undefined;
    openId ??= loadOpenId(services);
    const { findLogoutUrl, discoverProvider } = await openId;
    const request = {
      returnUrl: `${readDashboardUrl(services.settings)}/`,
      idToken: services.sessions.openIdToken(session),
    };
    return findLogoutUrl({ ...services, discoverProvider }, profile, request);
  };
}

/** Loaded on first use; documents of providers are cached from then on. */
async function loadOpenId({ outbound, clock }: BeginLogoutServices) {
  const [{ findLogoutUrl }, { createDiscovery }] = await Promise.all([
    import('./oidc/logout-url.ts'),
    import('./oidc/discovery.ts'),
  ]);
  return { findLogoutUrl, discoverProvider: createDiscovery(outbound, clock) };
}

/** URL of this side that sends the logout request, with a token for the ended session. */
async function beginSamlLogout(
  { signInTokens, clock, settings }: BeginLogoutServices,
  profile: IdentityProfile,
  { orgId, profileId, providerSession }: StoredSession,
): Promise<string | undefined> {
  if (!providerSession || readSaml(profile.ProviderConfig).SPPrivateKey === '') return undefined;
  const body = JSON.stringify(providerSession);
  const nowMs = clock.now();
  const expiresAtMs = nowMs + beginTtlSeconds * 1000;
  const token = await signInTokens.insert(
    { purpose: 'saml-logout', orgId, ownerId: profileId, expiresAtMs, body },
    nowMs,
  );
  // Loaded on first use, with the libraries of SAML.
  const { toLogoutProfile } = await import('./saml/logout.ts');
  return `${toLogoutProfile(profile, settings).logoutUrl}/begin?token=${token}`;
}

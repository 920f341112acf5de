import type { StoredSession } from '../../sessions/store.ts';
import { readSaml } from '../profiles/provider-configs.ts';
import type { IdentityProfileStore } from '../profiles/store.ts';
import type { SamlServices } from './sign-on.ts';

/** Seconds within which the browser continues a sign-out at the provider. */
const beginTtlSeconds = 60;

export interface BeginLogoutServices extends Pick<SamlServices, 'signInTokens' | 'clock' | 'settings'> {
  identityProfiles: IdentityProfileStore;
}

/** Sign-out of this side: URL at which the browser continues it, with a token for the ended session. */
export const createBeginProviderLogout =
  ({ signInTokens, clock, settings, identityProfiles }: BeginLogoutServices) =>
  async ({ orgId, profileId, providerSession }: StoredSession): Promise<string | undefined> => {
    const profile = providerSession && (await identityProfiles.findActive(profileId));
    if (!profile || readSaml(profile.ProviderConfig).SPPrivateKey === '') return undefined;
    const body = JSON.stringify(providerSession);
    const nowMs = clock.now();
    const expiresAtMs = nowMs + beginTtlSeconds * 1000;
    const token = await signInTokens.insert(
      { purpose: 'saml-logout', orgId, ownerId: profileId, expiresAtMs, body },
      nowMs,
    );
    // Loaded on first use, with the libraries of SAML.
    const { toLogoutProfile } = await import('./logout.ts');
    return `${toLogoutProfile(profile, settings).logoutUrl}/begin?token=${token}`;
  };

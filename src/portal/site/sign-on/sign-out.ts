import { buildLogoutUrl } from '#people/single-sign-on/oidc/code-flow.ts';
import { isSignOnProfile, toSharedProfileId, toSignOnProfile } from '../../sso-profiles/identity-profile.ts';
import { toLogoutReturnUrl } from '../../sso-profiles/rules.ts';
import { toSessionOwner } from '../../users/session-owner.ts';
import { anonymousVisitor } from '../../visibility/rules.ts';
import { auditForm } from '../audit.ts';
import { html } from '../markup.ts';
import type { SiteReply, SiteRequest, SiteServices } from '../page.ts';
import { formatSiteCookie, sessionCookieName } from '../visitor.ts';

/** Profile and ID token of the session of a visitor, where its sign-out goes on to the provider. */
async function findLogoutProfile({ visitor }: SiteRequest, services: SiteServices) {
  const { portal, clock, ssoProfiles, defaultOrgId } = services;
  const sessions = await portal.sessions.list(toSessionOwner(visitor.user!.ID), clock.now());
  const session = sessions.find(({ id }) => id === visitor.sessionId);
  const profileId = session?.profileId ?? '';
  const prefix = toSharedProfileId('');
  const stored = profileId.startsWith(prefix) ? await ssoProfiles.get(profileId.slice(prefix.length)) : undefined;
  const profile = stored?.SingleLogout ? toSignOnProfile(stored, await defaultOrgId()) : undefined;
  const idToken = session && portal.sessions.openIdToken(session);
  return profile && isSignOnProfile(profile) ? { ...profile, idToken } : undefined;
}

/** Address of the provider where the sign-out goes on; an unavailable provider does not prevent the own one. */
async function findLogoutUrl(request: SiteRequest, services: SiteServices) {
  const profile = await findLogoutProfile(request, services);
  if (!profile) return undefined;
  const { stored, identity, idToken } = profile;
  try {
    const { providerSlots } = services.signOn;
    const returnUrl = toLogoutReturnUrl(stored, services.settings);
    const url = await providerSlots.run(identity.OrgID, () =>
      buildLogoutUrl(services.signOn, identity, { returnUrl, idToken }),
    );
    return url && { url, name: stored.Name };
  } catch (error) {
    services.log.warn({ profile: stored.ID, reason: (error as Error).message }, 'single logout failed');
    return undefined;
  }
}

/** Ends the session, and that of an identity provider with single logout. */
export async function signOutOfSite(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { visitor, isSecure } = request;
  const cookies = [formatSiteCookie(sessionCookieName, '', 0, isSecure)];
  if (!visitor.user) return { redirect: '/', cookies };
  const logout = await findLogoutUrl(request, services);
  await services.portal.sessions.remove(toSessionOwner(visitor.user.ID), visitor.sessionId);
  await auditForm('signOutOfPortal', request, visitor.user, 303, services);
  if (!logout) return { redirect: '/', cookies };
  return {
    title: 'Signed out',
    section: 'sign-in',
    cookies,
    visitor: { ...visitor, user: undefined, rights: anonymousVisitor, sessionId: '' },
    main: html`<div class="notice"><h1>You are signed out</h1>
<p><a class="button" href="${logout.url}">Sign out of ${logout.name} too</a></p></div>`,
    // A redirect of a form to another origin is blocked by the content policy (`form-action`).
    refreshTo: logout.url,
  };
}

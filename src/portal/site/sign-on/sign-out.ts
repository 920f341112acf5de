import { findLogoutUrl } from '#people/single-sign-on/oidc/logout-url.ts';
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

/** Address and name of the provider where the sign-out goes on. */
async function findProviderLogout(request: SiteRequest, services: SiteServices) {
  const profile = await findLogoutProfile(request, services);
  if (!profile) return undefined;
  const { stored, identity, idToken } = profile;
  const returnUrl = toLogoutReturnUrl(stored, services.settings);
  const url = await findLogoutUrl({ ...services.signOn, log: services.log }, identity, { returnUrl, idToken });
  return url && { url, name: stored.Name };
}

/** Ends the session, and that of an identity provider with single logout. */
export async function signOutOfSite(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  const { visitor, isSecure } = request;
  const cookies = [formatSiteCookie(sessionCookieName, '', 0, isSecure)];
  if (!visitor.user) return { redirect: '/', cookies };
  const logout = await findProviderLogout(request, services);
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

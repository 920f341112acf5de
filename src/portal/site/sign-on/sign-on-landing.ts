import { type AssertedUser, mapAssertedUser } from '#people/single-sign-on/asserted-user.ts';
import { problem as signOnProblem } from '#people/single-sign-on/problems.ts';
import { toProviderSubject } from '#people/single-sign-on/profile-sign-on.ts';
import type { SignOnIdentity } from '#people/users/identity.ts';
import { openPortalSignOn, type PortalSignOnSource } from '../../accounts/sign-on-account.ts';
import { partnersOf } from '../../join-table-store.ts';
import type { SignOnProfile } from '../../sso-profiles/identity-profile.ts';
import { isPortalAdmin, type StoredPortalUser } from '../../users/schema.ts';
import { toSessionOwner } from '../../users/session-owner.ts';
import { identifyVisitor } from '../../visibility/visibility.ts';
import { auditForm } from '../audit.ts';
import { html } from '../markup.ts';
import type { SiteDocument, SiteRequest, SiteServices } from '../page.ts';
import { formatSiteCookie, sessionCookieName } from '../visitor.ts';
import { signOnAction } from './sign-on-failure.ts';
import { isForAdministrators } from './sign-on-profiles.ts';

/** Source of a user whom the provider of a profile has authenticated. */
function toSource({ stored, identity }: SignOnProfile, user: AssertedUser, services: SiteServices): PortalSignOnSource {
  return {
    isForAdministrators: isForAdministrators(stored),
    provider: stored.ID,
    sharedProfileId: identity.ID,
    defaultRole: stored.DefaultRole,
    resyncsTeams: stored.ResyncTeams,
    trustsEmail: stored.TrustUnverifiedEmail,
    subject: toProviderSubject(identity, user),
    idToken: stored.SingleLogout ? user.idToken : undefined,
    async recheck() {
      if (!(await services.ssoProfiles.lockUnchanged(stored))) throw signOnProblem.profile_changed();
    },
  };
}

/** Signs on the user of a profile, and shows the page that continues. */
export const landWithProfile = (
  profile: SignOnProfile,
  user: AssertedUser,
  next: string,
  request: SiteRequest,
  services: SiteServices,
): Promise<SiteDocument> =>
  landOn(toSource(profile, user, services), mapAssertedUser(profile.identity, user), next, request, services);

/** Signs on an identity. A session of before ends (session fixation). */
export async function landOn(
  source: PortalSignOnSource,
  identity: SignOnIdentity,
  next: string,
  request: SiteRequest,
  services: SiteServices,
): Promise<SiteDocument> {
  const { portal, settings } = services;
  const { visitor, isSecure } = request;
  const opened = await openPortalSignOn(services, source, identity, request);
  const { user, token, sessionId } = opened;
  if (visitor.user) await portal.sessions.remove(toSessionOwner(visitor.user.ID), visitor.sessionId);
  await auditForm(signOnAction, request, user, 200, services, source.provider);
  if (opened.hasOtherTeams) await auditForm('resyncTeamsOfUser', request, user, 200, services);
  const target = next === '/' && isPortalAdmin(user.Role) ? '/admin' : next;
  const cookies = [
    formatSiteCookie(sessionCookieName, token, settings['sessions.max_age_seconds'], isSecure),
    services.signOn.flowCookies.formatExpired(isSecure),
  ];
  return {
    title: 'Signed in',
    section: 'sign-in',
    cookies,
    visitor: {
      ...visitor,
      user,
      sessionId,
      rights: await identifyVisitor(user.ID, { portal }),
      csrfToken: portal.sessions.csrfToken(sessionId),
    },
    main: html`<div class="notice"><h1>You are signed in</h1>
${opened.isNew ? html`<p>${await describePlace(user, services)}</p>` : ''}
<p><a class="button" href="${target}">Continue</a></p></div>`,
    // A redirect would be part of a navigation of another site, with which browsers send no `SameSite=Strict` cookie.
    ...(!opened.isNew && { refreshTo: target }),
  };
}

async function describePlace(user: StoredPortalUser, { portal }: SiteServices): Promise<string> {
  if (isPortalAdmin(user.Role)) return 'You are an administrator of this portal.';
  const teams = await portal.teams.byIds(partnersOf(await portal.teams.members.leftOf([user.ID]), user.ID));
  const organisation = await portal.organisations.get(user.OrganisationID);
  const names = [...teams.values()].map(it => it.Name);
  return `You are in ${names.length === 1 ? 'team' : 'teams'} ${names.join(', ')} of organisation ${organisation?.Name ?? ''}.`;
}

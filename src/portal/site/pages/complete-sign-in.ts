import { constantTimeEqual } from '#base/constant-time.ts';
import { readNextPath } from '#people/single-sign-on/next-path.ts';
import { isPortalAdmin, type StoredPortalUser } from '../../users/schema.ts';
import { toSessionOwner } from '../../users/session-owner.ts';
import { insertUserSession } from '../../users/user-session.ts';
import { auditForm } from '../audit.ts';
import type { SiteRedirect, SiteRequest, SiteServices } from '../page.ts';
import { formatSiteCookie, sessionCookieName } from '../visitor.ts';

/** Session of a verified user; none where the account has changed since. A session of before ends (session fixation). */
function openSiteSession(verified: StoredPortalUser, request: SiteRequest, { portal, records, clock }: SiteServices) {
  const { address, userAgent, visitor } = request;
  return records.write(async () => {
    const user = await portal.users.lock(verified.ID);
    if (!user?.Active || user.ResetPassword || user.Provider !== verified.Provider) return undefined;
    if (!constantTimeEqual(user.Password, verified.Password)) return undefined;
    if (visitor.user) await portal.sessions.remove(toSessionOwner(visitor.user.ID), visitor.sessionId);
    return (await insertUserSession(user.ID, { address, userAgent }, { portal, clock })).token;
  });
}

/** Signs a verified user in; undefined where the account has changed since. Administrators land on the admin app. */
export async function completeSignIn(
  user: StoredPortalUser,
  request: SiteRequest,
  services: SiteServices,
): Promise<SiteRedirect | undefined> {
  const token = await openSiteSession(user, request, services);
  if (!token) return undefined;
  await auditForm('signInToPortal', request, user, 303, services);
  const maxAgeSeconds = services.settings['sessions.max_age_seconds'];
  const next = readNextPath(request.form('next'));
  return {
    redirect: next === '/' && isPortalAdmin(user.Role) ? '/admin' : next,
    cookies: [formatSiteCookie(sessionCookieName, token, maxAgeSeconds, request.isSecure)],
  };
}

import { constantTimeEqual } from '#base/constant-time.ts';
import { createSecretText } from '#base/ids.ts';
import type { Settings } from '#base/settings.ts';
import { hasManagementTls } from '#operations/listener-tls.ts';
import { readSessionCookie } from '#operations/session-cookie.ts';
import { toSessionOwner } from '../users/session-owner.ts';
import { anonymousVisitor } from '../visibility/rules.ts';
import { identifyVisitor } from '../visibility/visibility.ts';
import type { SiteServices, SiteVisitor } from './page.ts';

export const sessionCookieName = 'portal-session';
/** Binds the forms of signed-out visitors to their browser. */
const formCookieName = 'portal-form';
const themeCookieName = 'portal-theme';
const formTokenPurpose = 'portal form token';
const formCookiePattern = /^[\w-]{20,100}$/;

/** Cookies are `Secure` behind TLS, of a trusted proxy too. */
export const usesSecureCookies = (settings: Settings, isSecure: boolean): boolean =>
  isSecure || hasManagementTls(settings) || settings['portal.url'].startsWith('https:');

/** Ports of one host share their cookies: none of these is of the dashboard. */
export const formatSiteCookie = (name: string, value: string, maxAgeSeconds: number | undefined, isSecure: boolean) =>
  `${name}=${value}; Path=/; HttpOnly; SameSite=Strict${maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`}` +
  (isSecure ? '; Secure' : '');

/** Finds the visitor of a request; a signed-out one gets a cookie for its forms where it has none. */
export async function readVisitor(cookies: string | undefined, isSecure: boolean, services: SiteServices) {
  const chosen = readSessionCookie(cookies, themeCookieName);
  const theme = chosen === 'light' || chosen === 'dark' ? chosen : undefined;
  const signedIn = await findSignedIn(readSessionCookie(cookies, sessionCookieName), services);
  if (signedIn) return { visitor: { ...signedIn, theme } satisfies SiteVisitor, cookies: [] };
  const sent = readSessionCookie(cookies, formCookieName) ?? '';
  const binding = formCookiePattern.test(sent) ? sent : createSecretText();
  const visitor: SiteVisitor = {
    user: undefined,
    rights: anonymousVisitor,
    sessionId: '',
    csrfToken: services.vault.digest(binding, formTokenPurpose),
    theme,
  };
  const isKnown = binding === sent;
  return { visitor, cookies: isKnown ? [] : [formatSiteCookie(formCookieName, binding, undefined, isSecure)] };
}

/** The active user of a session; its use renews the idle timeout. */
async function findSignedIn(token: string | undefined, { portal, clock }: SiteServices) {
  const session = token === undefined ? undefined : await portal.sessions.find(token, clock.now());
  if (!session) return undefined;
  const user = await portal.users.get(Number(/^portal:(\d+)$/.exec(session.userId)?.[1] ?? 0));
  if (!user?.Active || toSessionOwner(user.ID) !== session.userId) return undefined;
  await portal.sessions.markSeen(session, clock.now());
  const rights = await identifyVisitor(user.ID, { portal });
  return { user, rights, sessionId: session.id, csrfToken: portal.sessions.csrfToken(session.id) };
}

/** Cross-site request forgery: a form sends the token of its visitor, and comes from a page of this site. */
export const isOwnForm = (token: string, fetchSite: string | undefined, { csrfToken }: SiteVisitor): boolean =>
  (fetchSite === undefined || fetchSite === 'same-origin' || fetchSite === 'none') &&
  constantTimeEqual(token, csrfToken);

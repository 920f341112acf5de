import { constantTimeEqual } from '#base/constant-time.ts';
import { createSecretText } from '#base/ids.ts';
import type { Settings } from '#base/settings.ts';
import { hasManagementTls } from '#operations/listener-tls.ts';
import { readSessionCookie } from '#operations/session-cookie.ts';
import { surfaces } from '#operations/surfaces.ts';
import { findSessionUser } from '../users/site-session.ts';
import { anonymousVisitor } from '../visibility/rules.ts';
import { identifyVisitor } from '../visibility/visibility.ts';
import type { SiteBaseServices, SiteVisitor } from './page.ts';

export const sessionCookieName = surfaces.portal.sessionCookie!;
/** Binds the forms of signed-out visitors to their browser. */
const formCookieName = 'portal-form';
const themeCookieName = 'portal-theme';
/** Name of the theme that an administrator previews; without effect for other visitors. */
export const themePreviewCookieName = 'portal-theme-preview';
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
export async function readVisitor(cookies: string | undefined, isSecure: boolean, services: SiteBaseServices) {
  const chosen = readSessionCookie(cookies, themeCookieName);
  const theme = chosen === 'light' || chosen === 'dark' ? chosen : undefined;
  const signedIn = await findSignedIn(readSessionCookie(cookies, sessionCookieName), services);
  if (signedIn) {
    const isAdmin = signedIn.rights.kind === 'administrator';
    const previewedTheme = isAdmin ? readSessionCookie(cookies, themePreviewCookieName) : undefined;
    return { visitor: { ...signedIn, theme, previewedTheme } satisfies SiteVisitor, cookies: [] };
  }
  const sent = readSessionCookie(cookies, formCookieName) ?? '';
  const binding = formCookiePattern.test(sent) ? sent : createSecretText();
  const visitor: SiteVisitor = {
    user: undefined,
    rights: anonymousVisitor,
    sessionId: '',
    csrfToken: services.vault.digest(binding, formTokenPurpose),
    theme,
    previewedTheme: undefined,
  };
  const isKnown = binding === sent;
  return { visitor, cookies: isKnown ? [] : [formatSiteCookie(formCookieName, binding, undefined, isSecure)] };
}

async function findSignedIn(token: string | undefined, services: SiteBaseServices) {
  const found = token === undefined ? undefined : await findSessionUser(token, services);
  if (!found) return undefined;
  const { user, session } = found;
  const { portal } = services;
  const rights = await identifyVisitor(user.ID, { portal });
  const unread = await portal.notifications.countUnread(user.ID);
  return { user, rights, unread, sessionId: session.id, csrfToken: portal.sessions.csrfToken(session.id) };
}

/** Cross-site request forgery: a form comes from a page of this site, and has the token of its visitor. */
export const isOwnSite = (fetchSite: string | undefined): boolean =>
  fetchSite === undefined || fetchSite === 'same-origin' || fetchSite === 'none';
export const isOwnToken = (token: string, { csrfToken }: SiteVisitor): boolean => constantTimeEqual(token, csrfToken);

import type { Settings } from '#base/settings.ts';
import { toJsonFile } from './json/json-file.ts';
import { html } from './markup.ts';
import type { SiteMenus } from './menus.ts';
import {
  jsonApiPath,
  type SiteDocument,
  type SiteFile,
  type SitePage,
  type SiteVisitor,
  signInPath,
  toSignInUrl,
  trySignInCallbackPath,
} from './page.ts';
import { termsPath } from './terms/terms-field.ts';

/** Why the whole site is closed for a visitor. */
type Closure = 'private' | 'hidden';

/** Visibility of the whole site: a private one opens with a session, a hidden one for administrators. */
export function findClosure({ rights }: Pick<SiteVisitor, 'rights'>, settings: Settings): Closure | undefined {
  const visibility = settings['portal.visibility'];
  if (visibility === 'public' || rights.kind === 'administrator') return undefined;
  return visibility === 'private' && rights.kind === 'developer' ? undefined : visibility;
}

/** Search engines index public sites only. */
export const isSiteIndexed = (settings: Settings): boolean =>
  settings['portal.indexing'] && settings['portal.visibility'] === 'public';

/** Addresses of signing in, and the file that keeps crawlers out. */
const signInPaths = /^\/(?:auth\/.*|tib\/.*|sso|robots\.txt)$/;
const termsPaths = new RegExp(`^${termsPath}(?:/|$)`);

/**
 * Tests whether an address opens while the site is closed: private pages lead to the sign-in page by themselves. An
 * identity provider redirects to the callback of try-it, for which browsers leave the session cookie out.
 */
const opensWhileClosed = (closure: Closure, path: string, page: SitePage | undefined): boolean =>
  signInPaths.test(path) ||
  path === trySignInCallbackPath ||
  (closure === 'private' && (page?.access === 'user' || termsPaths.test(path)));

/** Menus of a closed site: links would name its content. */
export const closedMenus: SiteMenus = { primary: [], footer: [], pages: [], links: [] };

interface ClosedRequest {
  readonly url: string;
  readonly path: string;
  readonly page: SitePage | undefined;
  /** A script sends a form. */
  readonly isScript: boolean;
}

/** Reply in place of any page of a closed site, the same for addresses that do not exist; undefined for an open one. */
export function findClosedReply(
  { url, path, page, isScript }: ClosedRequest,
  visitor: SiteVisitor,
  settings: Settings,
): SiteDocument | SiteFile | undefined {
  const closure = findClosure(visitor, settings);
  if (!closure || opensWhileClosed(closure, path, page)) return undefined;
  const status = closure === 'private' ? 401 : 404;
  const title = closure === 'private' ? 'This portal is private' : 'This portal is disabled';
  if (isScript || path.startsWith(`${jsonApiPath}/`) || /[?&]format=json(&|$)/.test(url))
    return toJsonFile({ errors: [closure === 'private' ? `${title}: sign in first` : title] }, status);
  const next = page?.method === 'POST' || path === '/' ? signInPath : toSignInUrl(url);
  const content =
    closure === 'private'
      ? html`<p>Its pages are for signed-in users.</p><p><a href="${next}">Sign in</a></p>`
      : html`<p>Only its administrators can open it.</p>`;
  return { status, title, main: html`<div class="notice"><h1>${title}</h1>${content}</div>` };
}

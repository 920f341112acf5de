import { lacksRequiredFactor } from '../second-factor/required-factor.ts';
import { requiredFactorUrl, type SitePage, type SiteServices, type SiteVisitor, toSignInUrl } from './page.ts';
import { opensWithoutFactor } from './pages/second-factor.ts';
import { findTermsGate } from './terms/terms-page.ts';
import { tryPath } from './try-it/try-form.ts';

/** Precondition of a page that is not met: where a browser is redirected, and the error of a script. */
export interface Gate {
  readonly url: string;
  /** For scripts. */
  readonly status: 401 | 403;
  readonly error: string;
}

/** Conditions of a private page, in order: a session, accepted terms, a required second factor. */
export async function findGate(
  page: SitePage,
  url: string,
  visitor: SiteVisitor,
  services: SiteServices,
): Promise<Gate | undefined> {
  if (page.access === 'user' && !visitor.user)
    return { url: toSignInUrl(page.method === 'GET' ? url : '/'), status: 401, error: 'Sign in first' };
  const terms = await findTermsGate(page, url, visitor, services);
  if (terms) return { url: terms, status: 403, error: 'Accept the new terms of use first' };
  const isGated = (page.access === 'user' || page.path === tryPath) && !opensWithoutFactor(page.path);
  if (!isGated || !visitor.user || !(await lacksRequiredFactor(visitor.user, services))) return undefined;
  return { url: requiredFactorUrl, status: 403, error: 'Add an authenticator app first' };
}

import { html } from '../markup.ts';
import { cataloguePath, type SiteDocument } from '../page.ts';

/** A path is shown up to this length. */
const maxShownChars = 200;

/** 404 page, the same for what does not exist and for what is not visible. */
export function renderNotFound(path: string): SiteDocument {
  const shown = path.length > maxShownChars ? `${path.slice(0, maxShownChars)}…` : path;
  return {
    status: 404,
    title: 'Page not found',
    main: html`<div class="notice"><h1>Page not found</h1><p>There is no page at <code>${shown}</code>, or it is not
visible to you.</p><form class="inline" role="search" action="/search" method="get">
<input type="search" name="q" aria-label="Search for a page" maxlength="100"><button>Search</button></form>
<p><a href="${cataloguePath}">All products</a> · <a href="/">Home</a></p></div>`,
  };
}

/** 403 page of the admin app for a signed-in developer. */
export const renderAdminOnly = (email: string): SiteDocument => ({
  status: 403,
  title: 'For administrators',
  main: html`<div class="notice"><h1>For administrators</h1><p>Only an administrator of the portal can open this
page, and you are signed in as <strong>${email}</strong>, which is none. Ask an administrator for the role, or sign out
and sign in with another account.</p><p><a href="/portal/private/apps">My apps</a> · <a href="${cataloguePath}">All products</a> ·
<a href="/">Home</a></p></div>`,
});

export const renderFailure = (status: number, errors: readonly string[]): SiteDocument => ({
  status,
  json: { errors },
  title: 'Request failed',
  main: html`<div class="notice" role="alert"><h1>Request failed</h1>${errors.map(it => html`<p>${it}</p>`)}
<p><a href="/">Home</a></p></div>`,
});

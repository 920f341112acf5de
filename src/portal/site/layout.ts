import type { SiteAssets } from './assets.ts';
import { html, type Markup, type MarkupValue } from './markup.ts';
import { cataloguePath, type SiteDocument, type SiteSection, signInPath, toSignInUrl, type Visitor } from './page.ts';

/** What every page shows around its content. */
export interface SiteFrame {
  readonly name: string;
  readonly assets: SiteAssets;
  readonly visitor: Visitor;
  readonly path: string;
  /** Registration is open, with or without approval. */
  readonly offersSignUp: boolean;
  readonly isIndexable: boolean;
  /** Published pages of the administrator, for the navigation. */
  readonly links: readonly SiteLink[];
}

export interface SiteLink {
  readonly title: string;
  readonly path: string;
}

const sections: readonly (SiteLink & { readonly section: SiteSection })[] = [
  { section: 'catalogue', title: 'Products', path: cataloguePath },
  { section: 'blog', title: 'Blog', path: '/blog' },
];

export function renderDocument(document: SiteDocument, frame: SiteFrame): string {
  const { name, assets, visitor, isIndexable } = frame;
  const title = document.section === 'home' ? name : `${document.title} · ${name}`;
  const markup = html`<!doctype html>
<html lang="en"${visitor.theme ? html` data-theme="${visitor.theme}"` : ''}><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="csrf-token" content="${visitor.csrfToken}">
${isIndexable && document.isIndexable ? '' : html`<meta name="robots" content="noindex">`}
${document.description ? html`<meta name="description" content="${document.description.slice(0, 300)}">` : ''}
<title>${title}</title><link rel="icon" href="${assets.iconUrl}"><link rel="stylesheet" href="${assets.styleUrl}">
<link rel="stylesheet" href="${assets.themeUrl}"><link rel="alternate" type="application/atom+xml" title="${name}"
 href="/feed.xml"><script type="module" src="${assets.scriptUrl}"></script></head>
<body><a class="skip" href="#content">Skip to content</a>
${renderHeader(document, frame)}
<main id="content"${document.isWide ? html` class="wide"` : ''} tabindex="-1">${document.main}</main>
${renderFooter(frame)}</body></html>
`;
  return markup.toString();
}

function renderHeader({ section }: SiteDocument, { name, visitor, links, path, offersSignUp }: SiteFrame): Markup {
  const items = [
    ...sections.map(it => renderNavigationLink(it, it.section === section)),
    ...links.map(it => renderNavigationLink(it, it.path === path)),
  ];
  return html`<header class="site"><div class="bar"><a class="home" href="/"><span class="mark" aria-hidden="true"></span>
${name}</a><nav aria-label="Site"><ul>${items}</ul></nav>
<form role="search" action="/search" method="get"><input type="search" name="q" aria-label="Search the portal"
 placeholder="Search" maxlength="100" data-page-search></form>
<div class="account">${visitor.user ? renderAccount(visitor) : renderSignIn(path, offersSignUp)}</div></div></header>`;
}

const renderNavigationLink = ({ title, path }: SiteLink, isCurrent: boolean) =>
  html`<li><a href="${path}"${isCurrent ? html` aria-current="page"` : ''}>${title}</a></li>`;

/** The sign-in page leads back to the page it was opened from. */
function renderSignIn(path: string, offersSignUp: boolean): MarkupValue {
  const signIn = path.startsWith('/auth/') || path === '/' ? signInPath : toSignInUrl(path);
  return [
    html`<a href="${signIn}">Sign in</a>`,
    offersSignUp ? html`<a class="button" href="/auth/password/register">Sign up</a>` : '',
  ];
}

function renderAccount({ user, csrfToken }: Visitor): Markup {
  const name = [user!.First, user!.Last].join(' ').trim() || user!.Email;
  return html`<details class="menu"><summary>${name}</summary><ul><li><a href="/portal/private/dashboard">My apps</a></li>
<li><a href="/portal/private/analytics">Usage</a></li><li><a href="/portal/private/users">Team</a></li>
<li><a href="/portal/private/profile">Profile</a></li>
<li><form method="post" action="/auth/logout">${renderCsrfField(csrfToken)}<button class="quiet">Sign out</button></form>
</li></ul></details>`;
}

const renderFooter = ({ name, links }: SiteFrame) => html`<footer class="site"><div class="bar"><span>${name}</span>
<ul>${links.map(({ title, path }) => html`<li><a href="${path}">${title}</a></li>`)}
<li><a href="/feed.xml">Feed</a></li></ul></div></footer>`;

export const renderCsrfField = (token: string): Markup =>
  html`<input type="hidden" name="csrf_token" value="${token}">`;

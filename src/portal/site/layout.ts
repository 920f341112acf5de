import type { SiteAssets } from './assets.ts';
import { html, type Markup } from './markup.ts';
import {
  cataloguePath,
  type SiteDocument,
  type SiteLink,
  type SiteSection,
  type SiteVisitor,
  signInPath,
  toSignInUrl,
} from './page.ts';
import type { SiteLooks } from './site-looks.ts';

/** Frame of every page: what surrounds its content. */
export interface SiteFrame {
  readonly looks: SiteLooks;
  readonly assets: SiteAssets;
  readonly visitor: SiteVisitor;
  readonly path: string;
  readonly isIndexable: boolean;
  /** Published pages of the administrator, for the navigation. */
  readonly links: readonly SiteLink[];
}

const sections: readonly (SiteLink & { readonly section: SiteSection })[] = [
  { section: 'catalogue', title: 'Products', path: cataloguePath },
  { section: 'blog', title: 'Blog', path: '/blog' },
];

export function renderSiteDocument(document: SiteDocument, frame: SiteFrame): string {
  const { looks, assets, visitor, isIndexable } = frame;
  const { name } = looks;
  const title = document.section === 'home' ? name : `${document.title} · ${name}`;
  const markup = html`<!doctype html>
<html lang="en"${visitor.theme ? html` data-theme="${visitor.theme}"` : ''}><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${isIndexable && document.isIndexable ? '' : html`<meta name="robots" content="noindex">`}
${document.description ? html`<meta name="description" content="${document.description.slice(0, 300)}">` : ''}
<title>${title}</title><link rel="icon" href="${looks.iconUrl ?? assets.iconUrl}">
${[assets.styleUrl, assets.themeUrl, ...looks.styleUrls].map(url => html`<link rel="stylesheet" href="${url}">`)}
<link rel="alternate" type="application/atom+xml" title="${name}"
 href="/feed.xml"><script type="module" src="${assets.scriptUrl}"></script></head>
<body><a class="skip" href="#content">Skip to content</a>
${renderHeader(document, frame)}
<main id="content"${document.isWide ? html` class="wide"` : ''} tabindex="-1">${document.main}</main>
${renderFooter(frame)}</body></html>
`;
  return markup.toString();
}

function renderHeader({ section }: SiteDocument, { looks, links, path, visitor }: SiteFrame): Markup {
  const items = [
    ...sections.map(it => renderNavigationLink(it, it.section === section)),
    ...links.map(it => renderNavigationLink(it, it.path === path)),
  ];
  return html`<header class="site"><div class="bar"><a class="home" href="/">${
    looks.logoUrl
      ? html`<img class="brand" src="${looks.logoUrl}" alt="">`
      : html`<span class="mark" aria-hidden="true"></span>`
  }
${looks.name}</a><nav aria-label="Site"><ul>${items}</ul></nav>
<form role="search" action="/search" method="get"><input type="search" name="q" aria-label="Search the portal"
 placeholder="Search" maxlength="100" data-page-search></form>
<div class="account">${visitor.user ? renderAccount(visitor) : renderSignInLink(path)}</div></div></header>`;
}

const renderNavigationLink = ({ title, path }: SiteLink, isCurrent: boolean) =>
  html`<li><a href="${path}"${isCurrent ? html` aria-current="page"` : ''}>${title}</a></li>`;

/** The sign-in page leads back to the page it was opened from. */
const renderSignInLink = (path: string) =>
  html`<a href="${path.startsWith('/auth/') || path === '/' ? signInPath : toSignInUrl(path)}">Sign in</a>`;

const renderAccount = ({ user, csrfToken }: SiteVisitor) =>
  html`<span>${[user!.First, user!.Last].join(' ').trim() || user!.Email}</span>
<form method="post" action="/auth/logout">${renderCsrfField(csrfToken)}<button class="quiet">Sign out</button></form>`;

export const renderCsrfField = (token: string): Markup =>
  html`<input type="hidden" name="csrf_token" value="${token}">`;

const renderFooter = ({
  looks,
  links,
}: SiteFrame) => html`<footer class="site"><div class="bar"><span>${looks.name}</span>
<ul>${links.map(({ title, path }) => html`<li><a href="${path}">${title}</a></li>`)}
<li><a href="/feed.xml">Feed</a></li></ul></div></footer>`;

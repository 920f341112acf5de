import type { SiteAssets } from './assets.ts';
import { html, type Markup } from './markup.ts';
import { type SiteMenus, siteSections } from './menus.ts';
import {
  appsPath,
  cataloguePath,
  notificationsPath,
  profilePath,
  registerPath,
  type SiteDocument,
  type SiteLink,
  type SiteMenuItem,
  type SiteSection,
  type SiteVisitor,
  signInPath,
  teamPath,
  toRegisterUrl,
  toSignInUrl,
  usagePath,
} from './page.ts';
import type { SiteLooks } from './site-looks.ts';

/** Frame of every page: what surrounds its content. */
export interface SiteFrame {
  readonly looks: SiteLooks;
  readonly assets: SiteAssets;
  readonly visitor: SiteVisitor;
  readonly path: string;
  readonly isIndexable: boolean;
  readonly hasSignUp: boolean;
  readonly menus: SiteMenus;
  /** The site is private or hidden for the visitor: the frame has no links to its content. */
  readonly isClosed: boolean;
  /** In a frame of another site: the content alone. */
  readonly isEmbedded: boolean;
  /** Notice of the theme above the page, for administrators. */
  readonly notice: Markup | '';
}

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
${frame.isClosed ? '' : html`<link rel="alternate" type="application/atom+xml" title="${name}" href="/feed.xml">`}
<script type="module" src="${assets.scriptUrl}"></script></head>
<body>${
    frame.isEmbedded
      ? ''
      : html`<a class="skip" href="#content">Skip to content</a>${frame.notice}
${renderHeader(document, frame)}`
  }
<main id="content"${document.isWide ? html` class="wide"` : ''} tabindex="-1">${document.main}</main>
${frame.isEmbedded ? '' : renderFooter(frame)}</body></html>
`;
  return markup.toString();
}

const sectionPaths: Partial<Record<SiteSection, string>> = { catalogue: cataloguePath, blog: '/blog' };

function renderHeader({ section }: SiteDocument, frame: SiteFrame): Markup {
  const { looks, menus, path, visitor, hasSignUp, isClosed } = frame;
  const isCurrent = (link: SiteLink) => link.path === path || (section && link.path === sectionPaths[section]) === true;
  const items = menus.primary
    ? menus.primary.map(it => renderMenuItem(it, isCurrent))
    : [...siteSections, ...menus.pages].map(it => renderNavigationLink(it, isCurrent(it)));
  return html`<header class="site"><div class="bar"><a class="home" href="/">${
    looks.logoUrl
      ? html`<img class="brand" src="${looks.logoUrl}" alt="">`
      : html`<span class="mark" aria-hidden="true"></span>`
  }
${looks.name}</a><nav aria-label="Site"><ul>${items}</ul></nav>
${isClosed ? '' : searchForm}
<div class="account">${visitor.user ? renderAccount(visitor, isClosed) : renderSignInLink(path, hasSignUp)}</div></div></header>`;
}

const searchForm = html`<form role="search" action="/search" method="get"><input type="search" name="q"
 aria-label="Search the portal" placeholder="Search" maxlength="100" data-page-search></form>`;

const renderNavigationLink = ({ title, path }: SiteLink, isCurrent: boolean) =>
  html`<li><a href="${path}"${isCurrent ? html` aria-current="page"` : ''}>${title}</a></li>`;

/** Second level: a disclosure that needs no script; the item itself is the first of its links. */
function renderMenuItem(item: SiteMenuItem, isCurrent: (link: SiteLink) => boolean): Markup {
  if (item.children.length === 0) return renderNavigationLink(item, isCurrent(item));
  const links = item.path === '' ? item.children : [item, ...item.children];
  return html`<li><details class="menu"><summary>${item.title}</summary><ul>
${links.map(it => renderNavigationLink(it, isCurrent(it)))}</ul></details></li>`;
}

/** Sign-in and sign-up lead back to the page they were opened from. */
function renderSignInLink(path: string, hasSignUp: boolean): Markup {
  const next = path.startsWith('/auth/') || path === '/' ? '' : path;
  return html`<a href="${next ? toSignInUrl(next) : signInPath}">Sign in</a>
${hasSignUp ? html`<a href="${next ? toRegisterUrl(next) : registerPath}">Sign up</a>` : ''}`;
}

/** Links of everyday use, and the menu of the account, which needs no script. */
const renderAccount = ({ user, rights, unread = 0, csrfToken }: SiteVisitor, isClosed: boolean) =>
  isClosed
    ? renderSignOut(csrfToken)
    : html`<a href="${appsPath}">My apps</a> <a href="${usagePath}">Usage</a>
<a href="${notificationsPath}" class="bell" aria-label="Notifications${unread > 0 ? `, ${unread} unread` : ''}">${bellIcon}${
        unread > 0 ? html`<span class="count" aria-hidden="true">${unread}</span>` : ''
      }</a>
<details class="menu"><summary>${[user!.First, user!.Last].join(' ').trim() || user!.Email}</summary><ul>
<li><a href="${profilePath}">Profile</a></li>
${rights.kind === 'developer' ? html`<li><a href="${teamPath}">Team</a></li>` : ''}
${rights.kind === 'administrator' ? html`<li><a href="/admin">Admin</a></li>` : ''}
<li>${renderSignOut(csrfToken)}</li></ul></details>`;

const renderSignOut = (csrfToken: string): Markup =>
  html`<form method="post" action="/auth/logout">${renderCsrfField(csrfToken)}<button class="quiet">Sign out</button></form>`;

const bellIcon = html`<svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
<path d="M10 2.5a5 5 0 0 0-5 5c0 4-1.5 5.5-1.5 5.5h13S15 11.5 15 7.5a5 5 0 0 0-5-5ZM8.2 16a2 2 0 0 0 3.6 0"/></svg>`;

export const renderCsrfField = (token: string): Markup =>
  html`<input type="hidden" name="csrf_token" value="${token}">`;

const renderLink = ({ title, path }: SiteLink) =>
  path === '' ? html`<span>${title}</span>` : html`<a href="${path}">${title}</a>`;

const renderFooterItem = (item: SiteMenuItem) =>
  html`<li>${renderLink(item)}${
    item.children.length > 0 ? html`<ul>${item.children.map(it => html`<li>${renderLink(it)}</li>`)}</ul>` : ''
  }</li>`;

function renderFooter({ looks, menus }: SiteFrame): Markup {
  const feed = { title: 'Feed', path: '/feed.xml', children: [] };
  const items = menus.footer ?? [...menus.pages.map(it => ({ ...it, children: [] })), feed];
  return html`<footer class="site"><div class="bar"><span>${looks.name}</span>
<nav aria-label="Footer"><ul>${items.map(renderFooterItem)}</ul></nav></div></footer>`;
}

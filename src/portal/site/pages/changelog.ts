import { escapeMarkup } from '#base/escape-markup.ts';
import type { StoredChange } from '../../changelog/schema.ts';
import { readPortalUrl } from '../../portal-url.ts';
import type { StoredProduct } from '../../products/schema.ts';
import { renderCsrfField } from '../layout.ts';
import { renderMarkdown } from '../markdown.ts';
import { html, type Markup } from '../markup.ts';
import { findProductOffer } from '../offer.ts';
import {
  cataloguePath,
  type SiteDocument,
  type SiteFile,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
  toProductUrl,
  toSignInUrl,
} from '../page.ts';
import { displayName, formatDay } from '../words.ts';
import { renderProduct } from './product.ts';

/** Entries of the page and of the feed. */
const maxEntries = 100;
const newest = { page: 1, per_page: maxEntries };

const toChangelogUrl = (product: Pick<StoredProduct, 'Path'>) => `${toProductUrl(product)}/changelog`;

async function respond(request: SiteRequest, services: SiteServices): Promise<SiteDocument | undefined> {
  const found = await findProductOffer(request.params.path!, request.visitor, services);
  if (!found) return undefined;
  const { product } = found;
  const changes = await services.portal.changelog.page(product.ID, newest);
  if (changes.length === 0) return undefined;
  const main = html`<div class="actions">${await renderSubscription(product, request, services)}
<a href="${toChangelogUrl(product)}.xml">Feed</a></div><ol class="rows">${changes.map(renderChange)}</ol>`;
  return renderProduct(found, { id: 'changelog', main, title: 'Changelog' }, services);
}

const renderChange = ({ ID, Version, Kind, Headline, Text, ReleasedAt }: StoredChange): Markup =>
  html`<li id="change-${ID}"><div><h2>${Headline}</h2><p class="dim"><span class="badge">${Kind}</span>
${Version ? html`${Version}, ` : ''}${formatDay(ReleasedAt)}</p><div class="prose">${renderMarkdown(Text)}</div></div></li>`;

async function renderSubscription(
  product: StoredProduct,
  { visitor }: SiteRequest,
  { portal }: SiteServices,
): Promise<Markup> {
  const url = toChangelogUrl(product);
  if (!visitor.user) return html`<a class="button secondary" href="${toSignInUrl(url)}">Notify me</a>`;
  const isSubscribed = await portal.changelog.isSubscribed(product.ID, visitor.user.ID);
  const subscriptionPath = `/portal/private/subscriptions/${encodeURIComponent(product.Path)}`;
  return html`<form method="post" action="${subscriptionPath}">${renderCsrfField(visitor.csrfToken)}
<input type="hidden" name="wanted" value="${isSubscribed ? '' : 'yes'}">
<button class="secondary">${isSubscribed ? 'Do not notify me' : 'Notify me'}</button></form>`;
}

async function subscribe(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const { params, visitor, form } = request;
  const found = await findProductOffer(params.path!, visitor, services);
  if (!found) return undefined;
  const { changelog } = services.portal;
  const change = form('wanted') === '' ? changelog.unsubscribe : changelog.subscribe;
  await change(found.product.ID, visitor.user!.ID);
  return { redirect: toChangelogUrl(found.product) };
}

/** Atom feed (RFC 4287), for visitors to whom the product is visible: feed readers have no session. */
async function respondFeed(request: SiteRequest, services: SiteServices): Promise<SiteFile | undefined> {
  const found = await findProductOffer(request.params.path!, request.visitor, services);
  if (!found) return undefined;
  const { product } = found;
  const changes = await services.portal.changelog.page(product.ID, newest);
  const url = escapeMarkup(readPortalUrl(services.settings) + toChangelogUrl(product));
  const toTime = (ms: number) => new Date(ms).toISOString();
  const entries = changes.map(
    it =>
      `<entry><id>${url}#change-${it.ID}</id><title>${escapeMarkup(it.Headline)}</title>` +
      `<link href="${url}#change-${it.ID}"/><category term="${it.Kind}"/>` +
      `<published>${toTime(it.ReleasedAt)}</published><updated>${toTime(it.UpdatedAt)}</updated>` +
      `<summary>${escapeMarkup(it.Text.slice(0, 1000))}</summary></entry>`,
  );
  const name = escapeMarkup(displayName(product));
  const updated = toTime(Math.max(0, ...changes.map(({ UpdatedAt }) => UpdatedAt)));
  const file = `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><id>${url}</id><title>${name}</title><author><name>${name}</name></author>
<link href="${url}.xml" rel="self"/><updated>${updated}</updated>${entries.join('')}</feed>\n`;
  return { file, type: 'application/atom+xml; charset=utf-8' };
}

export const changelogPages: readonly SitePage[] = [
  { method: 'GET', path: `${cataloguePath}/:path/changelog`, access: 'all', respond },
  { method: 'GET', path: `${cataloguePath}/:path/changelog.xml`, access: 'all', respond: respondFeed },
  { method: 'POST', path: '/portal/private/subscriptions/:path', access: 'user', respond: subscribe },
];

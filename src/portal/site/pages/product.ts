import { partnersOf } from '../../join-table-store.ts';
import { toProductOwner } from '../../products/removal.ts';
import { isDocumentationOnly, type StoredProduct, toApiDetailView } from '../../products/schema.ts';
import { findVisibleDocs } from '../../visibility/kinds.ts';
import { canSeeContent } from '../../visibility/rules.ts';
import { listOwnRequests } from '../apps/own-requests.ts';
import { renderContent } from '../markdown.ts';
import { html, type Markup } from '../markup.ts';
import { findAccessObstacle, findProductOffer, type PlanOffer, type ProductOffer, toCheckoutUrl } from '../offer.ts';
import {
  cataloguePath,
  type SiteDocument,
  type SiteFile,
  type SitePage,
  type SiteRequest,
  type SiteServices,
  toProductUrl,
} from '../page.ts';
import { renderBadges, renderProductImage } from '../product-card.ts';
import { listProductDocuments } from '../reference/documents.ts';
import { findGatewayBase } from '../reference/gateway-base.ts';
import { renderScrollRegion } from '../scroll-region.ts';
import { displayName, formatKeyLifetime, formatQuota, formatRate } from '../words.ts';
import { renderPostCard, renderPostContent } from './blog.ts';
import { renderDraftNotice } from './content-page.ts';

export interface ProductTab {
  readonly id: 'overview' | 'reference' | 'guides' | 'changelog' | 'my-access';
  readonly main: Markup;
  readonly title?: string;
  readonly isWide?: boolean;
  /** The product has docs for the visitor; found where absent. */
  readonly hasDocs?: boolean;
}

/** A product with its tabs: each is a path of its own. */
export async function renderProduct(
  offer: ProductOffer,
  { id, main, title, isWide = false, hasDocs }: ProductTab,
  services: SiteServices,
): Promise<SiteDocument> {
  const { portal } = services;
  const { product, offers, isOffered } = offer;
  const url = toProductUrl(product);
  const gateway = await findGatewayBase(product, services);
  const tagIds = partnersOf(await portal.productTags.leftOf([product.ID]), product.ID);
  const tags = [...(await portal.tags.byIds(tagIds)).values()];
  const hasGuides = hasDocs ?? (await findVisibleDocs(offer.rights, offer, services)).length > 0;
  const tabs: readonly (readonly [ProductTab['id'], string, string, boolean])[] = [
    ['overview', 'Overview', url, true],
    ['reference', 'Reference', `${url}/docs`, (await listProductDocuments(product, portal)).length > 0],
    ['guides', 'Get started', `${url}/guides`, hasGuides],
    ['changelog', 'Changelog', `${url}/changelog`, (await portal.changelog.count(product.ID)) > 0],
    ['my-access', 'My access', `${url}/my-access`, offer.rights.kind !== 'anonymous' && !isDocumentationOnly(product)],
  ];
  const name = displayName(product);
  const isRequestable = findAccessObstacle(product) === undefined && offers.length > 0;
  return {
    title: title ? `${title} · ${name}` : name,
    section: 'catalogue',
    description: product.Description,
    isIndexable: true,
    isWide,
    main: html`<nav class="crumbs" aria-label="Breadcrumb"><a href="${cataloguePath}">Products</a></nav>
<div class="product-head">${renderProductImage(product)}<div><h1>${name}</h1><p class="line">${product.Description}</p>
${renderBadges(product)}${
  tags.length > 0
    ? html`<p class="tags">${tags.map(
        ({ Name }) => html`<a
 href="${cataloguePath}?tag=${encodeURIComponent(Name)}">#${Name}</a> `,
      )}</p>`
    : ''
}
${gateway.isKnown ? renderBaseUrl(gateway.url) : ''}</div>
${isRequestable ? html`<a class="button" href="${url}#plans">See plans</a>` : ''}</div>
<nav class="tabs" aria-label="Product">${tabs
      .filter(([, , , isShown]) => isShown)
      .map(
        ([tab, text, path]) => html`<a href="${path}"${tab === id ? html` aria-current="page"` : ''}>${text}</a>`,
      )}</nav>
${isOffered ? '' : html`<p class="message errors">This product is no longer offered. Your credentials go on working.</p>`}
${main}`,
  };
}

const renderBaseUrl = (base: string) =>
  html`<p class="base"><span class="dim">Base URL</span> <code>${base}</code>
<button class="copy quiet" type="button" data-copy="${base}" hidden>Copy</button></p>`;

async function respondOverview(request: SiteRequest, services: SiteServices): Promise<SiteDocument | undefined> {
  const found = await findProductOffer(request.params.path!, request.visitor, services);
  if (!found) return undefined;
  const { product, offers } = found;
  const main = html`<div class="prose">${renderContent(product.Content)}</div>${renderApis(product)}
${renderPlans(product, offers, await listOwnPlans(request, product, services))}
${await renderRelated(product, services)}`;
  return renderProduct(found, { id: 'overview', main }, services);
}

function renderApis({ APIDetails }: StoredProduct): Markup | '' {
  if (APIDetails.length === 0) return '';
  return html`<section aria-labelledby="apis"><h2 id="apis">APIs</h2><ul class="rows">${APIDetails.map(
    toApiDetailView,
  ).map(
    api => html`<li><div><strong>${api.Name}</strong> <span class="badge">${api.APIType}</span>
${api.Status ? '' : html` <span class="badge warning">Not active</span>`}<p class="dim">${api.Description}</p></div>
<code>${api.ListenPath}</code></li>`,
  )}</ul></section>`;
}

/** Plans under which apps of the visitor have access to a product. */
async function listOwnPlans({ visitor }: SiteRequest, { ID }: StoredProduct, services: SiteServices) {
  const requests = await listOwnRequests(visitor, services);
  const own = requests.filter(it => it.Status === 'approved' && it.ProductIDs.includes(ID));
  return new Set(own.map(({ PlanID }) => PlanID));
}

/** Newest posts with a tag of the product. */
async function renderRelated({ ID }: StoredProduct, { portal, posts }: SiteServices): Promise<Markup | ''> {
  const tagIds = partnersOf(await portal.productTags.leftOf([ID]), ID);
  const related = await posts.listTagged(tagIds, maxRelatedPosts);
  if (related.length === 0) return '';
  return html`<section aria-labelledby="related"><h2 id="related">Related posts</h2>
<ul class="cards">${related.map(renderPostCard)}</ul></section>`;
}

/** Posts below a product. */
const maxRelatedPosts = 3;
/** Plans from which a table compares them too. */
const minComparedPlans = 3;

const renderComparison = (offers: readonly PlanOffer[]) =>
  renderScrollRegion(
    'Comparison of plans',
    html`<table><caption>Comparison</caption><thead><tr><th scope="col">Plan</th><th scope="col">Rate</th>
<th scope="col">Quota</th><th scope="col">Keys</th><th scope="col">Approval</th></tr></thead><tbody>${offers.map(
      ({ plan }) => html`<tr><th scope="row">${displayName(plan)}</th><td>${formatRate(plan)}</td>
<td>${formatQuota(plan)}</td><td>${formatKeyLifetime(plan)}</td>
<td>${plan.AutoApproveAccessRequests ? 'Granted at once' : 'Needs approval'}</td></tr>`,
    )}</tbody></table>`,
  );

function renderPlans(product: StoredProduct, offers: readonly PlanOffer[], ownPlans: ReadonlySet<number>): Markup | '' {
  const obstacle = findAccessObstacle(product);
  if (obstacle) return html`<section id="plans"><h2>Access</h2><p>${obstacle}</p></section>`;
  if (offers.length === 0)
    return html`<section id="plans"><h2>Plans</h2><p class="dim">No plan is offered at the moment.</p></section>`;
  const names = new Set(offers.map(({ catalogueId }) => catalogueId));
  return html`<section id="plans" aria-labelledby="plans-title"><h2 id="plans-title">Plans</h2><ul class="cards plans">
${offers.map(offer => renderPlan(product, offer, names.size > 1, ownPlans))}</ul>
${offers.length >= minComparedPlans ? renderComparison(offers) : ''}</section>`;
}

function renderPlan(
  product: StoredProduct,
  offer: PlanOffer,
  namesCatalogue: boolean,
  ownPlans: ReadonlySet<number>,
): Markup {
  const { plan, catalogueName } = offer;
  const name = displayName(plan);
  return html`<li class="card plan"><h3>${name}
${ownPlans.has(plan.ID) ? html` <span class="badge success">Your plan</span>` : ''}</h3>
${namesCatalogue ? html`<p class="dim">In ${catalogueName}</p>` : ''}
${plan.Description ? html`<p class="line">${plan.Description}</p>` : ''}<ul class="facts"><li>${formatRate(plan)}</li>
<li>${formatQuota(plan)}</li><li>${formatKeyLifetime(plan)}</li>
<li>${plan.AutoApproveAccessRequests ? 'Granted at once' : 'Needs approval'}</li></ul>
<a class="button secondary" href="${toCheckoutUrl(product, offer)}">Access with this plan</a></li>`;
}

async function respondGuides(request: SiteRequest, services: SiteServices): Promise<SiteDocument | undefined> {
  const { params, visitor } = request;
  const found = await findProductOffer(params.path!, visitor, services);
  if (!found) return undefined;
  const { product } = found;
  const docs = await findVisibleDocs(visitor.rights, found, services);
  const index = params.guide === undefined ? 0 : docs.findIndex(it => it.Path === params.guide);
  const chosen = docs[index];
  const doc = chosen && (await services.portal.docs.get(product.ID, chosen.ID));
  if (!doc || !canSeeContent(visitor.rights, doc)) return undefined;
  const [previous, next] = [docs[index - 1], docs[index + 1]];
  const toUrl = (it: { Path: string }) => `${toProductUrl(product)}/guides/${encodeURIComponent(it.Path)}`;
  const main = html`<div class="with-side"><nav class="side" aria-label="Guides"><ol>${docs.map(
    it => html`<li><a href="${toUrl(it)}"${it === chosen ? html` aria-current="page"` : ''}>${it.Title}</a></li>`,
  )}</ol></nav><article class="prose">${renderDraftNotice(doc)}<h2>${doc.Title}</h2>${renderPostContent(doc)}
<nav class="paging" aria-label="Other guides">
${previous ? html`<a href="${toUrl(previous)}">← ${previous.Title}</a>` : ''}
${next ? html`<a href="${toUrl(next)}">${next.Title} →</a>` : ''}</nav></article></div>`;
  return renderProduct(found, { id: 'guides', main, title: doc.Title, hasDocs: true }, services);
}

/** Logo, or else the preview. Uploads have the type that their bytes show. */
async function respondImage(request: SiteRequest, services: SiteServices): Promise<SiteFile | undefined> {
  const found = await findProductOffer(request.params.path!, request.visitor, services);
  if (!found) return undefined;
  const owner = toProductOwner(found.product.ID);
  const image =
    (await services.portal.files.find(owner, 'logo')) ?? (await services.portal.files.find(owner, 'preview'));
  return image && { file: image.bytes, type: image.mediaType };
}

export const productPages: readonly SitePage[] = [
  { method: 'GET', path: `${cataloguePath}/:path`, access: 'all', respond: respondOverview },
  { method: 'GET', path: `${cataloguePath}/:path/guides`, access: 'all', respond: respondGuides },
  { method: 'GET', path: `${cataloguePath}/:path/guides/:guide`, access: 'all', respond: respondGuides },
  { method: 'GET', path: `${cataloguePath}/:path/image`, access: 'all', respond: respondImage },
];

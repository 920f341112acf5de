import { anonymousVisitor } from '../../visibility/rules.ts';
import { findVisibleCatalogues } from '../../visibility/visibility.ts';
import { toAppUrl } from '../apps/app-list.ts';
import { listPageApps } from '../apps/own-apps.ts';
import { html, type Markup } from '../markup.ts';
import { createOffer } from '../offer.ts';
import {
  appsPath,
  cataloguePath,
  type SiteDocument,
  type SitePage,
  type SiteRequest,
  type SiteServices,
} from '../page.ts';
import { renderProductCard } from '../product-card.ts';
import { renderPostCard } from './blog.ts';
import { findVisiblePage, renderBlock, toPageTemplate } from './content-page.ts';

const maxFeatured = 6;
const maxPosts = 3;
const maxOwnApps = 5;
/** Blocks of the page `/` with a place of their own; further ones follow below. */
const headlineBlock = 'Headline';
const leadBlock = 'Lead';

async function respond(request: SiteRequest, services: SiteServices): Promise<SiteDocument> {
  const { siteName } = request;
  const found = await findVisiblePage('/', anonymousVisitor, services);
  const blocks = found?.blocks ?? [];
  const textOf = (name: string) => {
    const block = blocks.find(it => it.Name.toLowerCase() === name.toLowerCase());
    return (block?.MarkdownEnabled ? block.MarkdownContent : block?.Content)?.trim();
  };
  const others = blocks.filter(
    ({ Name }) => ![headlineBlock, leadBlock].some(it => it.toLowerCase() === Name.toLowerCase()),
  );
  const lead = textOf(leadBlock) || 'Find an API, request access, and make your first call in a minute.';
  return {
    title: siteName,
    section: 'home',
    ...(found && { template: toPageTemplate(found) }),
    description: lead,
    isIndexable: true,
    main: html`<section class="hero"><h1>${textOf(headlineBlock) || formatHeadline(siteName)}</h1>
<p class="lead">${lead}</p><p class="actions"><a class="button" href="${cataloguePath}">Browse products</a></p></section>
${await renderFeatured(request, services)}${request.visitor.user ? await renderOwnApps(request, services) : renderSteps()}
${others.map(block => html`<section class="prose">${renderBlock(block)}</section>`)}${await renderPosts(services)}`,
  };
}

/** A name like *Developer portal* is a headline by itself. */
const formatHeadline = (name: string) => (/\bportal\b/i.test(name) ? name : `Build with ${name}`);

async function renderFeatured({ visitor }: SiteRequest, services: SiteServices): Promise<Markup | ''> {
  const catalogueIds = (await findVisibleCatalogues(visitor.rights, services)).map(({ ID }) => ID);
  const offer = createOffer(services);
  const featured = await offer.listProducts({ catalogueIds, featuredOnly: true, limit: maxFeatured });
  const products = featured.length > 0 ? featured : await offer.listProducts({ catalogueIds, limit: maxFeatured });
  if (products.length === 0) return '';
  return html`<section aria-labelledby="featured"><h2 id="featured">
${featured.length > 0 ? 'Featured products' : 'Products'}</h2>
<ul class="cards">${products.map(product => renderProductCard({ product, tags: [] }))}</ul></section>`;
}

const steps = [
  ['Find a product', 'Read what it does, and which plans it has.'],
  ['Choose a plan', 'Its limits are on the page of the product.'],
  ['Make a call', 'Send the key of your app with your first request.'],
] as const;

/** Newest apps of a signed-in user. */
async function renderOwnApps({ visitor }: SiteRequest, services: SiteServices): Promise<Markup> {
  const apps = (await listPageApps(visitor, services)).toReversed().slice(0, maxOwnApps);
  return html`<section aria-labelledby="own-apps"><h2 id="own-apps">Your apps</h2>
${
  apps.length === 0
    ? html`<p>You have none yet. <a href="${cataloguePath}">Choose a product</a>.</p>`
    : html`<ul class="rows">${apps.map(
        app => html`<li><div><strong><a href="${toAppUrl(app)}">${app.Name}</a></strong>
<p class="dim">${app.Description}</p></div></li>`,
      )}</ul><p><a href="${appsPath}">All apps</a></p>`
}</section>`;
}

const renderSteps = () =>
  html`<section aria-labelledby="steps"><h2 id="steps">Get started in three steps</h2><ol class="steps">
${steps.map(([title, text]) => html`<li><strong>${title}</strong><span>${text}</span></li>`)}</ol></section>`;

async function renderPosts(services: SiteServices): Promise<Markup | ''> {
  const posts = await services.posts.pagePublished({ page: 1, size: maxPosts });
  if (posts.length === 0) return '';
  return html`<section aria-labelledby="posts"><h2 id="posts">From the blog</h2>
<ul class="cards">${posts.map(renderPostCard)}</ul></section>`;
}

export const homePages: readonly SitePage[] = [
  { method: 'GET', path: '/', access: 'all', respond },
  { method: 'GET', path: '/portal', access: 'all', respond: async () => ({ redirect: cataloguePath }) },
];

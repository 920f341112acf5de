import { listSearchWords } from '#storage/search-words.ts';
import { toAppUrl } from '../apps/app-list.ts';
import { listPageApps } from '../apps/own-apps.ts';
import { highlightWords } from '../highlight.ts';
import { toJsonFile } from '../json/json-file.ts';
import { html, type Markup } from '../markup.ts';
import {
  type SiteLink,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
  toProductUrl,
} from '../page.ts';
import { renderProductCard } from '../product-card.ts';
import { displayName } from '../words.ts';
import { type PostOutline, renderPostCard, toPostUrl } from './blog.ts';
import { findProducts } from './catalogue.ts';
import { listContentPages } from './content-page.ts';
import {
  type EntryLink,
  findEntryLinks,
  maxSearchWords,
  renderGuideLink,
  renderOperationLink,
} from './search-entries.ts';

/** Results of each group. */
const maxResults = 12;
/** Newest posts that a search compares. */
const maxComparedPosts = 100;
/** Oldest pages whose titles a search compares. */
const maxComparedPages = 200;

const readText = ({ query }: SiteRequest) => query('q').trim().slice(0, 100);

/** Results of a text for the visitor, in groups; none without a text. */
async function search(request: SiteRequest, services: SiteServices) {
  const text = readText(request);
  if (text === '') return { cards: [], operations: [], guides: [], posts: [], pages: [], apps: [] };
  const filter = { text, catalogue: '', tag: '', kind: '', auth: '' };
  const { cards, catalogues } = await findProducts(filter, request, services, { page: 1, size: maxResults });
  const catalogueIds = catalogues.map(({ ID }) => ID);
  const matches = ({ title }: SiteLink) => title.toLowerCase().includes(text.toLowerCase());
  const apps = request.visitor.user ? await listPageApps(request.visitor, services) : [];
  const ownApps = apps.map(app => ({ title: app.Name, path: toAppUrl(app) }));
  return {
    cards,
    operations: await findEntryLinks('operation', text, catalogueIds, maxResults, services),
    guides: await findEntryLinks('guide', text, catalogueIds, maxResults, services),
    posts: await findPosts(text, services),
    pages: (await listContentPages(maxComparedPages, services)).filter(matches).slice(0, maxResults),
    apps: ownApps.filter(matches).slice(0, maxResults),
  };
}

/** Results as titles and paths. */
export async function findSearchResults(request: SiteRequest, services: SiteServices) {
  const { cards, operations, guides, posts, pages, apps } = await search(request, services);
  const toLink = ({ title, path }: SiteLink) => ({ Title: title, Path: path });
  const toEntry = ({ summary, product, ...link }: EntryLink) => ({
    ...toLink(link),
    Summary: summary,
    Product: product,
  });
  return {
    Products: cards.map(({ product }) => ({ Title: displayName(product), Path: toProductUrl(product) })),
    Operations: operations.map(toEntry),
    Guides: guides.map(toEntry),
    Posts: posts.map(post => ({ Title: post.Title, Path: toPostUrl(post) })),
    Pages: pages.map(toLink),
    Apps: apps.map(toLink),
  };
}

const renderGroup = (id: string, title: string, className: string, items: readonly Markup[]) =>
  items.length === 0
    ? ''
    : html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2><ul class="${className}">${items}</ul></section>`;
const renderLinkRow = ({ title, path }: SiteLink, words: readonly string[]) =>
  html`<li><a href="${path}">${highlightWords(title, words)}</a></li>`;

async function respond(request: SiteRequest, services: SiteServices): Promise<SiteReply> {
  if (request.query('format') === 'json') return toJsonFile(await findSearchResults(request, services));
  const text = readText(request);
  const { cards, operations, guides, posts, pages, apps } = await search(request, services);
  const words = listSearchWords(text).slice(0, maxSearchWords);
  const isEmpty = [cards, operations, guides, posts, pages, apps].every(({ length }) => length === 0);
  return {
    title: text ? `Search for ${text}` : 'Search',
    main: html`<div class="head"><h1>Search</h1></div><form class="inline" role="search" action="/search" method="get">
<input type="search" name="q" value="${text}" maxlength="100"
 aria-label="Search products, operations, guides, posts, pages and apps">
<button>Search</button></form>
${text && isEmpty ? html`<div class="notice"><p>Nothing matches “${text}”.</p></div>` : ''}
${renderGroup('products', 'Products', 'cards', cards.map(renderProductCard))}
${renderGroup(
  'operations',
  'Operations',
  'rows operations',
  operations.map(it => renderOperationLink(it, words)),
)}
${renderGroup(
  'guides',
  'Guides',
  'rows',
  guides.map(it => renderGuideLink(it, words)),
)}
${renderGroup(
  'posts',
  'Blog',
  'cards',
  posts.map(it => renderPostCard({ ...it, words })),
)}
${renderGroup(
  'pages',
  'Pages',
  'rows',
  pages.map(it => renderLinkRow(it, words)),
)}
${renderGroup(
  'apps',
  'My apps',
  'rows',
  apps.map(it => renderLinkRow(it, words)),
)}`,
  };
}

/** Newest posts with a text. */
async function findPosts(text: string, { posts }: SiteServices): Promise<PostOutline[]> {
  const found: PostOutline[] = [];
  for await (const batch of posts.readPublished(maxComparedPosts))
    for (const { Title, Lede, Path, CreatedAt, PublishAt = 0, ImageAt = 0, Content, MarkdownContent } of batch)
      if ([Title, Lede, Content, MarkdownContent].join('\n').toLowerCase().includes(text.toLowerCase()))
        found.push({ Title, Lede, Path, CreatedAt, PublishAt, ImageAt });
  return found.slice(0, maxResults);
}

export const searchPages: readonly SitePage[] = [{ method: 'GET', path: '/search', access: 'all', respond }];

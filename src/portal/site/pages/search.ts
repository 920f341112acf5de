import { html } from '../markup.ts';
import type { SiteDocument, SitePage, SiteRequest, SiteServices } from '../page.ts';
import { renderProductCard } from '../product-card.ts';
import { type PostOutline, renderPostCard } from './blog.ts';
import { findProducts } from './catalogue.ts';

const maxResults = 12;
/** Newest posts that a search compares. */
const maxComparedPosts = 100;

async function respond(request: SiteRequest, services: SiteServices): Promise<SiteDocument> {
  const text = request.query('q').trim().slice(0, 100);
  const filter = { text, catalogue: '', tag: '', kind: '', auth: '' };
  const products = text ? await findProducts(filter, request, services, { page: 1, size: maxResults }) : undefined;
  const found = text ? await findPosts(text, services) : [];
  const isEmpty = (products?.total ?? 0) === 0 && found.length === 0;
  return {
    title: text ? `Search for ${text}` : 'Search',
    main: html`<div class="head"><h1>Search</h1></div><form class="inline" role="search" action="/search" method="get">
<input type="search" name="q" value="${text}" aria-label="Search products and posts" maxlength="100">
<button>Search</button></form>
${text && isEmpty ? html`<div class="notice"><p>Nothing matches “${text}”.</p></div>` : ''}
${
  products && products.total > 0
    ? html`<section aria-labelledby="products"><h2 id="products">Products</h2>
<ul class="cards">${products.cards.map(renderProductCard)}</ul></section>`
    : ''
}
${
  found.length > 0
    ? html`<section aria-labelledby="posts"><h2 id="posts">Blog</h2>
<ul class="cards">${found.map(renderPostCard)}</ul></section>`
    : ''
}`,
  };
}

/** Newest posts with a text. */
async function findPosts(text: string, { posts }: SiteServices): Promise<PostOutline[]> {
  const found: PostOutline[] = [];
  for await (const batch of posts.readPublished(maxComparedPosts))
    for (const { Title, Lede, Path, CreatedAt, Content, MarkdownContent } of batch)
      if ([Title, Lede, Content, MarkdownContent].join('\n').toLowerCase().includes(text.toLowerCase()))
        found.push({ Title, Lede, Path, CreatedAt });
  return found.slice(0, maxResults);
}

export const searchPages: readonly SitePage[] = [{ method: 'GET', path: '/search', access: 'all', respond }];

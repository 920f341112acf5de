import type { StoredLabel, StoredPost } from '../../posts/schema.ts';
import { formatPostDay } from '../../posts/store.ts';
import { highlightWords } from '../highlight.ts';
import { renderContent, renderMarkdown } from '../markdown.ts';
import { html, type Markup } from '../markup.ts';
import type { SiteDocument, SitePage, SiteRequest, SiteServices } from '../page.ts';
import { formatDay } from '../words.ts';
import { readPage, renderPageLinks } from './catalogue.ts';

const pageSize = 10;
const maxLatest = 3;

/** `/blog/2026/11/17/path` in UTC, of the day of its creation. */
export const toPostUrl = ({ CreatedAt, Path }: Pick<StoredPost, 'CreatedAt' | 'Path'>): string =>
  `/blog/${formatPostDay(CreatedAt)}/${encodeURIComponent(Path)}`;
const toCategoryUrl = ({ Name }: Pick<StoredLabel, 'Name'>): string => `/blog/category/${encodeURIComponent(Name)}`;

export const listPublishedPosts = ({ posts }: SiteServices, { page, size }: { page: number; size: number }) =>
  posts.page({ page, per_page: size }, { status: 'published' });

/** A post without its texts, as cards show it. */
export type PostOutline = Pick<StoredPost, 'Title' | 'Lede' | 'Path' | 'CreatedAt'>;

/** `words`: those of a search. */
export const renderPostCard = ({ words = [], ...post }: PostOutline & { readonly words?: readonly string[] }): Markup =>
  html`<li class="card"><p class="dim">${formatDay(post.CreatedAt)}</p>
<h2><a href="${toPostUrl(post)}">${highlightWords(post.Title, words)}</a></h2>
<p class="line">${highlightWords(post.Lede, words)}</p></li>`;

async function respondList({ query }: SiteRequest, services: SiteServices): Promise<SiteDocument> {
  const page = readPage(query);
  const posts = await listPublishedPosts(services, { page, size: pageSize });
  // The post behind the page shows whether there is another page.
  const next = await listPublishedPosts(services, { page: page * pageSize + 1, size: 1 });
  return {
    title: 'Blog',
    section: 'blog',
    isIndexable: true,
    main: html`<div class="head"><h1>Blog</h1></div>${
      posts.length > 0
        ? html`<ul class="cards">${posts.map(renderPostCard)}</ul>`
        : html`<div class="notice"><p>There are no posts yet.</p></div>`
    }${renderPageLinks(page, next.length > 0, number => `/blog?page=${number}`)}`,
  };
}

/** Published posts of a category; one without any does not exist for visitors. */
async function respondCategory(
  { params, query }: SiteRequest,
  { posts }: SiteServices,
): Promise<SiteDocument | undefined> {
  const category = await posts.categories.findByName(params.category!);
  if (!category) return undefined;
  const page = readPage(query);
  const shown = await posts.pageOfCategory(category.ID, { page, size: pageSize });
  if (shown.length === 0) return undefined;
  const next = await posts.pageOfCategory(category.ID, { page: page * pageSize + 1, size: 1 });
  const url = toCategoryUrl(category);
  return {
    title: category.Name,
    section: 'blog',
    isIndexable: true,
    main: html`<div class="head"><p class="dim"><a href="/blog">Blog</a></p><h1>${category.Name}</h1></div>
<ul class="cards">${shown.map(renderPostCard)}</ul>
${renderPageLinks(page, next.length > 0, number => `${url}?page=${number}`)}`,
  };
}

export const renderPostContent = ({ MarkdownEnabled, MarkdownContent, Content }: StoredPost): Markup =>
  MarkdownEnabled ? renderMarkdown(MarkdownContent) : renderContent(Content);

async function respondPost({ params, path }: SiteRequest, services: SiteServices): Promise<SiteDocument | undefined> {
  const [post] = await services.posts.page({ page: 1, per_page: 1 }, { path: params.path!, status: 'published' });
  if (!post || toPostUrl(post) !== path) return undefined;
  const [labels] = await services.posts.readLabels([post]);
  const latest = (await listPublishedPosts(services, { page: 1, size: maxLatest + 1 })).filter(it => it.ID !== post.ID);
  return {
    title: post.Title,
    section: 'blog',
    description: post.Lede,
    isIndexable: true,
    main: html`<article class="prose"><p class="dim">${formatDay(post.CreatedAt)}
${labels!.categories.map(it => html` · <a href="${toCategoryUrl(it)}">${it.Name}</a>`)}</p>
<h1>${post.Title}</h1>${post.Lede ? html`<p class="lead">${post.Lede}</p>` : ''}${renderPostContent(post)}</article>
${
  latest.length > 0
    ? html`<section aria-labelledby="latest"><h2 id="latest">Latest posts</h2>
<ul class="cards">${latest.slice(0, maxLatest).map(renderPostCard)}</ul></section>`
    : ''
}`,
  };
}

export const blogPages: readonly SitePage[] = [
  { method: 'GET', path: '/blog', access: 'all', respond: respondList },
  { method: 'GET', path: '/blog/category/:category', access: 'all', respond: respondCategory },
  { method: 'GET', path: '/blog/:year/:month/:day/:path', access: 'all', respond: respondPost },
];

import type { StoredPost } from '../../posts/schema.ts';
import { renderContent, renderMarkdown } from '../markdown.ts';
import { html, type Markup } from '../markup.ts';
import type { SiteDocument, SitePage, SiteRequest, SiteServices } from '../page.ts';
import { formatDay } from '../words.ts';
import { readPage, renderPageLinks } from './catalogue.ts';

const pageSize = 10;
const maxLatest = 3;

/** `/blog/2026/11/17/path` in UTC, of the day of its creation. */
export const toPostUrl = ({ CreatedAt, Path }: Pick<StoredPost, 'CreatedAt' | 'Path'>): string =>
  `/blog/${new Date(CreatedAt).toISOString().slice(0, 10).replaceAll('-', '/')}/${encodeURIComponent(Path)}`;

export const listPublishedPosts = ({ posts }: SiteServices, { page, size }: { page: number; size: number }) =>
  posts.page({ page, per_page: size }, { status: 'published' });

/** A post without its texts, as cards show it. */
export type PostOutline = Pick<StoredPost, 'Title' | 'Lede' | 'Path' | 'CreatedAt'>;

export const renderPostCard = (post: PostOutline): Markup =>
  html`<li class="card"><p class="dim">${formatDay(post.CreatedAt)}</p><h2><a href="${toPostUrl(post)}">${post.Title}</a></h2>
<p class="line">${post.Lede}</p></li>`;

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
${labels!.categories.map(it => html` · ${it.Name}`)}</p>
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
  { method: 'GET', path: '/blog/:year/:month/:day/:path', access: 'all', respond: respondPost },
];

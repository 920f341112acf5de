import { postImageSlot, toPostOwner } from '../../posts/image-operations.ts';
import { getPostDate, type StoredArticle, type StoredLabel, type StoredPost } from '../../posts/schema.ts';
import { formatPostDay } from '../../posts/store.ts';
import { highlightWords } from '../highlight.ts';
import { renderContent, renderMarkdown } from '../markdown.ts';
import { html, type Markup } from '../markup.ts';
import {
  postPreviewPath,
  type SiteDocument,
  type SiteFile,
  type SitePage,
  type SiteRequest,
  type SiteServices,
} from '../page.ts';
import { formatDay } from '../words.ts';
import { readPage, renderPageLinks } from './catalogue.ts';

const pageSize = 10;
const maxLatest = 3;

/** `/blog/2026/11/17/path`, with the day of the post's date in UTC. */
export const toPostUrl = (post: Pick<StoredPost, 'CreatedAt' | 'PublishAt' | 'Path'>): string =>
  `/blog/${formatPostDay(getPostDate(post))}/${encodeURIComponent(post.Path)}`;
const toCategoryUrl = ({ Name }: Pick<StoredLabel, 'Name'>): string => `/blog/category/${encodeURIComponent(Name)}`;

/** A post without its texts, as cards show it. */
export type PostOutline = Pick<StoredPost, 'Title' | 'Lede' | 'Path' | 'CreatedAt' | 'PublishAt' | 'ImageAt'>;

const renderImage = ({ ImageAt }: Pick<StoredPost, 'ImageAt'>, pageUrl: string): Markup | '' =>
  ImageAt ? html`<img class="cover" src="${pageUrl}/image" alt="" loading="lazy">` : '';

/** `words`: those of a search. */
export const renderPostCard = ({ words = [], ...post }: PostOutline & { readonly words?: readonly string[] }): Markup =>
  html`<li class="card">${renderImage(post, toPostUrl(post))}<p class="dim">${formatDay(getPostDate(post))}</p>
<h2><a href="${toPostUrl(post)}">${highlightWords(post.Title, words)}</a></h2>
<p class="line">${highlightWords(post.Lede, words)}</p></li>`;

async function respondList({ query }: SiteRequest, services: SiteServices): Promise<SiteDocument> {
  const page = readPage(query);
  const posts = await services.posts.pagePublished({ page, size: pageSize });
  // The post behind the page shows whether there is another page.
  const next = await services.posts.pagePublished({ page: page * pageSize + 1, size: 1 });
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

export const renderPostContent = ({ MarkdownEnabled, MarkdownContent, Content }: StoredArticle): Markup =>
  MarkdownEnabled ? renderMarkdown(MarkdownContent) : renderContent(Content);

async function renderPost(post: StoredPost, url: string, { posts }: SiteServices): Promise<Markup> {
  const [labels] = await posts.readLabels([post]);
  return html`<article class="prose"><p class="dim">${formatDay(getPostDate(post))}
${labels!.categories.map(it => html` · <a href="${toCategoryUrl(it)}">${it.Name}</a>`)}</p>
<h1>${post.Title}</h1>${post.Lede ? html`<p class="lead">${post.Lede}</p>` : ''}${renderImage(post, url)}
${renderPostContent(post)}</article>`;
}

/** Public post of an address; undefined also for one of another day. */
async function findPost({ params }: SiteRequest, { posts }: SiteServices): Promise<StoredPost | undefined> {
  const post = await posts.findPublished(params.path!);
  const day = [params.year, params.month, params.day].join('/');
  return post && formatPostDay(getPostDate(post)) === day ? post : undefined;
}

async function respondPost(request: SiteRequest, services: SiteServices): Promise<SiteDocument | undefined> {
  const post = await findPost(request, services);
  if (!post) return undefined;
  const newest = await services.posts.pagePublished({ page: 1, size: maxLatest + 1 });
  const latest = newest.filter(it => it.ID !== post.ID).slice(0, maxLatest);
  return {
    title: post.Title,
    section: 'blog',
    description: post.Lede,
    isIndexable: true,
    main: html`${await renderPost(post, toPostUrl(post), services)}
${
  latest.length > 0
    ? html`<section aria-labelledby="latest"><h2 id="latest">Latest posts</h2>
<ul class="cards">${latest.map(renderPostCard)}</ul></section>`
    : ''
}`,
  };
}

/** Uploads have the type that their bytes show; opened as a document, one can neither run nor load anything. */
async function readImage(post: StoredPost, { portal }: SiteServices): Promise<SiteFile | undefined> {
  const image = await portal.files.find(toPostOwner(post.ID), postImageSlot);
  return image && { file: image.bytes, type: image.mediaType, policy: "default-src 'none'; sandbox" };
}

async function respondImage(request: SiteRequest, services: SiteServices): Promise<SiteFile | undefined> {
  const post = await findPost(request, services);
  return post && readImage(post, services);
}

/** A post in any state, for administrators alone. */
const findPreviewed = async ({ params, visitor }: SiteRequest, { posts }: SiteServices) =>
  visitor.rights.kind === 'administrator' && /^\d{1,15}$/.test(params.post!)
    ? posts.get(Number(params.post))
    : undefined;

async function respondPreview(request: SiteRequest, services: SiteServices): Promise<SiteDocument | undefined> {
  const post = await findPreviewed(request, services);
  if (!post) return undefined;
  const notice = services.posts.isPublic(post)
    ? html`<p class="message">Visitors see this post at <a href="${toPostUrl(post)}">its address</a>.</p>`
    : html`<p class="message">A preview: only administrators of the portal see it.</p>`;
  const main = html`${notice}${await renderPost(post, `${postPreviewPath}/${post.ID}`, services)}`;
  return { title: post.Title, section: 'blog', main };
}

async function respondPreviewImage(request: SiteRequest, services: SiteServices): Promise<SiteFile | undefined> {
  const post = await findPreviewed(request, services);
  return post && readImage(post, services);
}

export const blogPages: readonly SitePage[] = [
  { method: 'GET', path: '/blog', access: 'all', respond: respondList },
  { method: 'GET', path: '/blog/category/:category', access: 'all', respond: respondCategory },
  { method: 'GET', path: '/blog/:year/:month/:day/:path', access: 'all', respond: respondPost },
  { method: 'GET', path: '/blog/:year/:month/:day/:path/image', access: 'all', respond: respondImage },
  { method: 'GET', path: `${postPreviewPath}/:post`, access: 'user', respond: respondPreview },
  { method: 'GET', path: `${postPreviewPath}/:post/image`, access: 'user', respond: respondPreviewImage },
];

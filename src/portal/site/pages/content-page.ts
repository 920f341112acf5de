import { isBuiltInPath } from '../../pages/built-in-paths.ts';
import type { StoredBlock, StoredPage } from '../../pages/schema.ts';
import { anonymousVisitor, canSeeContent, type Visitor } from '../../visibility/rules.ts';
import { renderContent, renderMarkdown } from '../markdown.ts';
import { html, type Markup } from '../markup.ts';
import type { PageTemplate, SiteDocument, SiteLink, SiteRequest, SiteServices } from '../page.ts';

/** Pages that administrators write: their blocks, in the order of their creation. */

const maxNavigationPages = 6;
const pageBatch = 100;
/** Pages of earlier versions may have a path of the site itself; the page `/` has the texts of the home page. */
const isOwnPath = (path: string) => path === '/' || isBuiltInPath(path);

/** Address of a page: its path has characters that URLs do not. */
const toContentUrl = (path: string) => path.split('/').map(encodeURIComponent).join('/');

/** Public pages for the navigation and the sitemap, oldest first: reads no more than are needed. */
export async function listContentPages(limit: number, { portal }: SiteServices): Promise<SiteLink[]> {
  const found: SiteLink[] = [];
  let batch: StoredPage[];
  let last = 0;
  do {
    batch = await portal.pages.publishedAfter(last, pageBatch);
    for (const page of batch)
      if (canSeeContent(anonymousVisitor, page) && !isOwnPath(page.Path))
        found.push({ title: page.Title, path: toContentUrl(page.Path) });
    last = batch.at(-1)?.ID ?? 0;
  } while (batch.length === pageBatch && found.length < limit);
  return found.slice(0, limit);
}

export const listNavigationPages = (services: SiteServices) => listContentPages(maxNavigationPages, services);

export const renderBlock = (block: StoredBlock): Markup =>
  block.MarkdownEnabled ? renderMarkdown(block.MarkdownContent) : renderContent(block.Content);

/** Page of a decoded path with its blocks; undefined where the visitor may not see it. */
export async function findVisiblePage(
  path: string,
  rights: Visitor,
  { portal }: SiteServices,
): Promise<{ page: StoredPage; blocks: StoredBlock[] } | undefined> {
  // Pages of earlier versions may end with a slash, which requests are compared without.
  const page = (await portal.pages.rows.find({ path })) ?? (await portal.pages.rows.find({ path: `${path}/` }));
  if (!page || !canSeeContent(rights, page)) return undefined;
  return { page, blocks: await portal.pages.blocks.all({ page_id: page.ID }) };
}

/** Administrators see drafts before they are published. */
export const renderDraftNotice = (content: { readonly Status: string }): Markup | '' =>
  canSeeContent(anonymousVisitor, content)
    ? ''
    : html`<p class="message">A draft: only administrators of the portal see it.</p>`;

/** Texts of blocks, which a template prints escaped; the content of the page has their markup. */
export const toPageTemplate = ({
  page,
  blocks,
}: {
  page: StoredPage;
  blocks: readonly StoredBlock[];
}): PageTemplate => ({
  name: page.Template,
  path: page.Path,
  blocks: Object.fromEntries(
    blocks.map(({ Name, MarkdownEnabled, MarkdownContent, Content }) => [
      Name,
      MarkdownEnabled ? MarkdownContent : Content,
    ]),
  ),
});

export async function findContentPage(
  { path, visitor }: SiteRequest,
  services: SiteServices,
): Promise<SiteDocument | undefined> {
  const decoded = decodeURIComponent(path);
  const found =
    isOwnPath(decoded) || decoded.includes('\0') ? undefined : await findVisiblePage(decoded, visitor.rights, services);
  if (!found) return undefined;
  const { page, blocks } = found;
  return {
    title: page.Title,
    isIndexable: true,
    template: toPageTemplate(found),
    main: html`<article class="prose">${renderDraftNotice(page)}<h1>${page.Title}</h1>${blocks.map(renderBlock)}
${blocks.length === 0 ? html`<p class="dim">This page has no content yet.</p>` : ''}</article>`,
  };
}

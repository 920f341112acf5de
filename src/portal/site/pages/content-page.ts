import type { StoredBlock, StoredPage } from '../../pages/schema.ts';
import type { SiteLink } from '../layout.ts';
import { renderContent, renderMarkdown } from '../markdown.ts';
import { html, type Markup } from '../markup.ts';
import type { SiteDocument, SiteRequest, SiteServices } from '../page.ts';

/** Pages that administrators write: their blocks, in the order of their creation. */

const maxNavigationPages = 6;
/** Paths that the site answers itself. */
const isOwnPath = (path: string) => /^\/($|portal(\/|$)|auth(\/|$)|blog(\/|$)|search$|site(\/|$))/.test(path);

export async function listNavigationPages({ portal }: SiteServices): Promise<SiteLink[]> {
  const pages = (await portal.pages.all()).filter(it => it.Status === 'Published' && !isOwnPath(it.Path));
  return pages.slice(0, maxNavigationPages).map(({ Title, Path }) => ({ title: Title, path: Path }));
}

export const renderBlock = (block: StoredBlock): Markup =>
  block.MarkdownEnabled ? renderMarkdown(block.MarkdownContent) : renderContent(block.Content);

/** Page of a path with its blocks; drafts do not exist for visitors. */
export async function findPublishedPage(
  path: string,
  { portal }: SiteServices,
): Promise<{ page: StoredPage; blocks: StoredBlock[] } | undefined> {
  const page = await portal.pages.rows.find({ path });
  if (page?.Status !== 'Published') return undefined;
  return { page, blocks: await portal.pages.blocks.all({ page_id: page.ID }) };
}

export async function findContentPage(
  { path }: SiteRequest,
  services: SiteServices,
): Promise<SiteDocument | undefined> {
  const found = isOwnPath(path) ? undefined : await findPublishedPage(path, services);
  if (!found) return undefined;
  const { page, blocks } = found;
  return {
    title: page.Title,
    isIndexable: true,
    main: html`<article class="prose"><h1>${page.Title}</h1>${blocks.map(renderBlock)}
${blocks.length === 0 ? html`<p class="dim">This page has no content yet.</p>` : ''}</article>`,
  };
}

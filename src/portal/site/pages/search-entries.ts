import { listSearchWords } from '#storage/search-words.ts';
import { toApiOwner, toSpecOwner } from '../../products/removal.ts';
import type { StoredProduct } from '../../products/schema.ts';
import type { EntryKind } from '../../search/schema.ts';
import type { FoundEntry } from '../../search/store.ts';
import { highlightWords } from '../highlight.ts';
import { html, type Markup } from '../markup.ts';
import { type SiteServices, toProductUrl } from '../page.ts';
import { renderMethodBadge } from '../reference/method-badge.ts';
import { displayName } from '../words.ts';

/** Of a search. */
export const maxSearchWords = 8;

/** An operation or a guide of a visible product. */
export interface EntryLink {
  readonly title: string;
  readonly summary: string;
  readonly path: string;
  readonly product: string;
}

/** Segment of the address of the document of an operation; undefined where the product has it no more. */
const findDocumentId = ({ ID, APIDetails, SpecDetails }: StoredProduct, owner: string) =>
  APIDetails.find(({ APIID }) => toApiOwner(ID, APIID) === owner)?.APIID ??
  SpecDetails.find(spec => toSpecOwner(ID, spec.ID) === owner)?.SpecAlias;

function toEntryPath(kind: EntryKind, { owner, place }: FoundEntry, product: StoredProduct): string | undefined {
  const base = toProductUrl(product);
  if (kind === 'guide') return `${base}/guides/${encodeURIComponent(place)}`;
  const id = findDocumentId(product, owner);
  return id && `${base}/${encodeURIComponent(id)}/docs/${encodeURIComponent(place)}`;
}

/** Operations or guides with the words of a text, of products in the catalogues. */
export async function findEntryLinks(
  kind: EntryKind,
  text: string,
  catalogueIds: readonly number[],
  limit: number,
  { portal }: Pick<SiteServices, 'portal'>,
): Promise<EntryLink[]> {
  const words = listSearchWords(text).slice(0, maxSearchWords);
  const found = await portal.search.find({ kind, catalogueIds, words, limit });
  const products = await portal.products.byIds(found.map(({ productId }) => productId));
  return found.flatMap(entry => {
    const product = products.get(entry.productId);
    const path = product && toEntryPath(kind, entry, product);
    return path ? [{ title: entry.title, summary: entry.summary, path, product: displayName(product) }] : [];
  });
}

const renderSummary = ({ summary, product }: EntryLink, words: readonly string[]) =>
  html`<p class="dim">${summary ? html`${highlightWords(summary, words)} · ` : ''}${product}</p>`;

export function renderOperationLink(link: EntryLink, words: readonly string[]): Markup {
  const [method = '', ...rest] = link.title.split(' ');
  return html`<li><div><a href="${link.path}">${renderMethodBadge(method)}
<code>${highlightWords(rest.join(' '), words)}</code></a>
${renderSummary(link, words)}</div></li>`;
}

export const renderGuideLink = (link: EntryLink, words: readonly string[]): Markup =>
  html`<li><div><a href="${link.path}">${highlightWords(link.title, words)}</a>${renderSummary(link, words)}</div></li>`;

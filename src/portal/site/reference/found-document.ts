import type { FileContent } from '#operations/body.ts';
import { html, type Markup } from '../markup.ts';
import { findProductOffer, type ProductOffer } from '../offer.ts';
import { type SiteRequest, type SiteServices, toProductUrl } from '../page.ts';
import { renderProduct } from '../pages/product.ts';
import { listProductDocuments, type ProductDocument } from './documents.ts';

/** Document of a product that the visitor sees. */
export interface FoundDocument {
  readonly offer: ProductOffer;
  readonly documents: readonly ProductDocument[];
  readonly chosen: ProductDocument;
  readonly content: FileContent;
  readonly url: string;
}

export const toDocumentUrl = ({ product }: ProductOffer, { id }: ProductDocument) =>
  `${toProductUrl(product)}/${encodeURIComponent(id)}/docs`;

/** Of an API whose schema is read at the gateway. */
const noContent: FileContent = { bytes: Buffer.alloc(0), mediaType: 'text/plain' };

export async function findDocument({ params, visitor }: SiteRequest, services: SiteServices) {
  const offer = await findProductOffer(params.path!, visitor, services);
  const documents = offer ? await listProductDocuments(offer.product, services.portal) : [];
  const chosen = documents.find(({ id }) => id === params.api);
  const content = chosen && (chosen.isLive ? noContent : await services.portal.files.find(chosen.owner, chosen.slot));
  if (!offer || !chosen || !content) return undefined;
  return { offer, documents, chosen, content, url: toDocumentUrl(offer, chosen) } satisfies FoundDocument;
}

export const renderChooser = ({ offer, documents, chosen, url }: FoundDocument) => html`<div class="head">
${
  documents.length > 1
    ? html`<nav aria-label="Documents"><ul class="badges">${documents.map(
        it => html`<li><a class="badge" href="${toDocumentUrl(offer, it)}"
${it === chosen ? html` aria-current="page"` : ''}>${it.name}</a></li>`,
      )}</ul></nav>`
    : ''
}${chosen.isLive ? '' : html`<a class="button secondary" href="${url}/download">Download</a>`}</div>`;

export const renderReferencePage = (found: FoundDocument, main: Markup, title: string, services: SiteServices) =>
  renderProduct(found.offer, { id: 'reference', main, title, isWide: true }, services);

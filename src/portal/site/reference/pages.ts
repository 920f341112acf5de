import type { DocumentReference, ReferenceOperation } from '../../files/api-reference.ts';
import { parseProductDocument } from '../../files/parsed-document.ts';
import { renderMarkdown } from '../markdown.ts';
import { html, type Markup } from '../markup.ts';
import { findProductOffer } from '../offer.ts';
import {
  cataloguePath,
  type SiteDocument,
  type SiteFile,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
} from '../page.ts';
import { callAsVisitor, canTry } from '../try-it/try-call.ts';
import { tryPath } from '../try-it/try-form.ts';
import { renderTrySection, type SentTry, toJsonReply } from '../try-it/try-section.ts';
import { listProductDocuments } from './documents.ts';
import {
  type FoundDocument,
  findDocument,
  renderChooser,
  renderReferencePage,
  toDocumentUrl,
} from './found-document.ts';
import { findGatewayBase, getAuthHeader } from './gateway-base.ts';
import { renderMethodBadge } from './method-badge.ts';
import { buildBodyText, renderReferenceOperation } from './operation-view.ts';
import { findPlayground, renderPlainDocument, submitPlayground } from './plain-document.ts';

/** Of each text of an operation. */
const maxSearchedChars = 300;
/** Operations listed beside an operation. */
const maxListed = 1000;

/** The reference of a product begins with its first document. */
async function respondFirst({ params, visitor }: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const offer = await findProductOffer(params.path!, visitor, services);
  const [first] = offer ? await listProductDocuments(offer.product, services.portal) : [];
  return offer && first && { redirect: toDocumentUrl(offer, first) };
}

async function respondDocument(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const found = await findDocument(request, services);
  if (!found) return undefined;
  const { chosen, content } = found;
  const reference = chosen.slot === 'oas' ? parseProductDocument(content) : undefined;
  const main = reference
    ? renderOverview(found, reference, request)
    : await renderPlainDocument(found, request, services);
  return renderReferencePage(found, main, `${chosen.name} reference`, services);
}

const searchTextOf = ({ method, path, summary, description, tag, parameters }: ReferenceOperation) =>
  [method, path, summary, description, tag, ...parameters.flatMap(it => [it.name, it.description])]
    .map(it => it.slice(0, maxSearchedChars))
    .join('\n')
    .toLowerCase();

function renderOverview(found: FoundDocument, reference: DocumentReference, { query }: SiteRequest): Markup {
  const text = query('q').trim().slice(0, 100);
  const words = text.toLowerCase().split(/\s+/);
  const matching = reference.operations.filter(it => {
    const searched = searchTextOf(it);
    return words.every(word => searched.includes(word));
  });
  return html`${renderChooser(found)}<h2>${reference.title || found.chosen.name}
${reference.version ? html`<span class="badge">${reference.version}</span>` : ''}</h2>
<div class="prose">${renderMarkdown(reference.description)}</div>
<form class="inline" role="search" action="${found.url}" method="get">
<input type="search" name="q" value="${text}" aria-label="Search operations" maxlength="100">
<button class="secondary">Search</button></form>
<p class="dim" role="status">${matching.length} of ${reference.operations.length} operations</p>
${groupByTag(matching).map(
  ([tag, operations]) => html`<section><h3>${tag}</h3><ul class="rows operations">
${operations.map(it => renderRow(it, found.url))}</ul></section>`,
)}`;
}

function groupByTag(operations: readonly ReferenceOperation[]): (readonly [string, ReferenceOperation[]])[] {
  const groups = new Map<string, ReferenceOperation[]>();
  for (const it of operations) groups.set(it.tag, [...(groups.get(it.tag) ?? []), it]);
  return [...groups];
}

const renderRow = (it: ReferenceOperation, url: string) =>
  html`<li><div><a href="${url}/${it.id}">${renderMethodBadge(it.method)} <code>${it.path}</code></a>
${it.isDeprecated ? html` <span class="badge warning">deprecated</span>` : ''}
<p class="dim">${it.summary}</p></div></li>`;

/** An operation of a document that the visitor sees. */
async function findOperation(request: SiteRequest, services: SiteServices) {
  const found = await findDocument(request, services);
  const reference = found?.chosen.slot === 'oas' ? parseProductDocument(found.content) : undefined;
  const operation = reference?.operations.find(({ id }) => id === request.params.operation);
  if (!found || !reference || !operation) return undefined;
  const { product } = found.offer;
  const { listenPath } = found.chosen;
  const gateway = await findGatewayBase(product, services);
  const base = listenPath === undefined ? reference.serverUrl : gateway.url.replace(/\/$/, '') + listenPath;
  const authHeader = getAuthHeader(product, found.chosen.id);
  const target = listenPath !== undefined && gateway.isKnown ? { product, base, authHeader, operation } : undefined;
  return { found, reference, operation, base, authHeader, target };
}

type FoundOperation = NonNullable<Awaited<ReturnType<typeof findOperation>>>;

async function respondOperation(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const it = await findOperation(request, services);
  return it && renderOperationPage(it, request, services);
}

async function renderOperationPage(
  { found, reference, operation, base, authHeader, target }: FoundOperation,
  request: SiteRequest,
  services: SiteServices,
  sent?: SentTry,
): Promise<SiteDocument> {
  const { product } = found.offer;
  const hidden = { product: product.Path, api: found.chosen.id, operation: operation.id };
  const bodyText = operation.body ? buildBodyText(operation.body, reference.document) : '';
  const tryIt = target ? await renderTrySection({ ...target, hidden, bodyText, sent }, request, services) : '';
  const hasKey = found.chosen.listenPath !== undefined;
  const context = { reference, base, authHeader, product, hasKey, tryIt };
  const main = html`${renderChooser(found)}<div class="with-side"><nav class="side" aria-label="Operations">
<p><a href="${found.url}">All operations</a></p><ul>${reference.operations.slice(0, maxListed).map(
    it => html`<li><a href="${found.url}/${it.id}"${it === operation ? html` aria-current="page"` : ''}>
${renderMethodBadge(it.method)} ${it.summary || it.path}</a></li>`,
  )}</ul></nav>${renderReferenceOperation(operation, context)}</div>`;
  const title = operation.summary || `${operation.method} ${operation.path}`;
  return { ...(await renderReferencePage(found, main, title, services)), status: sent?.outcome.status ?? 200 };
}

/** Calls an operation; what the visitor cannot see or call is not found. */
async function submitTry(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const { form } = request;
  const params = { path: form('product'), api: form('api'), operation: form('operation') };
  const playground = await findPlayground({ ...request, params }, services);
  if (playground) return submitPlayground(playground, request, services);
  const it = await findOperation({ ...request, params }, services);
  if (!it?.target || !canTry(it.target.product, request.visitor, services)) return undefined;
  const outcome = await callAsVisitor(it.target, request, services);
  if (form('format') === 'json') return toJsonReply(outcome);
  return renderOperationPage(it, request, services, { outcome, form });
}

/** A download, under a policy in which the document cannot act as a page. */
async function respondDownload(request: SiteRequest, services: SiteServices): Promise<SiteFile | undefined> {
  const found = await findDocument(request, services);
  if (!found || found.chosen.isLive) return undefined;
  const { bytes, mediaType } = found.content;
  return { file: bytes, type: mediaType, policy: "default-src 'none'; sandbox" };
}

const toPage = (path: string, respond: SitePage['respond']): SitePage => ({
  method: 'GET',
  path: `${cataloguePath}/:path/${path}`,
  access: 'all',
  hasVisitorForm: true,
  respond,
});

export const referencePages: readonly SitePage[] = [
  toPage('docs', respondFirst),
  toPage(':api/docs', respondDocument),
  toPage(':api/docs/download', respondDownload),
  toPage(':api/docs/:operation', respondOperation),
  { method: 'POST', path: tryPath, access: 'all', respond: submitTry },
];

import { loadGraphqlLanguage } from '#languages/lazy-languages.ts';
import type { FileContent } from '#operations/body.ts';
import { html, type Markup } from '../markup.ts';
import type { SiteReply, SiteRequest, SiteServices } from '../page.ts';
import { callAsVisitor, canTry, type TryTarget } from '../try-it/try-call.ts';
import { toGraphqlBody } from '../try-it/try-request.ts';
import { renderTrySection, type SentTry, toJsonReply } from '../try-it/try-section.ts';
import { type FoundDocument, findDocument, renderChooser, renderReferencePage } from './found-document.ts';
import { findGatewayBase, getAuthHeader } from './gateway-base.ts';

const maxShownChars = 500_000;
/** Value of the field `operation` of the playground. */
const playgroundId = 'graphql';
const introspection = '{ __schema { queryType { name } types { kind name fields { name type { kind name } } } } }';

/** A GraphQL API that can be called from its page. */
interface Playground {
  readonly found: FoundDocument;
  readonly target: TryTarget;
}

async function toPlayground(found: FoundDocument, services: SiteServices): Promise<Playground | undefined> {
  const { listenPath, slot } = found.chosen;
  const gateway = await findGatewayBase(found.offer.product, services);
  if (slot !== 'graphql' || listenPath === undefined || !gateway.isKnown) return undefined;
  const body = { mediaType: 'application/json', schema: {}, example: undefined, description: '' };
  const operation = { method: 'POST', path: listenPath.endsWith('/') ? '/' : '', parameters: [], body };
  const base = gateway.url.replace(/\/$/, '') + listenPath;
  const { product } = found.offer;
  return { found, target: { product, base, authHeader: getAuthHeader(product, found.chosen.id), operation } };
}

export async function findPlayground(request: SiteRequest, services: SiteServices): Promise<Playground | undefined> {
  const found = request.params.operation === playgroundId ? await findDocument(request, services) : undefined;
  return found && toPlayground(found, services);
}

/** Documents without operations, and those that are too large: their text, where it is short enough. */
export async function renderPlainDocument(
  found: FoundDocument,
  request: SiteRequest,
  services: SiteServices,
  sent?: SentTry,
): Promise<Markup> {
  const { chosen, content, offer } = found;
  const playground = await toPlayground(found, services);
  const hidden = { product: offer.product.Path, api: chosen.id, operation: playgroundId };
  const query = chosen.isLive ? introspection : '{ __typename }';
  const tryIt = playground
    ? await renderTrySection({ ...playground.target, hidden, query, bodyText: '', sent }, request, services)
    : '';
  const text = chosen.slot === 'graphql' ? toSchemaText(content) : content.bytes.toString('utf8');
  return html`${renderChooser(found)}<h2>${chosen.name}</h2>${tryIt}
${chosen.isLive ? renderLiveNotice() : renderText(text)}`;
}

const renderLiveNotice = () =>
  html`<p class="dim">No schema is uploaded: the query above reads it at the API, with your credential.</p>`;

const renderText = (text: string) =>
  text.length > maxShownChars
    ? html`<p>The document is too large to be shown: download it.</p>`
    : html`<pre class="code" tabindex="0"><code>${text}</code></pre>`;

/** A schema in the schema definition language; introspections are JSON. */
function toSchemaText({ bytes, mediaType }: FileContent): string {
  const text = bytes.toString('utf8');
  return mediaType === 'application/json' ? loadGraphqlLanguage().printIntrospection(JSON.parse(text)) : text;
}

/** Sends a query; what the visitor cannot call is not found. */
export async function submitPlayground(
  { found, target }: Playground,
  request: SiteRequest,
  services: SiteServices,
): Promise<SiteReply | undefined> {
  if (!canTry(target.product, request.visitor, services)) return undefined;
  const { form } = request;
  const outcome = await callAsVisitor(target, { ...request, form: toGraphqlBody(form) }, services);
  if (form('format') === 'json') return toJsonReply(outcome);
  const main = await renderPlainDocument(found, request, services, { outcome, form });
  return { ...(await renderReferencePage(found, main, found.chosen.name, services)), status: outcome.status };
}

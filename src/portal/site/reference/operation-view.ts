import type {
  DocumentReference,
  ReferenceBody,
  ReferenceOperation,
  ReferenceParameter,
} from '../../files/api-reference.ts';
import type { StoredProduct } from '../../products/schema.ts';
import { renderMarkdown } from '../markdown.ts';
import { html, type Markup } from '../markup.ts';
import { renderMethodBadge } from './method-badge.ts';
import { keyText, type SampleRequest, sampleLanguages } from './samples.ts';
import { buildSchemaExample, renderSchema } from './schema-tree.ts';

export interface ReferenceContext {
  readonly reference: DocumentReference;
  /** Address that the path of the operation follows. */
  readonly base: string;
  /** Header of the credential. */
  readonly authHeader: string;
  readonly product: StoredProduct;
  /** The API is behind the gateway, which wants the credential of the product. */
  readonly hasKey: boolean;
  /** Form with which the operation is called; empty where it cannot be. */
  readonly tryIt: Markup | '';
}

/** Longer examples are left out of samples. */
const maxBodyChars = 20_000;

export function renderReferenceOperation(operation: ReferenceOperation, context: ReferenceContext): Markup {
  const { method, path, summary, description, parameters, body, responses, isDeprecated } = operation;
  const { document } = context.reference;
  return html`<article><h2>${summary || `${method} ${path}`}</h2><p>${renderMethodBadge(method)} <code>${path}</code>
${isDeprecated ? html` <span class="badge warning">deprecated</span>` : ''}</p>
<div class="prose">${renderMarkdown(description)}</div>
${parameters.length > 0 ? html`<h3>Parameters</h3><ul class="schema">${parameters.map(renderParameter)}</ul>` : ''}
${body ? html`<h3>Body</h3>${renderBody(body, context)}` : ''}
<h3>Responses</h3>${responses.map(
    it => html`<details${it === responses[0] ? html` open` : ''}><summary><strong>${it.status}</strong>
${it.description}</summary>${it.body ? renderBody(it.body, context) : ''}</details>`,
  )}${context.tryIt}${renderSamples(buildSample(operation, context, document))}</article>`;
}

const renderParameter = ({ name, place, isRequired, description, schema }: ReferenceParameter) =>
  html`<li><code>${name}</code> <span class="dim">${typeof schema.type === 'string' ? schema.type : 'any'} in ${place}</span>
${isRequired ? html` <span class="badge">required</span>` : ''}${description ? html`<p>${description}</p>` : ''}</li>`;

const renderBody = (body: ReferenceBody, { reference }: ReferenceContext) =>
  html`<p class="dim">${body.mediaType}</p>${body.description ? html`<p>${body.description}</p>` : ''}
${renderSchema(body.schema, reference.document)}`;

/** Value of a parameter in a sample: its example, or its name in braces as in the path. */
const formatValue = ({ example, name }: ReferenceParameter): string =>
  example === undefined || typeof example === 'object' ? `{${name}}` : String(example);

/** Header of a key; tokens are bearers. */
function listCredentialHeaders({ product, hasKey, authHeader }: ReferenceContext): [string, string][] {
  if (!hasKey || product.AuthType === '' || product.AuthType === 'keyless') return [];
  const isToken = product.DCREnabled || ['jwt', 'oauth', 'oidc', 'externalOAuth'].includes(product.AuthType);
  return [[authHeader, isToken ? `Bearer ${keyText}` : keyText]];
}

export function buildBodyText({ example, schema }: ReferenceBody, document: DocumentReference['document']): string {
  const value = example ?? buildSchemaExample(schema, document);
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  return text.length > maxBodyChars ? '' : text;
}

function buildSample(
  { method, path, parameters, body }: ReferenceOperation,
  context: ReferenceContext,
  document: DocumentReference['document'],
): SampleRequest {
  const filled = path.replaceAll(/\{([^{}]{1,200})\}/g, (whole, name: string) => {
    const parameter = parameters.find(it => it.place === 'path' && it.name === name);
    const value = parameter ? formatValue(parameter) : whole;
    return value === whole ? whole : encodeURIComponent(value);
  });
  const query = parameters.filter(it => it.place === 'query' && it.isRequired);
  const text = query.map(it => `${encodeURIComponent(it.name)}=${encodeURIComponent(formatValue(it))}`).join('&');
  const headers = parameters.filter(it => it.place === 'header' && it.isRequired);
  const bodyText = body ? buildBodyText(body, document) : '';
  return {
    method,
    url: `${context.base.replace(/\/$/, '')}${filled}${text && `?${text}`}`,
    headers: [
      ...listCredentialHeaders(context),
      ...headers.map(it => [it.name, formatValue(it)] as const),
      ...(body && bodyText ? [['Content-Type', body.mediaType] as const] : []),
    ],
    body: bodyText,
  };
}

/** Shown by the script: the key that is typed replaces the placeholder, and stays in the page. */
const renderKeyField = () =>
  html`<div class="field" data-insert-key hidden><label class="tick"><input type="checkbox">
<span>Insert my key</span></label><div hidden><label for="sample-key">Key</label>
<input id="sample-key" type="password" maxlength="4096" autocomplete="off" aria-describedby="sample-key-note">
<p class="help" id="sample-key-note">It stays in this page: the samples have it, and it is neither sent nor stored.</p>
</div></div>`;

/** Collapsed until opened; the first one is open. */
const renderSamples = (request: SampleRequest) =>
  html`<h3>Samples</h3><div class="samples">${
    request.headers.some(([, value]) => value.endsWith(keyText)) ? renderKeyField() : ''
  }${sampleLanguages.map(([name, format]) => {
    const text = format(request);
    return html`<details${name === 'cURL' ? html` open` : ''}><summary>${name}</summary>
<pre class="code" tabindex="0"><code>${text}</code></pre>
<button class="copy quiet" type="button" data-copy="${text}" hidden>Copy</button></details>`;
  })}</div>`;

import type { ReferenceOperation } from '../../files/api-reference.ts';
import { renderField, renderFormError, renderSelectField, renderTextArea } from '../form.ts';
import { renderCsrfField } from '../layout.ts';
import { html, type Markup } from '../markup.ts';
import { type SiteFields, type SiteVisitor, toSignInUrl } from '../page.ts';
import { formatCount } from '../words.ts';
import type { TryOutcome } from './try-call.ts';
import type { TryCredential } from './try-credentials.ts';
import { listTryParameters, toParameterField } from './try-request.ts';
import type { TryResult } from './try-result.ts';

export const tryPath = '/portal/private/api/try';
export const trySignInPath = `${tryPath}/sign-in`;
export const maxTryBodyChars = 100_000;

/** Content of the form of an operation. */
export interface TryView {
  readonly operation: Pick<ReferenceOperation, 'method' | 'parameters' | 'body'>;
  /** Fields that name the operation. */
  readonly hidden: Readonly<Record<string, string>>;
  readonly credentials: readonly TryCredential[];
  readonly visitor: SiteVisitor;
  /** Example of the body. */
  readonly bodyText: string;
  /** First query of a GraphQL API; undefined for operations. */
  readonly query: string | undefined;
  /** Values of a form that was sent. */
  readonly sent: SiteFields | undefined;
  readonly outcome: TryOutcome | undefined;
}

/** In place of the form, where a call needs something that the page has not. */
export const renderTryNotice = (text: string): Markup =>
  html`<section aria-labelledby="try"><h3 id="try">Try it</h3><p class="dim">${text}</p></section>`;

export const renderTrySignIn = (path: string): Markup =>
  html`<section aria-labelledby="try"><h3 id="try">Try it</h3>
<p><a href="${toSignInUrl(path)}">Sign in</a> to call this operation with a credential of yours.</p></section>`;

/** Works without script, with the result in the page that follows; with script the result appears below. */
export function renderTryForm(view: TryView): Markup {
  const { operation, hidden, visitor, sent, outcome } = view;
  const read = (name: string, initial: string) => (sent ? sent(name) : initial);
  const hasBody =
    view.query === undefined &&
    operation.body !== undefined &&
    operation.method !== 'GET' &&
    operation.method !== 'HEAD';
  return html`<section aria-labelledby="try" class="try"><h3 id="try">Try it</h3>
<form method="post" action="${tryPath}#try" data-try>${renderCsrfField(visitor.csrfToken)}
${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${renderCredentials(view)}${listTryParameters(operation).map(it =>
  renderField({
    name: toParameterField(it),
    label: `${it.name} (${it.place})`,
    value: read(toParameterField(it), formatExample(it.example)),
    isOptional: !it.isRequired,
    maxLength: 2000,
  }),
)}${view.query === undefined ? '' : renderQueryFields(read('query', view.query), read('variables', ''))}${
  hasBody
    ? renderTextArea({
        name: 'body',
        label: `Body (${operation.body!.mediaType})`,
        value: read('body', view.bodyText),
        maxLength: maxTryBodyChars,
        isOptional: true,
      })
    : ''
}<details><summary>More headers</summary>${renderTextArea({
    name: 'headers',
    label: 'Headers',
    help: 'One on each line, like X-Trace: 42',
    value: read('headers', ''),
    maxLength: 8000,
    isOptional: true,
  })}</details><button>Send request</button>${renderSignInButton(view)}</form>
<div class="try-result" aria-live="polite">${renderOutcome(outcome)}</div></section>`;
}

const renderQueryFields = (query: string, variables: string) => [
  renderTextArea({ name: 'query', label: 'Query', value: query, maxLength: maxTryBodyChars }),
  renderTextArea({
    name: 'variables',
    label: 'Variables (JSON)',
    value: variables,
    maxLength: 20_000,
    isOptional: true,
  }),
];

const formatExample = (example: unknown) =>
  ['string', 'number', 'boolean'].includes(typeof example) ? String(example) : '';

const describeCredential = ({ name, isForProduct, needsSignIn }: TryCredential) =>
  `${name}${needsSignIn ? ' (with sign-in)' : ''}${isForProduct ? '' : ' (another product)'}`;

/** Another window, where the user signs in at the identity provider; Enter in a field sends the request. */
const renderSignInButton = ({ credentials }: TryView) =>
  credentials.some(({ needsSignIn }) => needsSignIn)
    ? html` <button class="secondary" formaction="${trySignInPath}" formtarget="_blank" formnovalidate
 data-try-sign-in>Sign in for a token</button>`
    : '';

function renderCredentials({ credentials, visitor, sent }: TryView): Markup | '' {
  if (!visitor.user) return '';
  const own = credentials.filter(({ isForProduct }) => isForProduct);
  return renderSelectField({
    name: 'credential',
    label: 'Credential',
    value: sent ? sent('credential') : String(own[0]?.id ?? ''),
    options: [...credentials.map(it => [String(it.id), describeCredential(it)] as const), ['', 'None']],
    help: own.length > 0 ? '' : 'You have no credential for this product yet: request access first.',
  });
}

const renderOutcome = (outcome: TryOutcome | undefined) =>
  outcome?.error ? renderFormError(outcome.error) : outcome?.result ? renderResult(outcome.result) : '';

const renderResult = ({ status, statusText, tookMs, explanation, headers, body, limit, curl }: TryResult) =>
  html`<p class="status"><strong>${status} ${statusText}</strong> <span class="dim">${formatCount(tookMs)} ms</span></p>
${explanation ? html`<p class="message">${explanation}</p>` : ''}
${
  limit
    ? html`<p><label>${formatCount(limit.left)} of ${formatCount(limit.max)} calls left
<meter min="0" max="${limit.max}" value="${limit.left}"></meter></label></p>`
    : ''
}<pre class="code" tabindex="0"><code>${body}</code></pre><details><summary>Response headers</summary>
<pre class="code" tabindex="0"><code>${headers.map(([name, value]) => `${name}: ${value}\n`).join('')}</code></pre></details>
<button class="copy quiet" type="button" data-copy="${curl}" hidden>Copy as cURL</button>`;

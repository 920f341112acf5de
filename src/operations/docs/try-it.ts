import { escapeMarkup } from '#base/escape-markup.ts';
import type { AnyOperation } from '../operation.ts';
import { surfaces } from '../surfaces.ts';
import type { BodyDetails, OperationDetails, ParameterDetails } from './operation-details.ts';

const maxRows = 20;

/**
 * Form that sends the operation's request from the page; `reference.js` shows it and sends it, so that a browser
 * without scripts displays nothing that does not work. The credential stays in the field: nothing stores it.
 */
export function renderTryIt(it: AnyOperation, { parameters }: OperationDetails, body: BodyDetails | undefined): string {
  const { credentialHeader, sessionCookie, prefix } = surfaces[it.surface];
  const attributes = {
    method: it.method,
    path: it.path,
    'credential-header': credentialHeader,
    ...(sessionCookie && it.permission !== 'public' ? { session: `${prefix}/session` } : {}),
    ...(body ? { 'content-type': body.type === 'multipart/form-data' ? 'application/octet-stream' : body.type } : {}),
  };
  const data = Object.entries(attributes).map(([name, value]) => ` data-${name}="${escapeMarkup(value)}"`);
  const fields = [
    ...(it.permission === 'public' ? [] : [renderCredential(sessionCookie !== undefined)]),
    ...parameters.map(renderField),
    ...(body ? [renderBodyField(body)] : []),
  ];
  const button = '<button type="submit">Send</button>';
  return `<form class="try-it" hidden${data.join('')}><h2>Try it</h2>${fields.join('')}${button}
<div class="result" aria-live="polite"></div></form>`;
}

const renderCredential = (hasSession: boolean) =>
  renderLabel(
    `Credential${hasSession ? ' (empty: your browser session)' : ''}`,
    '<input type="password" name="credential" autocomplete="off">',
  );

const renderLabel = (title: string, field: string) => `<label>${title} ${field}</label>`;
const renderNote = (text: string) => `<span class="small">${escapeMarkup(text)}</span>`;

function renderField({ name, in: place, required, description = '' }: ParameterDetails): string {
  const hint = description ? ` placeholder="${escapeMarkup(description)}"` : '';
  const input = `<input name="${escapeMarkup(name)}" data-in="${place}"${hint}${required ? ' required' : ''}>`;
  return renderLabel(`${escapeMarkup(name)} ${renderNote(place)}`, input);
}

function renderBodyField({ type, example = '' }: BodyDetails): string {
  const rows = Math.min(maxRows, example.split('\n').length + 2);
  const input = `<textarea name="body" rows="${rows}" spellcheck="false">${escapeMarkup(example)}</textarea>`;
  return renderLabel(`Body ${renderNote(type)}`, input);
}

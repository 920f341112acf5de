import { escapeMarkup } from '#base/escape-markup.ts';
import type { Json } from '#base/json.ts';
import { isObject } from '#base/json-tree.ts';
import { type AnyOperation, listPermissions } from '../operation.ts';
import { surfaces } from '../surfaces.ts';
import { renderMethod } from './layout.ts';
import {
  type BodyDetails,
  type OperationDetails,
  type ParameterDetails,
  readBodyDetails,
  readDetails,
} from './operation-details.ts';
import { describeType, renderMembers } from './schema-tree.ts';
import { renderTryIt } from './try-it.ts';

/** Content of an operation's page. */
export function renderOperation(it: AnyOperation): string {
  const details = readDetails(it);
  const body = readBodyDetails(details.requestBody?.content);
  return [
    `<h1>${escapeMarkup(it.name)}</h1>`,
    `<p class="route">${renderMethod(it)}<code>${escapeMarkup(it.path)}</code></p>`,
    `<p>${escapeMarkup(it.about)}</p><p class="small">${describeAccess(it)}</p>`,
    renderParameters(details.parameters),
    body ? `<h2>Body</h2>${renderBody(body)}` : '',
    `<h2>Example</h2><pre>${escapeMarkup(formatCurl(it, details, body))}</pre>`,
    renderTryIt(it, details, body),
    `<h2>Responses</h2>${Object.entries(details.responses).map(renderResponse).join('')}`,
  ].join('');
}

function describeAccess({ permission, surface }: AnyOperation): string {
  const { credentialHeader, sessionCookie } = surfaces[surface];
  if (permission === 'public') return 'Needs no credential.';
  const session = sessionCookie ? ', or a browser session' : '';
  const credential = `Credential in the header <code>${credentialHeader}</code>${session}.`;
  return `${credential} Permission: ${escapeMarkup(permission)}.`;
}

function renderParameters(parameters: readonly ParameterDetails[]): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(({ name, in: place, required, description = '', schema }) => {
    const type = `${describeType(schema)}${required ? ', required' : ''}`;
    const cells = [`<code>${escapeMarkup(name)}</code>`, place, escapeMarkup(type), escapeMarkup(description)];
    return `<tr>${cells.map(cell => `<td>${cell}</td>`).join('')}</tr>`;
  });
  const head = '<tr><th>Name</th><th>In</th><th>Type</th><th>Meaning</th></tr>';
  return `<h2>Parameters</h2><table><thead>${head}</thead><tbody>${rows.join('')}</tbody></table>`;
}

function renderBody({ type, schema }: BodyDetails): string {
  const line = `<code>${escapeMarkup(type)}</code>: ${escapeMarkup(describeType(schema))}`;
  return `<p class="small">${line}</p>${renderMembers(schema)}`;
}

function renderResponse([status, { description, content }]: [string, OperationDetails['responses'][string]]): string {
  const body = readBodyDetails(content);
  const messages = description.split('; ').map(text => `<p>${escapeMarkup(text)}</p>`);
  const parts = [`<h3>${escapeMarkup(status)}</h3>`, ...messages, body ? renderBody(body) : ''];
  return `<section class="response">${parts.join('')}</section>`;
}

/** A command with the required parameters as placeholders, and the example body. */
function formatCurl(it: AnyOperation, { parameters }: OperationDetails, body: BodyDetails | undefined): string {
  const { credentialHeader } = surfaces[it.surface];
  const query = parameters.filter(({ in: place, required }) => place === 'query' && required).map(({ name }) => name);
  const search = query.length > 0 ? `?${query.map(name => `${name}={${name}}`).join('&')}` : '';
  const lines = [
    `curl${it.method === 'GET' ? '' : ` -X ${it.method}`} "$GW_URL${it.path}${search}"`,
    ...(it.permission === 'public' ? [] : [`-H "${credentialHeader}: $CREDENTIAL"`]),
    ...(body ? formatCurlBody(body) : []),
  ];
  return lines.join(' \\\n  ');
}

function formatCurlBody({ type, example }: BodyDetails): string[] {
  if (type === 'multipart/form-data') return ['-F file=@FILE'];
  const data = example === undefined ? '@FILE' : `'${example.replaceAll("'", `'\\''`)}'`;
  return [`-H 'content-type: ${type}'`, `--data-binary ${data}`];
}

/** Names and texts that a search finds an operation by, in lower case. */
export function collectSearchText(it: AnyOperation): string {
  const { parameters, requestBody } = readDetails(it);
  const members = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => listMemberNames(schema));
  const own = [it.name, it.method, it.path, it.noun, it.about, ...listPermissions(it)];
  const names = [...parameters.map(({ name }) => name), ...members];
  return [...own, ...new Set(names)].join(' ').toLowerCase();
}

function listMemberNames(schema: Json | undefined): string[] {
  if (Array.isArray(schema)) return schema.flatMap(listMemberNames);
  if (!isObject(schema)) return [];
  return Object.entries(schema).flatMap(([key, value]) => [
    ...(key === 'properties' && isObject(value) ? Object.keys(value) : []),
    ...listMemberNames(value as Json),
  ]);
}

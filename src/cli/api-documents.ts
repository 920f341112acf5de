import { createHash } from 'node:crypto';
import { Problem } from '#base/problems.ts';
import { type ApplyResult, type ControlClient, findOrUndefined } from './control.ts';
import type { Document } from './documents.ts';
import { problem } from './problems.ts';

/** Applying API documents: classic definitions, OpenAPI documents with our extension, and plain OpenAPI documents. */

const extensionName = 'x-gw-api-gateway';

/** Flags of an import. */
export interface ImportFlags {
  readonly id?: string | undefined;
  readonly upstream?: string | undefined;
  readonly 'listen-path'?: string | undefined;
  readonly domain?: string | undefined;
  readonly authentication?: boolean | undefined;
  readonly 'allow-list'?: boolean | undefined;
  readonly validate?: boolean | undefined;
  readonly mock?: boolean | undefined;
}

const toText = (value: unknown) => (typeof value === 'string' ? value.trim() : '');
const toObject = (value: unknown): Document => (typeof value === 'object' && value !== null ? (value as Document) : {});

export function applyApi(call: ControlClient, document: Document): Promise<ApplyResult> {
  if (extensionName in document) return applyOas(call, document);
  return isPlainOpenApi(document) ? importApi(call, document) : applyClassic(call, document);
}

const isPlainOpenApi = (document: Document) => 'openapi' in document || 'swagger' in document;

const findApi = (call: ControlClient, apiId: string) =>
  findOrUndefined(call('GET /gw/apis/{apiId}', { params: { apiId } }));

async function applyClassic(call: ControlClient, document: Document): Promise<ApplyResult> {
  const { listen_path } = toObject(document.proxy);
  const apiId = toText(document.api_id) || deriveId(document.org_id, document.domain, listen_path, document.name);
  const body = { ...document, api_id: apiId };
  if (await findApi(call, apiId)) return call('PUT /gw/apis/{apiId}', { params: { apiId }, body });
  return call('POST /gw/apis', { body });
}

async function applyOas(call: ControlClient, document: Document): Promise<ApplyResult> {
  const extension = toObject(document[extensionName]);
  const info = toObject(extension.info);
  const server = toObject(extension.server);
  const domain = toObject(server.customDomain).name;
  const apiId = toText(info.id) || deriveId(info.orgId, domain, toObject(server.listenPath).value, info.name);
  const body = { ...document, [extensionName]: { ...extension, info: { ...info, id: apiId } } };
  if (await findApi(call, apiId)) return call('PUT /gw/apis/oas/{apiId}', { params: { apiId }, body });
  return call('POST /gw/apis/oas', { body });
}

/**
 * Imports a plain OpenAPI document as an API; importing again updates the document and keeps the gateway's
 * configuration. Without a listen path it is derived from the title, since two APIs cannot share `/`.
 */
export async function importApi(call: ControlClient, body: Document, flags: ImportFlags = {}): Promise<ApplyResult> {
  const { apiId, listenPath } = deriveImportIdentity(body, flags);
  const query = toImportQuery(flags);
  if (await findApi(call, apiId)) {
    const listenPathChange = flags['listen-path'] ? { listenPath } : {};
    return call('PATCH /gw/apis/oas/{apiId}', { params: { apiId }, query: { ...query, ...listenPathChange }, body });
  }
  return withUpstreamHint(call('POST /gw/apis/oas/import', { query: { ...query, listenPath, apiID: apiId }, body }));
}

/** Listen path of an import, and the id that makes a second import an update. */
export function deriveImportIdentity(body: Document, flags: ImportFlags): { apiId: string; listenPath: string } {
  const title = toSlug(toText(toObject(body.info).title));
  const listenPath = flags['listen-path'] || (title && `/${title}/`);
  if (!listenPath && 'openapi' in body) throw problem.no_listen_path();
  return { apiId: flags.id || deriveId('', flags.domain, listenPath, ''), listenPath };
}

/** Query parameters of an import. */
export const toImportQuery = (flags: ImportFlags) => ({
  ...(flags.upstream && { upstreamURL: flags.upstream }),
  ...(flags.domain && { customDomain: flags.domain }),
  ...(flags.authentication && { authentication: 'true' as const }),
  ...(flags['allow-list'] && { allowList: 'true' }),
  ...(flags.validate && { validateRequest: 'true' }),
  ...(flags.mock && { mockResponse: 'true' }),
});

const applyHint = 'use gw apis import with --upstream URL';

/** Replaces the gateway's parameter name by the flag. */
export async function withUpstreamHint<T>(importing: Promise<T>, hint = applyHint): Promise<T> {
  try {
    return await importing;
  } catch (cause) {
    if (!(cause instanceof Problem) || cause.code !== problem.refused.code || !cause.message.includes('upstreamURL'))
      throw cause;
    const message = `no usable server URL: ${hint} (${cause.message})`;
    throw problem.refused({ detail: { message }, cause });
  }
}

/** Characters of the readable part of an id; an id has 64 at most. */
const maxSlugLength = 40;

const toSlug = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxSlugLength)
    .replaceAll(/^-+|-+$/g, '');

/**
 * Stable id for a document without one, from organisation, domain and listen path, which are unique together; from the
 * name where there is no listen path. The digest distinguishes `/a/b` and `/a-b`.
 */
function deriveId(orgId: unknown, domain: unknown, listenPath: unknown, name: unknown): string {
  const path = toText(listenPath).replaceAll(/^\/+|\/+$/g, '');
  const label = path || toText(name);
  if (label === '') throw problem.no_identity();
  const identity = [toText(orgId), toText(domain).toLowerCase(), path ? `/${path}` : toText(name)].join('\n');
  const digest = createHash('sha256').update(identity).digest('hex').slice(0, 8);
  return [toSlug(label), digest].filter(Boolean).join('-');
}

/** Id of a classic definition, derived where it has none; undefined where nothing identifies it. */
export function deriveDefinitionId({ api_id, org_id, domain, proxy, name }: Document): string | undefined {
  const { listen_path } = toObject(proxy);
  if (toText(api_id) !== '') return toText(api_id);
  const hasPath = toText(listen_path).replaceAll('/', '') !== '';
  return hasPath || toText(name) ? deriveId(org_id, domain, listen_path, name) : undefined;
}

import { objectOrEmpty } from '#base/json-tree.ts';
import { mcpServerName } from '#definition/document-members.ts';
import { readToolSettings } from '#definition/rest-tools/rest-tools.ts';
import { checkToolSettings, toSourceKey } from '#definition/rest-tools/tool-settings.ts';
import { findToolSource } from '#definition/rest-tools/tool-source.ts';
import { createInvalidProblem, type ValidationError } from '#operations/validation-error.ts';
import { problem } from '../problems.ts';
import { isActive, toModel } from './rules.ts';
import type { StoredApi } from './schema.ts';
import { fitsToolBounds, listSourceTools, upstreamPath } from './source-tools.ts';
import type { ApiStore } from './store.ts';

type McpApi = Extract<StoredApi, { kind: 'mcp' }>;
type OasApi = Extract<StoredApi, { kind: 'oas' }>;

/** Ids of the REST APIs whose operations are the tools of an MCP proxy. */
export function listToolSources(api: StoredApi): string[] {
  if (api.kind !== 'mcp') return [];
  const { upstream, loadBalancing } = toModel(api);
  const urls = [upstream.url, ...(loadBalancing.enabled ? loadBalancing.targets.map(({ url }) => url) : [])];
  return [...new Set(urls.map(findToolSource).filter(name => name !== ''))];
}

/** Rules for an MCP proxy over a REST API: the API is served, of the same organisation and in the OpenAPI format. */
export async function ensureToolSources(apis: ApiStore, api: StoredApi): Promise<void> {
  if (api.kind !== 'mcp') return;
  const sources = listToolSources(api);
  const extension = api.definition[mcpServerName];
  if (sources.length === 0 && extension !== undefined)
    throw createInvalidProblem([{ path: mcpServerName, message: 'needs an upstream gw://id/mcp: its REST API' }]);
  for (const name of sources) {
    const source = await requireToolSource(apis, api.org_id, name);
    const errors = checkToolSettings(extension, objectOrEmpty(source.definition));
    if (errors.length > 0) throw createInvalidProblem(errors);
    listSourceTools(objectOrEmpty(source.definition), extension);
    await ensureAliasesAgree(apis, api, name);
  }
}

/** A change of a REST API keeps the tools of the MCP proxies over it within their bounds. */
export async function ensureToolsFit(apis: ApiStore, api: StoredApi): Promise<void> {
  if (api.kind !== 'oas') return;
  if (!(await apis.hasKind(api.org_id, 'mcp'))) return;
  const document = objectOrEmpty(api.definition);
  // Finding the proxies reads every definition of the organisation.
  if (fitsToolBounds(document)) return;
  for (const proxy of await apis.findMentioning(api.org_id, 'gw:')) {
    if (!listToolSources(proxy).some(name => name === api.api_id || name === api.id)) continue;
    listSourceTools(document, (proxy as McpApi).definition[mcpServerName], 'paths');
  }
}

async function requireToolSource(apis: ApiStore, orgId: string, name: string): Promise<OasApi> {
  const refuse = (message: string) => createInvalidProblem([{ path: upstreamPath, message }]);
  const source = await apis.get(orgId, name);
  if (!source) {
    if (await apis.getAnywhere(name)) throw problem.reference_not_owned({ detail: { path: upstreamPath } });
    throw refuse('there is no API of this id');
  }
  if (source.kind !== 'oas') throw refuse('must be the id of an API in the OpenAPI format');
  if (!isActive(source)) throw refuse('the API is not active');
  return source;
}

/** A name of a tool is one operation of the API, whichever proxy offers it. */
async function ensureAliasesAgree(apis: ApiStore, api: McpApi, source: string): Promise<void> {
  const others = (await apis.findMentioning(api.org_id, 'gw:')).filter(
    other => other.id !== api.id && listToolSources(other).includes(source),
  );
  const taken = new Map(others.flatMap(other => listAliases(other as McpApi)));
  const errors = listAliases(api).flatMap(([name, key]): ValidationError[] =>
    taken.has(name) && taken.get(name) !== key
      ? [{ path: mcpServerName, message: `${name} is the name of another operation in another MCP proxy of this API` }]
      : [],
  );
  if (errors.length > 0) throw createInvalidProblem(errors);
}

const listAliases = ({ definition }: McpApi): [name: string, key: string][] =>
  readToolSettings(definition[mcpServerName]).flatMap(({ settings, source }) =>
    typeof settings.name === 'string' ? [[settings.name, toSourceKey(source)] as [string, string]] : [],
  );

import { isObject, type JsonObject, objectOrEmpty, textOrEmpty } from '#base/json-tree.ts';
import { Problem } from '#base/problems.ts';
import { parseStrictJson } from '#base/strict-json.ts';
import type { ApiStore } from '../api/store.ts';
import type { SchemaSourceServices } from './schema-source.ts';

/** A subgraph of a definition, as it is written there. */
export interface WrittenSubgraph {
  readonly name: string;
  readonly url: string;
  readonly sdl: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface SubgraphServices extends SchemaSourceServices {
  apis: ApiStore;
}

/** Owner of a supergraph: whose APIs and addresses its subgraphs may name. */
export interface SupergraphOwner {
  readonly orgId: string;
  /** Database ids of APIs that the user does not see. */
  readonly hiddenIds: readonly string[];
}

export type FetchedSubgraph =
  | { readonly name: string; readonly url: string; readonly sdl: string }
  | { readonly name: string; readonly fault: string };

/** Of one subgraph: all together have at most 100,000 tokens in a composition. */
const maxSdlBytes = 2_097_152;
const maxConcurrentFetches = 5;
const maxFaultLength = 300;
const serviceQuery = JSON.stringify({ query: '{ _service { sdl } }' });

export function listSubgraphs(supergraph: JsonObject): WrittenSubgraph[] {
  const { subgraphs, global_headers: globalHeaders } = supergraph;
  return (Array.isArray(subgraphs) ? subgraphs : []).map(it => {
    const { name, url, sdl, headers } = objectOrEmpty(it);
    const own = [...listFixedHeaders(globalHeaders), ...listFixedHeaders(headers)];
    return { name: textOrEmpty(name), url: textOrEmpty(url), sdl: textOrEmpty(sdl), headers: Object.fromEntries(own) };
  });
}

/** Headers whose value no request decides. */
const listFixedHeaders = (headers: unknown): [string, string][] =>
  Object.entries(objectOrEmpty(headers)).flatMap(([name, value]) =>
    typeof value === 'string' && !/\{\{|\$/.test(value) ? [[name.toLowerCase(), value] as [string, string]] : [],
  );

/** Fetches the SDL of subgraphs, a few at a time: from their servers, or from the APIs that `gw://` names. */
export async function fetchSubgraphs(
  subgraphs: readonly WrittenSubgraph[],
  owner: SupergraphOwner,
  services: SubgraphServices,
): Promise<FetchedSubgraph[]> {
  const fetched: FetchedSubgraph[] = [];
  let next = 0;
  async function work(): Promise<void> {
    while (next < subgraphs.length) {
      const at = next++;
      fetched[at] = await fetchSubgraph(subgraphs[at]!, owner, services);
    }
  }
  await Promise.all(Array.from({ length: maxConcurrentFetches }, work));
  return fetched;
}

async function fetchSubgraph(
  { name, url, headers }: WrittenSubgraph,
  owner: SupergraphOwner,
  services: SubgraphServices,
): Promise<FetchedSubgraph> {
  try {
    const [, apiRef] = /^gw:\/\/([^/?#]*)/i.exec(url) ?? [];
    const sdl =
      apiRef === undefined
        ? await fetchServiceSdl({ url, headers }, owner.orgId, services)
        : await readApiSdl(apiRef, owner, services);
    return { name, url, sdl };
  } catch (error) {
    if (error instanceof SubgraphFault || error instanceof Problem)
      return { name, fault: error.message.slice(0, maxFaultLength) };
    throw error;
  }
}

class SubgraphFault extends Error {}

/** SDL of another API: that of its definition, or that of its upstream, with its headers for introspection. */
async function readApiSdl(
  ref: string,
  { orgId, hiddenIds }: SupergraphOwner,
  services: SubgraphServices,
): Promise<string> {
  const api = await services.apis.get(orgId, ref);
  if (!api || hiddenIds.includes(api.id)) throw new SubgraphFault('its url is not the id of an API');
  const { graphql, proxy } = api.definition as JsonObject;
  const block = objectOrEmpty(graphql);
  const sdl = textOrEmpty(objectOrEmpty(block.subgraph).sdl);
  if (sdl !== '') return sdl;
  const target = textOrEmpty(objectOrEmpty(proxy).target_url);
  if (!/^https?:\/\//i.test(target)) throw new SubgraphFault('its API has no subgraph.sdl, and no upstream with http');
  const headers = Object.fromEntries(listFixedHeaders(objectOrEmpty(block.proxy).auth_headers));
  return fetchServiceSdl({ url: target, headers }, orgId, services);
}

/** `{ _service { sdl } }` of a server (Apollo Federation subgraph specification), without redirects. */
async function fetchServiceSdl(
  server: Pick<WrittenSubgraph, 'url' | 'headers'>,
  orgId: string,
  { outbound, settings }: SubgraphServices,
): Promise<string> {
  const { status, body } = await outbound.fetch({
    url: server.url,
    orgId,
    audience: 'operator',
    method: 'POST',
    headers: { ...server.headers, 'content-type': 'application/json', accept: 'application/json' },
    body: serviceQuery,
    timeoutMs: settings['apis.fetch_timeout_ms'],
    maxBytes: Math.min(maxSdlBytes, settings['management.max_body_bytes']),
  });
  if (status !== 200) throw new SubgraphFault(`its server responded with status ${status}`);
  const read = parseStrictJson(body);
  const data = 'value' in read && isObject(read.value) ? objectOrEmpty(read.value.data) : {};
  const sdl = textOrEmpty(objectOrEmpty(data._service).sdl);
  if (sdl === '') throw new SubgraphFault('its server returned no SDL for { _service { sdl } }');
  return sdl;
}

import { formatIsoTime } from '#base/clock.ts';
import { isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { composeDefinition } from '#definition/supergraph/supergraph.ts';
import type { Actor } from '#operations/actor.ts';
import { type ApiServices, changeApi, checkDefinition } from '../api/changes.ts';
import { toModel } from '../api/rules.ts';
import type { StoredApi } from '../api/schema.ts';
import { problem } from './problems.ts';
import { type FetchedSubgraph, fetchSubgraphs, listSubgraphs, type SubgraphServices } from './subgraph-sources.ts';

const maxReasonsLength = 3000;

export interface RefreshOptions {
  readonly actor: Actor;
  /** Database ids of APIs that the actor does not see. */
  readonly hiddenIds: readonly string[];
  /** Undefined for all subgraphs. */
  readonly names?: readonly string[] | undefined;
  readonly replacesMergedSdl: boolean;
}

export interface RefreshResult {
  readonly changed: boolean;
  readonly subgraphs: { name: string; changed: boolean }[];
}

/** Fetches the SDL of subgraphs and composes them again; writes nothing where nothing changed. */
export async function refreshSubgraphs(
  services: ApiServices & SubgraphServices,
  stored: StoredApi,
  { actor, hiddenIds, names, replacesMergedSdl }: RefreshOptions,
): Promise<RefreshResult> {
  const orgId = stored.org_id;
  const wanted = chooseSubgraphs(stored, names);
  const fetched = requireFetched(await fetchSubgraphs(wanted, { orgId, hiddenIds }, services));
  const changedNames = fetched.filter((it, at) => it.sdl !== wanted[at]!.sdl).map(({ name }) => name);
  const subgraphs = fetched.map(({ name }) => ({ name, changed: changedNames.includes(name) }));
  if (changedNames.length === 0 && !replacesMergedSdl) return { changed: false, subgraphs };
  const now = formatIsoTime(services.clock.now());
  await changeApi(services, { actor, orgId, ref: stored.id }, before => {
    const definition = replaceSubgraphs(requireSupergraph(before), fetched, now);
    const next = replacesMergedSdl ? replaceMergedSdl(definition) : definition;
    return { ...checkDefinition('classic', next, services), wrapper: before.wrapper };
  });
  return { changed: true, subgraphs };
}

function requireSupergraph({ kind, definition }: StoredApi): JsonObject {
  const { enabled, execution_mode: mode } = objectOrEmpty((definition as JsonObject).graphql);
  if (kind !== 'classic' || enabled !== true || mode !== 'supergraph') throw problem.api_not_supergraph();
  return definition as JsonObject;
}

const readSupergraph = (definition: JsonObject): JsonObject =>
  objectOrEmpty(objectOrEmpty(definition.graphql).supergraph);

function chooseSubgraphs(stored: StoredApi, names: readonly string[] | undefined) {
  const all = listSubgraphs(readSupergraph(requireSupergraph(stored)));
  const unknown = names?.find(name => !all.some(it => it.name === name));
  if (unknown !== undefined) throw problem.subgraph_unknown({ detail: { name: unknown } });
  return names ? all.filter(({ name }) => names.includes(name)) : all;
}

type Fetched = Extract<FetchedSubgraph, { sdl: string }>;

function requireFetched(fetched: readonly FetchedSubgraph[]): Fetched[] {
  const reasons = fetched.flatMap(it => ('fault' in it ? [`${it.name}: ${it.fault}`] : []));
  if (reasons.length > 0)
    throw problem.subgraphs_not_fetched({ detail: { reasons: reasons.join('; ').slice(0, maxReasonsLength) } });
  return fetched as Fetched[];
}

/** A subgraph whose address changed meanwhile keeps its SDL. */
function replaceSubgraphs(definition: JsonObject, fetched: readonly Fetched[], updatedAt: string): JsonObject {
  const supergraph = readSupergraph(definition);
  const written = Array.isArray(supergraph.subgraphs) ? supergraph.subgraphs : [];
  const subgraphs = written.map(it => {
    const found = isObject(it) && fetched.find(({ name, url }) => name === it.name && url === it.url);
    return found ? { ...(it as JsonObject), sdl: found.sdl } : it;
  });
  return withSupergraph(definition, { ...supergraph, subgraphs, updated_at: updatedAt });
}

function withSupergraph(definition: JsonObject, supergraph: JsonObject): JsonObject {
  return { ...definition, graphql: { ...objectOrEmpty(definition.graphql), supergraph } };
}

/** Where the subgraphs do not compose, the check of the definition has the errors. */
function replaceMergedSdl(definition: JsonObject): JsonObject {
  const bare = withSupergraph(
    { ...definition, graphql: { ...objectOrEmpty(definition.graphql), schema: '' } },
    {
      ...readSupergraph(definition),
      merged_sdl: '',
    },
  );
  const composition = composeDefinition(toModel({ kind: 'classic', definition: bare } as never).graphql);
  if ('errors' in composition) return definition;
  return withSupergraph(definition, { ...readSupergraph(definition), merged_sdl: composition.composed.apiSdl });
}

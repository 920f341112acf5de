import type { ResultOf } from '../../kit/calls.ts';

/** Facts of an API for lists and pages, from either format. */
export interface ApiOutline {
  readonly id: string;
  readonly name: string;
  readonly format: 'classic' | 'oas' | 'streams';
  readonly listenPath: string;
  /** Empty where the API has none of its own. */
  readonly upstream: string;
  readonly authentication: readonly string[];
  readonly isActive: boolean;
  /** It has a GraphQL schema. */
  readonly isGraphql: boolean;
  /** Its fields have data sources or subgraphs of their own. */
  readonly hasSources: boolean;
  /** It is the base of versions, which are APIs of their own. */
  readonly isBase: boolean;
  readonly versions: readonly { readonly id: string; readonly name: string }[];
  readonly categories: readonly string[];
  /** Numbers of users and of groups that own it. */
  readonly userOwners: number;
  readonly groupOwners: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

type ApiItem = ResultOf<'GET /api/apis'>['apis'][number];
interface Loose {
  readonly [name: string]: unknown;
}

const asObject = (value: unknown): Loose => (typeof value === 'object' && value !== null ? (value as Loose) : {});

const graphsWithSources: ReadonlySet<string> = new Set(['executionEngine', 'supergraph']);

export function toApiOutline(item: ApiItem): ApiOutline {
  const definition = asObject(item.api_definition);
  const gateway = asObject(asObject(item.oas)['x-gw-api-gateway']);
  const info = asObject(gateway.info);
  const isOas = definition.is_oas === true || item.oas !== undefined;
  const listen = asObject(asObject(gateway.server).listenPath);
  const versions = listVersions(asObject(info.versioning).versions);
  const isGraphql = asObject(definition.graphql).enabled === true;
  return {
    id: item.api_definition.api_id,
    name: String(definition.name ?? info.name ?? ''),
    format: item.is_streams ? 'streams' : isOas ? 'oas' : 'classic',
    listenPath: String(listen.value ?? asObject(definition.proxy).listen_path ?? ''),
    upstream: String(asObject(gateway.upstream).url ?? asObject(definition.proxy).target_url ?? ''),
    authentication: listAuthentication(definition),
    isActive: definition.active !== false,
    isGraphql,
    hasSources: isGraphql && graphsWithSources.has(String(asObject(definition.graphql).execution_mode)),
    isBase: versions.length > 0,
    versions,
    categories: item.categories,
    userOwners: item.user_owners.length,
    groupOwners: item.user_group_owners.length,
    createdAt: item.created_at,
    updatedAt: item.updated_at,
  };
}

const listVersions = (versions: unknown): ApiOutline['versions'] =>
  (Array.isArray(versions) ? versions : [])
    .map(asObject)
    .map(({ id, name }) => ({ id: String(id), name: String(name) }));

const flags: readonly (readonly [member: string, name: string])[] = [
  ['use_keyless', 'keyless'],
  ['use_standard_auth', 'authToken'],
  ['enable_jwt', 'jwt'],
  ['use_oauth2', 'oauth'],
  ['use_basic_auth', 'ba'],
];

function listAuthentication(definition: Loose): readonly string[] {
  const found = flags.filter(([member]) => definition[member] === true).map(([, name]) => name);
  return found.includes('keyless') ? ['keyless'] : found.length > 0 ? found : ['other'];
}

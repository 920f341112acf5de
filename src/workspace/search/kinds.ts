import type { KeyStore } from '#access/keys/store.ts';
import type { HiddenApi } from '#apis/owners/store.ts';
import type { Permission } from '#operations/operation.ts';
import type { CandidateBatches, GrantedApis, SearchCandidate, SearchMatch, SearchStore } from './store.ts';

export interface SearchStores {
  readonly search: SearchStore;
  readonly keys: Pick<KeyStore, 'get'>;
}

/** APIs that ownership hides from the caller, by either of their ids. */
export interface HiddenApiIds {
  readonly rowIds: ReadonlySet<string>;
  readonly apiIds: ReadonlySet<string>;
}

export const toHiddenApiIds = (hidden: readonly HiddenApi[]): HiddenApiIds => ({
  rowIds: new Set(hidden.map(({ id }) => id)),
  apiIds: new Set(hidden.map(({ api_id }) => api_id)),
});

type Candidates = readonly SearchCandidate[];

interface SearchableKind {
  readonly permission: Permission;
  find(stores: SearchStores, orgId: string, text: string): CandidateBatches;
  /** Leaves out candidates that ownership hides; absent for kinds without owners. */
  removeHidden?(stores: SearchStores, candidates: Candidates, hidden: HiddenApiIds): Promise<SearchCandidate[]>;
  /** Candidates that are examined for a caller who does not see all of them; absent where that needs no query. */
  readonly maxCandidates?: number;
  /** Absent where the candidates hold their matches. */
  describe?(stores: SearchStores, rowIds: readonly string[]): Promise<SearchMatch[]>;
}

/** An object that grants APIs is hidden where all of them are. */
function removeGrantingHidden(candidates: Candidates, granted: GrantedApis, { apiIds: hidden }: HiddenApiIds) {
  return candidates.filter(({ rowId }) => {
    const apiIds = granted.get(rowId) ?? [];
    return !apiIds.some(apiId => hidden.has(apiId)) || apiIds.some(apiId => !hidden.has(apiId));
  });
}

async function removeHiddenApis(_stores: SearchStores, candidates: Candidates, { rowIds }: HiddenApiIds) {
  return candidates.filter(({ rowId }) => !rowIds.has(rowId));
}

const rowIdsOf = (candidates: Candidates) => candidates.map(({ rowId }) => rowId);

const maxGrantingCandidates = 1000;

/** Kinds of objects, each with the permission that reads it. */
export const searchableKinds = {
  apis: {
    permission: 'apis:read',
    find: ({ search }, orgId, text) => search.findApis(orgId, text, false),
    removeHidden: removeHiddenApis,
    describe: ({ search }, rowIds) => search.describeApis(rowIds),
  },
  mcps: {
    permission: 'mcp:read',
    find: ({ search }, orgId, text) => search.findApis(orgId, text, true),
    removeHidden: removeHiddenApis,
    describe: ({ search }, rowIds) => search.describeApis(rowIds),
  },
  policies: {
    permission: 'policies:read',
    find: ({ search }, orgId, text) => search.findPolicies(orgId, text),
    removeHidden: async ({ search }, candidates, hidden) =>
      removeGrantingHidden(candidates, await search.listApisOfPolicies(rowIdsOf(candidates)), hidden),
    maxCandidates: maxGrantingCandidates,
    describe: ({ search }, rowIds) => search.describePolicies(rowIds),
  },
  keys: {
    permission: 'keys:read',
    find: findKeys,
    removeHidden: async ({ search }, candidates, hidden) =>
      removeGrantingHidden(candidates, await search.listApisOfKeys(rowIdsOf(candidates)), hidden),
    maxCandidates: maxGrantingCandidates,
  },
  oauth_clients: {
    permission: 'oauth:read',
    find: ({ search }, orgId, text) => search.findByName('oauth_clients', orgId, text),
    removeHidden: async (_stores, candidates, { apiIds }) =>
      candidates.filter(({ match }) => !apiIds.has(match?.detail ?? '')),
    describe: ({ search }, rowIds) => search.describeOauthClients(rowIds),
  },
  certificates: {
    permission: 'certs:read',
    find: ({ search }, orgId, text) => search.findByName('certificates', orgId, text),
  },
  webhooks: { permission: 'hooks:read', find: ({ search }, orgId, text) => search.findByName('webhooks', orgId, text) },
  users: { permission: 'users:read', find: ({ search }, orgId, text) => search.findByName('users', orgId, text) },
  user_groups: {
    permission: 'user_groups:read',
    find: ({ search }, orgId, text) => search.findByName('user_groups', orgId, text),
  },
  templates: {
    permission: 'api_assets:read',
    find: ({ search }, orgId, text) => search.findByName('templates', orgId, text),
  },
  identity_profiles: {
    permission: 'idm:read',
    find: ({ search }, orgId, text) => search.findByName('identity_profiles', orgId, text),
  },
} as const satisfies Readonly<Record<string, SearchableKind>>;

export type SearchableKindName = keyof typeof searchableKinds;

/** By the whole id, or by a part of alias, user name or hash. A result has the hash as its id: the id is a credential. */
async function* findKeys({ search, keys }: SearchStores, orgId: string, text: string): CandidateBatches {
  const exact = await keys.get(orgId, text);
  if (exact && exact.kind !== 'organisation') {
    const { rowId, keyHash: id, key } = exact;
    yield [{ rowId, match: { id, name: key.alias || key.basic_auth_data?.user || '', detail: '' } }];
  }
  for await (const candidates of search.findByName('keys', orgId, text))
    yield candidates
      .filter(({ rowId }) => rowId !== exact?.rowId)
      .map(({ rowId, match }) => ({ rowId, match: { id: match!.detail, name: match!.name, detail: '' } }));
}

export interface KindQuery {
  readonly orgId: string;
  readonly text: string;
  readonly maxItems: number;
  readonly hidden: HiddenApiIds;
}

/** First matches of a kind that the caller may see, and whether there are more. */
export async function searchKind(
  stores: SearchStores,
  name: SearchableKindName,
  { orgId, text, maxItems, hidden }: KindQuery,
): Promise<{ items: SearchMatch[]; more: boolean }> {
  const kind: SearchableKind = searchableKinds[name];
  const { find, removeHidden, describe, maxCandidates = Number.POSITIVE_INFINITY } = kind;
  const isFiltered = removeHidden !== undefined && hidden.rowIds.size > 0;
  const visible: SearchCandidate[] = [];
  let examined = 0;
  for await (const candidates of find(stores, orgId, text)) {
    visible.push(...(isFiltered ? await removeHidden(stores, candidates, hidden) : candidates));
    examined += candidates.length;
    if (visible.length > maxItems || examined >= maxCandidates) break;
  }
  const more = visible.length > maxItems || examined >= maxCandidates;
  const first = visible.slice(0, maxItems);
  if (describe && first.length > 0) return { items: await describe(stores, rowIdsOf(first)), more };
  return { items: first.flatMap(({ match }) => match ?? []), more };
}

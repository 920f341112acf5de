import type { KeyStore } from '#access/keys/store.ts';
import type { HiddenApis } from '#apis/owners/store.ts';
import type { Permission } from '#operations/operation.ts';
import type { GrantedApis, MatchBatches, SearchMatch, SearchStore } from './store.ts';

export interface SearchStores {
  readonly search: SearchStore;
  readonly keys: Pick<KeyStore, 'get'>;
}

interface SearchableKind {
  readonly permission: Permission;
  find(stores: SearchStores, orgId: string, text: string): MatchBatches;
  /** Leaves out matches that ownership hides; absent for kinds without owners. */
  removeHidden?(stores: SearchStores, matches: readonly SearchMatch[], hidden: HiddenApis): Promise<SearchMatch[]>;
}

/** An object that grants APIs is hidden where all of them are. */
function removeGrantingHidden(matches: readonly SearchMatch[], granted: GrantedApis, hidden: HiddenApis) {
  return matches.filter(({ rowId }) => {
    const apiIds = granted.get(rowId) ?? [];
    return !apiIds.some(hidden.has) || apiIds.some(apiId => !hidden.has(apiId));
  });
}

const rowIdsOf = (matches: readonly SearchMatch[]) => matches.map(({ rowId }) => rowId);

/** Kinds of objects, each with the permission that reads it. */
export const searchableKinds = {
  apis: {
    permission: 'apis:read',
    find: ({ search }, orgId, text) => search.findApis(orgId, text),
    removeHidden: async (_stores, matches, hidden) => matches.filter(({ id }) => !hidden.has(id)),
  },
  policies: {
    permission: 'policies:read',
    find: ({ search }, orgId, text) => search.findPolicies(orgId, text),
    removeHidden: async ({ search }, matches, hidden) =>
      removeGrantingHidden(matches, await search.listApisOfPolicies(rowIdsOf(matches)), hidden),
  },
  keys: {
    permission: 'keys:read',
    find: findKeys,
    removeHidden: async ({ search }, matches, hidden) =>
      removeGrantingHidden(matches, await search.listApisOfKeys(rowIdsOf(matches)), hidden),
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
async function* findKeys({ search, keys }: SearchStores, orgId: string, text: string): MatchBatches {
  const exact = await keys.get(orgId, text);
  if (exact && exact.kind !== 'organisation') {
    const { rowId, keyHash: id, key } = exact;
    yield [{ id, rowId, name: key.alias || key.basic_auth_data?.user || '', detail: '' }];
  }
  for await (const matches of search.findByName('keys', orgId, text))
    yield matches.filter(it => it.rowId !== exact?.rowId).map(it => ({ ...it, id: it.detail, detail: '' }));
}

/** Candidates of one kind that are examined for a caller who does not see all of them. */
const maxCandidates = 1000;

export interface KindQuery {
  readonly orgId: string;
  readonly text: string;
  readonly maxItems: number;
  readonly hidden: HiddenApis;
}

/** First matches of a kind that the caller may see, and whether there are more. */
export async function searchKind(
  stores: SearchStores,
  name: SearchableKindName,
  { orgId, text, maxItems, hidden }: KindQuery,
): Promise<{ items: SearchMatch[]; more: boolean }> {
  const kind: SearchableKind = searchableKinds[name];
  const items: SearchMatch[] = [];
  let examined = 0;
  for await (const matches of kind.find(stores, orgId, text)) {
    const isFiltered = kind.removeHidden !== undefined && hidden.apiIds.length > 0;
    items.push(...(isFiltered ? await kind.removeHidden!(stores, matches, hidden) : matches));
    examined += matches.length;
    if (items.length > maxItems || examined >= maxCandidates) break;
  }
  return { items: items.slice(0, maxItems), more: items.length > maxItems || examined >= maxCandidates };
}

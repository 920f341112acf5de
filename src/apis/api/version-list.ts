import { z } from 'zod';
import { toModel } from './rules.ts';
import type { StoredApi } from './schema.ts';
import type { ApiStore } from './store.ts';

export const versionListQuery = z.object({
  searchText: z.string().max(200).optional().describe('Part of the version name, case-insensitive'),
  accessType: z.enum(['internal', 'external', '']).optional().describe('Restricts the list to this API type'),
});

const ListedVersion = z.object({
  id: z.string(),
  name: z.string(),
  versionName: z.string(),
  internal: z.boolean(),
  expirationDate: z.string(),
  isDefaultVersion: z.boolean(),
});
type ListedVersion = z.output<typeof ListedVersion>;

export const versionListResponse = z.object({ status: z.string(), apis: z.array(ListedVersion) });

/** Base API of a version. */
export async function findBase(apis: ApiStore, { org_id, api_id }: StoredApi): Promise<StoredApi | undefined> {
  return (await apis.findBases(org_id, api_id)).find(base => base.api_id !== api_id);
}

/** Lists an API with its versions, or its siblings: the base first, then by name. */
export async function listVersions(apis: ApiStore, api: StoredApi, query: z.output<typeof versionListQuery>) {
  const isBase = Object.keys(api.summary.versions).length > 0;
  const base = isBase ? api : ((await findBase(apis, api)) ?? api);
  const wanted = (query.searchText ?? '').toLowerCase();
  const fits = ({ versionName, internal }: ListedVersion) =>
    versionName.toLowerCase().includes(wanted) && (!query.accessType || internal === (query.accessType === 'internal'));
  return { status: 'success', apis: (await listBaseAndVersions(apis, base)).filter(fits) };
}

async function listBaseAndVersions(apis: ApiStore, base: StoredApi): Promise<ListedVersion[]> {
  const { enabled, name, default: chosen, versions } = toModel(base).versioning;
  const found = await apis.findByIds(base.org_id, Object.values(versions));
  const byId = new Map(found.map(api => [api.api_id, api]));
  const names = Object.keys(versions).sort((a, b) => (a < b ? -1 : 1));
  return [
    toListedVersion(base, name, !enabled || chosen === 'self' || (chosen !== '' && chosen === name)),
    ...names.flatMap(version => {
      const child = byId.get(versions[version]!);
      return child && child.id !== base.id ? [toListedVersion(child, version, enabled && chosen === version)] : [];
    }),
  ];
}

function toListedVersion(api: StoredApi, versionName: string, isDefaultVersion: boolean): ListedVersion {
  const { name, internal, expiration } = toModel(api).identity;
  return { id: api.api_id, name, versionName, internal, expirationDate: expiration, isDefaultVersion };
}

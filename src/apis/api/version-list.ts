import { z } from 'zod';
import { modelOf } from './rules.ts';
import type { StoredApi } from './schema.ts';
import type { ApiStore } from './store.ts';

export const versionListQuery = z.object({
  searchText: z.string().max(200).optional().describe('Part of the name of the version, in any case'),
  accessType: z.enum(['internal', 'external', '']).optional().describe('Only versions of this kind'),
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

export const versionListAnswer = z.object({ status: z.string(), apis: z.array(ListedVersion) });

/** The API that this one is a version of. */
export async function baseOf(apis: ApiStore, { org_id, api_id }: StoredApi): Promise<StoredApi | undefined> {
  return (await apis.basesOf(org_id, api_id)).find(base => base.api_id !== api_id);
}

/** An API with its versions, or those it is one of: the base first, then by name. */
export async function versionList(apis: ApiStore, api: StoredApi, asked: z.output<typeof versionListQuery>) {
  const isBase = Object.keys(api.summary.versions).length > 0;
  const base = isBase ? api : ((await baseOf(apis, api)) ?? api);
  const wanted = (asked.searchText ?? '').toLowerCase();
  const fits = ({ versionName, internal }: ListedVersion) =>
    versionName.toLowerCase().includes(wanted) && (!asked.accessType || internal === (asked.accessType === 'internal'));
  return { status: 'success', apis: (await family(apis, base)).filter(fits) };
}

async function family(apis: ApiStore, base: StoredApi): Promise<ListedVersion[]> {
  const { enabled, name, default: chosen, versions } = modelOf(base).versioning;
  const found = await apis.named(base.org_id, Object.values(versions));
  const byId = new Map(found.map(api => [api.api_id, api]));
  const names = Object.keys(versions).sort((a, b) => (a < b ? -1 : 1));
  return [
    listed(base, name, !enabled || chosen === 'self' || (chosen !== '' && chosen === name)),
    ...names.flatMap(version => {
      const child = byId.get(versions[version]!);
      return child && child.id !== base.id ? [listed(child, version, enabled && chosen === version)] : [];
    }),
  ];
}

function listed(api: StoredApi, versionName: string, isDefaultVersion: boolean): ListedVersion {
  const { name, internal, expiration } = modelOf(api).identity;
  return { id: api.api_id, name, versionName, internal, expirationDate: expiration, isDefaultVersion };
}

import { policyChangeName } from '#access/policies/topic.ts';
import type { ConfigChange } from '#apis/config-reader.ts';
import type { ShardedMap } from '#base/sharded-map.ts';
import { listReferencedCertificates } from '../auth/certificate-cache.ts';
import { listReferencedPolicies } from '../auth/required-policies.ts';
import type { Api } from './api.ts';

/** Sorted API ids by key: of several the first is used, so that all threads agree. */
export type ApiIndex = ShardedMap<readonly string[]>;

/** The next index. Keys that an API keeps stay as they are. */
export function updateIndex(
  previous: ApiIndex,
  listKeys: (api: Api) => ReadonlySet<string>,
  replaced: readonly Api[],
  changed: readonly Api[],
): ApiIndex {
  const index = previous.copy();
  const keysById = new Map(changed.map(api => [api.id, listKeys(api)]));
  for (const old of replaced)
    for (const key of listKeys(old)) {
      if (keysById.get(old.id)?.has(key)) continue;
      const others = (index.get(key) ?? []).filter(id => id !== old.id);
      if (others.length > 0) index.set(key, others);
      else index.delete(key);
    }
  for (const [id, keys] of keysById)
    for (const key of keys) {
      const listed = index.get(key) ?? [];
      if (!listed.includes(id)) index.set(key, [...listed, id].sort());
    }
  return index;
}

/** An object in the change log. */
export const toChangeKey = ({ topic, id }: ConfigChange): string => `${topic} ${id}`;

/** Objects in the database that an API is compiled from, but for its organisation: the API itself, and what it references. */
export const listSources = ({ databaseId, orgId, model }: Api): ReadonlySet<string> =>
  new Set([
    toChangeKey({ topic: 'apis', id: databaseId }),
    ...listReferencedPolicies(model).map(id => toChangeKey({ topic: 'policies', id: policyChangeName(orgId, id) })),
    ...listReferencedCertificates(model).map(id => toChangeKey({ topic: 'certificates', id })),
  ]);

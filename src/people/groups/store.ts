import { createCollection, hasNameWith, type PageRequest, type Query } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import type { RevisionLog } from '#storage/revision-log.ts';
import { problem } from '../problems.ts';
import type { StoredGroup } from './schema.ts';

export type GroupStore = ReturnType<typeof createGroupStore>;

const defaultMaxGroups = 1000;

/** `maxGroups`: of one organisation. */
export function createGroupStore(records: Records, maxGroups = defaultMaxGroups, revisions?: RevisionLog) {
  const history = revisions?.createHistory<StoredGroup>({
    table: 'user_groups',
    identify: ({ org_id, id, name }) => ({ orgId: String(org_id), publicId: String(id), name: String(name ?? '') }),
    open: row => row as unknown as StoredGroup,
  });
  const groups = createCollection<'user_groups', StoredGroup>(
    records,
    'user_groups',
    it => ({ id: it.id, org_id: it.org_id, name: it.name, created_at: it.created_at_ms }),
    undefined,
    undefined,
    { kind: 'user_groups', toEntry: ({ name }) => ({ names: [name], label: name }) },
    history?.recordChange,
  );
  const newestFirst = ['-created_at', '-id'] as const;

  return {
    history,
    get: (orgId: string, id: string) => groups.find({ org_id: orgId, id }),
    /** `text`: part of the name. */
    page: (orgId: string, request: PageRequest, text = '') => {
      const filter = (query: Query) => (text ? query.where(hasNameWith('user_groups', orgId, text)) : query);
      return groups.page({ where: { org_id: orgId }, filter, order: newestFirst }, request);
    },
    all: (orgId: string) => groups.all({ where: { org_id: orgId }, order: newestFirst }),
    insert: (group: StoredGroup) =>
      records.write(async () => {
        if ((await groups.count({ org_id: group.org_id })) >= maxGroups)
          throw problem.limit_reached({ detail: { name: 'user groups', max: maxGroups } });
        await groups.insert(group);
      }),
    replace: (group: StoredGroup) => groups.replace({ org_id: group.org_id, id: group.id }, group),
    remove: (orgId: string, id: string) => groups.remove({ org_id: orgId, id }),
    removeAll: (orgId: string) => groups.remove({ org_id: orgId }),
  };
}

import { createCollection, type PageRequest } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import { problem } from '../problems.ts';
import type { StoredOrganisation } from './schema.ts';

export type OrganisationStore = ReturnType<typeof createOrganisationStore>;

export function createOrganisationStore(records: Records) {
  const organisations = createCollection<'organisations', StoredOrganisation>(
    records,
    'organisations',
    it => ({ id: it.id, name: it.owner_name, created_at: Date.parse(it.created_at) }),
    problem.organisation_exists,
  );
  return {
    get: (id: string) => organisations.find({ id }),
    page: (request: PageRequest) => organisations.page({ order: ['-created_at', '-id'] }, request),
    insert: organisations.insert,
    change: (id: string, change: (it: StoredOrganisation) => StoredOrganisation) =>
      organisations.change({ id }, change),
    remove: (id: string) => organisations.remove({ id }),
  };
}

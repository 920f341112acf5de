import type { OrganisationStore } from '#people/organisations/store.ts';
import { problem as people } from '#people/problems.ts';

export interface OwnerServices {
  organisations: OrganisationStore;
  /** Organisation of an API that names none. */
  defaultOrgId: () => Promise<string>;
}

/** Owner of a new API where the caller is not bound to an organisation: the one it names, or the first one created. */
export async function resolveOwner({ organisations, defaultOrgId }: OwnerServices, named: string): Promise<string> {
  const orgId = named || (await defaultOrgId());
  if (!(await organisations.get(orgId))) throw people.organisation_unknown({ detail: { id: orgId } });
  return orgId;
}

import type { OrganisationStore } from '#people/organisations/store.ts';
import { problem as people } from '#people/problems.ts';

export interface OwnerServices {
  organisations: OrganisationStore;
  /** Where an API goes that names no organisation. */
  defaultOrgId: () => Promise<string>;
}

/** Whose a new API is, where the caller stands above organisations: of the one it names, or of the one made first. */
export async function resolveOwner({ organisations, defaultOrgId }: OwnerServices, named: string): Promise<string> {
  const orgId = named || (await defaultOrgId());
  if (!(await organisations.get(orgId))) throw people.organisation_unknown({ detail: { id: orgId } });
  return orgId;
}

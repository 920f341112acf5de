import type { OrganisationStore } from '#people/organisations/store.ts';
import { problem } from './problems.ts';

/** What those who stand above organisations need, to know whose an object is. */
export interface OwnerTools {
  organisations: OrganisationStore;
  defaultOrgId: () => Promise<string>;
}

/** The organisation an object names, which must exist; the first one of the installation where it names none. */
export async function owningOrganisation(
  { organisations, defaultOrgId }: OwnerTools,
  named: string | null | undefined,
): Promise<string> {
  const id = named || (await defaultOrgId());
  if (!(await organisations.get(id))) throw problem.organisation_unknown({ detail: { id } });
  return id;
}

import { problem } from './problems.ts';
import type { PolicyStore, StoredPolicy } from './store.ts';

export interface FindPolicyServices {
  policies: PolicyStore;
  defaultOrgId: () => Promise<string>;
}

/** Looks in the named organisation; without one, in the default organisation, then in all. */
export async function findPolicyInAnyOrganisation(
  { policies, defaultOrgId }: FindPolicyServices,
  id: string,
  orgId?: string,
): Promise<StoredPolicy | undefined> {
  if (orgId) return policies.get(orgId, id);
  const inDefault = await policies.get(await defaultOrgId(), id);
  if (inDefault) return inDefault;
  const [policy, another] = await policies.findInAllOrganisations(id);
  if (another) throw problem.several();
  return policy;
}

import { problem } from './problems.ts';
import type { PolicyStore, StoredPolicy } from './store.ts';

export interface FindPolicyTools {
  policies: PolicyStore;
  defaultOrgId: () => Promise<string>;
}

/** A policy in the organisation that is named; else in the first one, else in whichever has it. */
export async function findPolicyInAnyOrganisation(
  { policies, defaultOrgId }: FindPolicyTools,
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

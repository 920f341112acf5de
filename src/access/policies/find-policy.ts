import { problem } from './problems.ts';
import type { PolicyStore, StoredPolicy } from './store.ts';

export interface AnywhereTools {
  policies: PolicyStore;
  defaultOrgId: () => Promise<string>;
}

/** A policy in the organisation that is named; else in the first one, else in whichever has it. */
export async function policyAnywhere(
  { policies, defaultOrgId }: AnywhereTools,
  id: string,
  orgId?: string,
): Promise<StoredPolicy | undefined> {
  if (orgId) return policies.get(orgId, id);
  const known = await policies.get(await defaultOrgId(), id);
  if (known) return known;
  const [policy, another] = await policies.anywhere(id);
  if (another) throw problem.several();
  return policy;
}

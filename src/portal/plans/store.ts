import type { Records } from '#storage/records.ts';
import { numberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import type { StoredPlan } from './schema.ts';

export function planStore(records: Records) {
  const plans = numberedStore<'portal_plans', StoredPlan>(
    records,
    'portal_plans',
    it => ({ cid: it.CID, provider_id: it.ProviderID, reference_id: it.ReferenceID, name: it.Name }),
    problem.cid_taken,
  );
  return {
    ...plans,
    ofProvider: (providerId: number) => plans.all({ provider_id: providerId }),
    /** A new plan, or the bare one a synchronisation has just made of the same policy. */
    async adopt(plan: StoredPlan): Promise<StoredPlan> {
      const bare = await plans.rows.find({ provider_id: plan.ProviderID, reference_id: plan.ReferenceID });
      if (!bare) return plans.insert(plan);
      return (await plans.change(bare.ID, ({ ID }) => ({ ...plan, ID }))) ?? plans.insert(plan);
    },
  };
}

import type { RecordChange } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import { createNumberedStore, toPolicyFilter } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import { createPageSearch } from '../search-store.ts';
import type { StoredPlan } from './schema.ts';

export function createPlanStore(records: Records, reportChange: RecordChange) {
  const plans = createNumberedStore<'portal_plans', StoredPlan>(
    records,
    'portal_plans',
    it => ({ cid: it.CID, provider_id: it.ProviderID, reference_id: it.ReferenceID, name: it.Name }),
    problem.cid_taken,
    reportChange,
  );
  return {
    ...plans,
    searchPage: createPageSearch(records, 'portal_plans', plans, ({ Name, DisplayName }) => [Name, DisplayName]),
    /** Plans of these policies, of any provider. */
    findByPolicies: (policyIds: readonly string[]) => plans.rows.all(toPolicyFilter(policyIds)),
    ofProvider: (providerId: number) => plans.all({ provider_id: providerId }),
    /** Inserts a plan, or replaces the one a concurrent synchronisation created for the same policy. */
    async insertOrReplaceSynchronized(plan: StoredPlan): Promise<StoredPlan> {
      const synchronized = await plans.rows.find({ provider_id: plan.ProviderID, reference_id: plan.ReferenceID });
      if (!synchronized) return plans.insert(plan);
      return (await plans.change(synchronized.ID, ({ ID }) => ({ ...plan, ID }))) ?? plans.insert(plan);
    },
  };
}

import type { StoredCatalogue } from '../catalogues/schema.ts';
import type { StoredPlan } from '../plans/schema.ts';
import type { StoredAccessRequest } from './schema.ts';

/** Plan that an approver grants in place of the requested one. */
export interface GrantedPlan {
  readonly plan: StoredPlan;
  readonly catalogue: StoredCatalogue | undefined;
  /** Inside the transaction of the claim, with the lock of the plan. */
  checkQuota(plan: StoredPlan): Promise<void>;
}

/** A claimed request with the granted plan; it remembers the requested one. */
export const withGrantedPlan = (it: StoredAccessRequest, { plan, catalogue }: GrantedPlan): StoredAccessRequest => ({
  ...it,
  PlanID: plan.ID,
  CatalogueID: catalogue?.ID ?? 0,
  Names: { ...it.Names, plan: plan.Name, catalogue: catalogue?.Name ?? '' },
  Requested: {
    PlanID: it.PlanID,
    CatalogueID: it.CatalogueID,
    plan: it.Names.plan,
    catalogue: it.Names.catalogue,
  },
});

/** A request whose approval did not succeed: it has the requested plan again. */
export function withRequestedPlan({ Requested, ...it }: StoredAccessRequest): StoredAccessRequest {
  if (!Requested) return it;
  const { PlanID, CatalogueID, plan, catalogue } = Requested;
  return { ...it, PlanID, CatalogueID, Names: { ...it.Names, plan, catalogue } };
}

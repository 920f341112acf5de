import { requestChange } from '../../access-requests/change.ts';
import type { StoredAccessRequest } from '../../access-requests/schema.ts';
import type { StoredPlan } from '../../plans/schema.ts';
import type { Visitor } from '../../visibility/rules.ts';
import { findVisiblePlans } from '../../visibility/visibility.ts';
import type { SiteServices, SiteVisitor } from '../page.ts';
import { refuseDailyExcess } from './own-apps.ts';

/** Plans that a visitor may request for every product of an approved request, other than its own. */
export async function listOtherPlans(
  { ProductIDs, PlanID, ProviderID }: StoredAccessRequest,
  rights: Visitor,
  services: SiteServices,
): Promise<StoredPlan[]> {
  let common: StoredPlan[] | undefined;
  for (const id of ProductIDs) {
    const offered = (await findVisiblePlans(rights, id, services)).flatMap(({ plans }) => plans);
    const ids = new Set(offered.map(({ ID }) => ID));
    common = common?.filter(({ ID }) => ids.has(ID)) ?? [...new Map(offered.map(it => [it.ID, it])).values()];
  }
  return (common ?? []).filter(({ ID, ProviderID: provider }) => ID !== PlanID && provider === ProviderID);
}

/** Requests another plan; false where it is not offered to the visitor. The plan decides about the approval. */
export async function changePlan(
  request: StoredAccessRequest,
  planId: number,
  { rights }: SiteVisitor,
  services: SiteServices,
): Promise<boolean> {
  const plans = await listOtherPlans(request, rights, services);
  if (!plans.some(({ ID }) => ID === planId)) return false;
  await requestChange(request, { PlanID: planId }, services, {
    checkBounds: () => refuseDailyExcess(request.UserID, services),
  });
  return true;
}

import { createInvalidProblem } from '#operations/validation-error.ts';
import { checkPlanQuota, resolveCatalogue } from '../apps/provision.ts';
import type { StoredPlan } from '../plans/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { identifyVisitor } from '../visibility/visibility.ts';
import { approveChange } from './change.ts';
import { approveNewRequest, type DecisionServices } from './decision.ts';
import { type GrantedPlan, withRequestedPlan } from './granted-plan.ts';
import { listOtherPlans } from './other-plans.ts';
import type { StoredAccessRequest } from './schema.ts';

/**
 * Approves a pending request, or a pending change of an approved one. With `planId`, the app gets this plan in place of
 * the requested one, under the rules of a change of plan by the developer.
 */
export async function approveRequest(id: number, services: DecisionServices, planId?: number): Promise<void> {
  const found = await services.portal.accessRequests.get(id);
  // The claim of a process that ended may have left its granted plan.
  const open = found?.Status === 'pending' ? withRequestedPlan(found) : undefined;
  const isOtherPlan = open && planId !== undefined && planId !== open.PlanID;
  const granted = isOtherPlan ? await resolveGrantedPlan(open, planId, services) : undefined;
  await (found?.Changes ? approveChange : approveNewRequest)(id, services, granted);
}

/** Plans that an approver can grant in place of the requested one: those that the developer could request. */
export async function listGrantablePlans(
  request: StoredAccessRequest,
  services: Pick<PortalServices, 'portal'>,
): Promise<StoredPlan[]> {
  const { portal } = services;
  const plans = await listOtherPlans(request, await identifyVisitor(request.UserID, services), services);
  const changed = request.Changes ? await portal.accessRequests.get(request.Changes) : undefined;
  const hasProductsOf = ({ ProductIDs }: StoredAccessRequest) =>
    ProductIDs.length === request.ProductIDs.length && ProductIDs.every(id => request.ProductIDs.includes(id));
  // With its own plan and products the changed request would stay what it is.
  return changed && hasProductsOf(changed) ? plans.filter(({ ID }) => ID !== changed.PlanID) : plans;
}

async function resolveGrantedPlan(
  request: StoredAccessRequest,
  planId: number,
  services: DecisionServices,
): Promise<GrantedPlan> {
  const { portal } = services;
  const plan = (await listGrantablePlans(request, services)).find(({ ID }) => ID === planId);
  if (!plan)
    throw createInvalidProblem([
      { path: 'plan_id', message: 'is not a plan that the developer can request for the products' },
    ]);
  const products = [...(await portal.products.byIds(request.ProductIDs)).values()];
  const catalogue = await resolveCatalogue({ Catalogue: undefined }, plan, products, services);
  return { plan, catalogue, checkQuota: locked => checkPlanQuota(request.UserID, locked, services) };
}

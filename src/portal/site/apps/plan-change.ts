import { requestChange } from '../../access-requests/change.ts';
import { listOtherPlans } from '../../access-requests/other-plans.ts';
import type { StoredAccessRequest } from '../../access-requests/schema.ts';
import type { SiteServices, SiteVisitor } from '../page.ts';
import { refuseDailyExcess } from './own-apps.ts';

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

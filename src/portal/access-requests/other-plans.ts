import { splitScopes } from '../oauth-clients/metadata.ts';
import type { StoredPlan } from '../plans/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import type { Visitor } from '../visibility/rules.ts';
import { findVisiblePlans } from '../visibility/visibility.ts';
import type { StoredAccessRequest } from './schema.ts';

/** Plans that a visitor may request for every product of a request, other than its own. OAuth clients need a scope. */
export async function listOtherPlans(
  { ProductIDs, PlanID, ProviderID, DCRTemplateID }: StoredAccessRequest,
  rights: Visitor,
  services: Pick<PortalServices, 'portal'>,
): Promise<StoredPlan[]> {
  let common: StoredPlan[] | undefined;
  for (const id of ProductIDs) {
    const offered = (await findVisiblePlans(rights, id, services)).flatMap(({ plans }) => plans);
    const ids = new Set(offered.map(({ ID }) => ID));
    common = common?.filter(({ ID }) => ids.has(ID)) ?? [...new Map(offered.map(it => [it.ID, it])).values()];
  }
  return (common ?? [])
    .filter(({ ID, ProviderID: provider }) => ID !== PlanID && provider === ProviderID)
    .filter(({ JWTScope }) => !DCRTemplateID || splitScopes(JWTScope).length > 0);
}

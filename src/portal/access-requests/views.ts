import type { PortalServices } from '../portal-stores.ts';
import type { RequestContext, StoredAccessRequest } from './schema.ts';

/** Batch-loads the names and credentials of requests; deleted objects keep the name of that time. */
export async function loadContexts(
  requests: readonly StoredAccessRequest[],
  { portal }: Pick<PortalServices, 'portal'>,
): Promise<(it: StoredAccessRequest) => RequestContext> {
  const apps = await portal.apps.byIds(requests.map(it => it.AppID));
  const users = await portal.users.byIds(requests.map(it => it.UserID));
  const plans = await portal.plans.byIds(requests.map(it => it.PlanID));
  const catalogues = await portal.catalogues.byIds(requests.map(it => it.CatalogueID));
  const products = await portal.products.byIds(requests.flatMap(it => it.ProductIDs));
  const credentials = await portal.credentials.ofRequests(requests.map(it => it.ID));
  return ({ ID, AppID, UserID, PlanID, CatalogueID, ProductIDs, Names }) => ({
    app: apps.get(AppID)?.Name ?? Names.app,
    email: users.get(UserID)?.Email ?? '',
    plan: plans.get(PlanID)?.Name ?? Names.plan,
    catalogue: catalogues.get(CatalogueID)?.Name ?? Names.catalogue,
    products: ProductIDs.map((id, place) => products.get(id)?.Name ?? Names.products[place] ?? ''),
    credentials: credentials.filter(it => it.AccessRequestID === ID),
  });
}

/** Maps requests to a view. */
export async function viewRequests<View>(
  requests: readonly StoredAccessRequest[],
  toView: (it: StoredAccessRequest, context: RequestContext) => View,
  services: Pick<PortalServices, 'portal'>,
): Promise<View[]> {
  const around = await loadContexts(requests, services);
  return requests.map(it => toView(it, around(it)));
}

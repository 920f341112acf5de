import type { StoredAccessRequest } from '../../access-requests/schema.ts';
import type { StoredCredential } from '../../credentials/schema.ts';
import type { StoredProduct } from '../../products/schema.ts';
import { findAccessObstacle, findProductOffer, toCheckoutUrl } from '../offer.ts';
import type { SiteServices, SiteVisitor } from '../page.ts';
import { getCredentialState } from './credential-state.ts';
import { findMoreProducts } from './more-products.ts';

/**
 * Page on which access is requested again for the same products, plan and app; undefined while no credential of the
 * request expires, and where the plan or one of the products cannot be requested by the visitor any more.
 */
export async function findRenewUrl(
  { AppID, PlanID, CatalogueID, ProductIDs }: StoredAccessRequest,
  credentials: readonly StoredCredential[],
  products: ReadonlyMap<number, StoredProduct>,
  visitor: SiteVisitor,
  services: SiteServices,
): Promise<string | undefined> {
  const nowMs = services.clock.now();
  const [firstId = 0, ...others] = ProductIDs;
  const first = products.get(firstId);
  if (!first || credentials.every(it => getCredentialState(it, nowMs) === 'active')) return undefined;
  const offer = await findProductOffer(first.Path, visitor, services);
  if (!offer || findAccessObstacle(offer.product)) return undefined;
  const plans = offer.offers.filter(({ plan }) => plan.ID === PlanID);
  const chosen = plans.find(({ catalogueId }) => catalogueId === CatalogueID) ?? plans[0];
  if (!chosen) return undefined;
  const list = others.join();
  if (!(await findMoreProducts(offer.product, chosen, list, services))) return undefined;
  return `${toCheckoutUrl(offer.product, chosen)}${list && `&also=${list}`}&app=${AppID}`;
}

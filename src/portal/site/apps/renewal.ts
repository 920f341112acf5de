import type { StoredAccessRequest } from '../../access-requests/schema.ts';
import type { StoredCredential } from '../../credentials/schema.ts';
import type { StoredProduct } from '../../products/schema.ts';
import { findAccessObstacle, findProductOffer, toCheckoutUrl } from '../offer.ts';
import type { SiteServices, SiteVisitor } from '../page.ts';
import { getCredentialState } from './credential-state.ts';
import { findMoreProducts } from './more-products.ts';

type Products = ReadonlyMap<number, StoredProduct>;

/**
 * Page on which access is requested again for the same products, plan and app; undefined where the plan or one of the
 * products cannot be requested by the visitor any more.
 */
export async function findRepeatUrl(
  { AppID, PlanID, CatalogueID, ProductIDs }: StoredAccessRequest,
  products: Products,
  visitor: SiteVisitor,
  services: SiteServices,
): Promise<string | undefined> {
  const [firstId = 0, ...others] = ProductIDs;
  const first = products.get(firstId);
  const offer = first && (await findProductOffer(first.Path, visitor, services));
  if (!offer || findAccessObstacle(offer.product)) return undefined;
  const plans = offer.offers.filter(({ plan }) => plan.ID === PlanID);
  const chosen = plans.find(({ catalogueId }) => catalogueId === CatalogueID) ?? plans[0];
  if (!chosen) return undefined;
  const list = others.join();
  if (!(await findMoreProducts(offer.product, chosen, list, services))) return undefined;
  return `${toCheckoutUrl(offer.product, chosen)}${list && `&also=${list}`}&app=${AppID}`;
}

/** Page on which an approved request is renewed; undefined while none of its credentials expires. */
export async function findRenewUrl(
  request: StoredAccessRequest,
  credentials: readonly StoredCredential[],
  products: Products,
  visitor: SiteVisitor,
  services: SiteServices,
): Promise<string | undefined> {
  const nowMs = services.clock.now();
  if (credentials.every(it => getCredentialState(it, nowMs) === 'active')) return undefined;
  return findRepeatUrl(request, products, visitor, services);
}

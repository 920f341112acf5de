import { keylessAuthTypes } from '../apps/provision.ts';
import type { StoredPlan } from '../plans/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { isDocumentationOnly, type StoredProduct } from '../products/schema.ts';
import { createOfferStore } from '../visibility/offer-store.ts';
import type { Visitor } from '../visibility/rules.ts';
import { findVisiblePlans, findVisibleProduct } from '../visibility/visibility.ts';
import { checkoutPath, type SiteVisitor } from './page.ts';

type Services = Pick<PortalServices, 'portal' | 'records'>;

export const createOffer = ({ records }: Services) => createOfferStore(records);

/** A plan in a catalogue that has the product too. */
export interface PlanOffer {
  readonly plan: StoredPlan;
  readonly catalogueId: number;
  readonly catalogueName: string;
}

export interface ProductOffer {
  readonly product: StoredProduct;
  /** False for a product that is visible because the visitor has a credential for it. */
  readonly isOffered: boolean;
  readonly offers: readonly PlanOffer[];
  /** Of the visitor to whom it is visible. */
  readonly rights: Visitor;
}

/** A product by its path with the plans under which a visitor can request it; undefined for what is not visible. */
export async function findProductOffer(
  path: string,
  { rights }: SiteVisitor,
  services: Services,
): Promise<ProductOffer | undefined> {
  const stored = await services.portal.products.rows.find({ path });
  const found = stored && (await findVisibleProduct(rights, stored.ID, services));
  if (!found) return undefined;
  const { product, isOffered } = found;
  const byCatalogue = isOffered ? await findVisiblePlans(rights, product.ID, services) : [];
  const offers = byCatalogue.flatMap(({ catalogue, plans }) =>
    plans
      .filter(plan => plan.ProviderID === product.ProviderID)
      .map(plan => ({ plan, catalogueId: catalogue.ID, catalogueName: catalogue.Name })),
  );
  return { product, isOffered, offers, rights };
}

/** Why no credential can be requested for a product; undefined where one can. */
export function findAccessObstacle(product: StoredProduct): string | undefined {
  if (isDocumentationOnly(product)) return 'This product is documentation only: there is nothing to request.';
  if (!product.DCREnabled && keylessAuthTypes.has(product.AuthType))
    return 'No key can be requested for this product: its owner gives access in another way.';
  return undefined;
}

/** Page on which access to a product under a plan is requested; signed-out visitors sign in and come back to it. */
export const toCheckoutUrl = ({ Path }: StoredProduct, { plan, catalogueId }: PlanOffer): string =>
  `${checkoutPath}?${new URLSearchParams({ product: Path, plan: String(plan.ID), catalogue: String(catalogueId) })}`;

import { keylessAuthTypes } from '../apps/provision.ts';
import { partnersOf } from '../join-table-store.ts';
import type { StoredPlan } from '../plans/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { isDocumentationOnly, type StoredProduct } from '../products/schema.ts';
import { isPortalAdmin } from '../users/schema.ts';
import type { Visitor } from './page.ts';
import { createOfferStore } from './store.ts';

/** What a visitor may see: everything a page offers comes from here. */

type Services = Pick<PortalServices, 'portal' | 'records'>;

/** Ids of the catalogues of a visitor: public ones, and private ones for signed-in users of their audience. */
export async function listVisibleCatalogues(visitor: Visitor, { portal }: Services) {
  const all = await portal.catalogues.all();
  if (!visitor.user) return all.filter(it => it.VisibilityStatus === 'Public');
  if (isPortalAdmin(visitor.user.Role)) return all;
  const { OrganisationID } = visitor.user;
  const wholeOrganisation = await portal.teams.findDefault(OrganisationID);
  const teams = new Set([...visitor.teamIds, ...(wholeOrganisation ? [wholeOrganisation.ID] : [])]);
  const audiences = Map.groupBy(await portal.catalogues.audiences.all(), it => it.CatalogueID);
  return all.filter(({ ID, VisibilityStatus }) => {
    const audience = audiences.get(ID) ?? [];
    // A private catalogue without an audience is for all who are signed in.
    return VisibilityStatus === 'Public' || audience.length === 0 || audience.some(it => teams.has(it.TeamID));
  });
}

export const createOffer = ({ records }: Services) => createOfferStore(records);

/** A product by its path with the plans under which a visitor can request it; undefined for what is not visible. */
export async function findVisibleProduct(path: string, visitor: Visitor, services: Services) {
  const product = await services.portal.products.rows.find({ path });
  if (!product || product.Hidden) return undefined;
  const offers = await listOffers(product, visitor, services);
  return offers && { product, offers };
}

/** A plan in a catalogue that has the product too. */
export interface PlanOffer {
  readonly plan: StoredPlan;
  readonly catalogueId: number;
  readonly catalogueName: string;
}

/** Plans by the visible catalogues of a product; undefined where it is in none. */
async function listOffers(
  product: StoredProduct,
  visitor: Visitor,
  services: Services,
): Promise<PlanOffer[] | undefined> {
  const { catalogues, plans } = services.portal;
  const inCatalogues = partnersOf(await catalogues.products.leftOf([product.ID]), product.ID);
  const visible = (await listVisibleCatalogues(visitor, services)).filter(({ ID }) => inCatalogues.includes(ID));
  if (visible.length === 0) return undefined;
  const planIds = await catalogues.plans.rightOf(visible.map(({ ID }) => ID));
  const found = await plans.byIds([...planIds.values()].flat());
  return visible.flatMap(({ ID, Name }) =>
    partnersOf(planIds, ID).flatMap(planId => {
      const plan = found.get(planId);
      const fits = plan && !plan.Hidden && plan.ProviderID === product.ProviderID;
      return fits ? [{ plan, catalogueId: ID, catalogueName: Name }] : [];
    }),
  );
}

/** Why no credential can be requested for a product; undefined where one can. */
export function findAccessObstacle(product: StoredProduct): string | undefined {
  if (isDocumentationOnly(product)) return 'This product is documentation only: there is nothing to request.';
  if (product.DCREnabled) return 'Access needs an OAuth client, which the owner of this portal registers.';
  if (keylessAuthTypes.has(product.AuthType))
    return 'No key can be requested for this product: its owner gives access in another way.';
  return undefined;
}

export const displayName = ({ DisplayName, Name }: { DisplayName: string; Name: string }): string =>
  DisplayName || Name;

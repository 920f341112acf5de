import type { StoredAccessRequest } from '../access-requests/schema.ts';
import type { StoredApp } from '../apps/schema.ts';
import type { StoredCatalogue } from '../catalogues/schema.ts';
import { partnersOf } from '../join-table-store.ts';
import { hasPersonalApps } from '../organisations/schema.ts';
import type { StoredPlan } from '../plans/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import type { StoredProduct } from '../products/schema.ts';
import type { PortalRef } from '../shapes.ts';
import { isPortalAdmin } from '../users/schema.ts';
import { type AppOwner, anonymousVisitor, canSeeApp, canSeeCatalogue, type Visitor } from './rules.ts';

/**
 * Visibility of the live portal: the only place that reads what a visitor may see. What is not visible is absent from
 * lists and undefined by id, so that callers answer 404.
 */
type Services = Pick<PortalServices, 'portal'>;

/** The visitor behind a session; without one, and for a deactivated or deleted user, an anonymous one. */
export async function identifyVisitor(userId: number | undefined, { portal }: Services): Promise<Visitor> {
  const user = userId === undefined ? undefined : await portal.users.get(userId);
  if (!user?.Active) return anonymousVisitor;
  if (isPortalAdmin(user.Role)) return { kind: 'administrator', userId: user.ID };
  const memberOf = await portal.teams.byIds(partnersOf(await portal.teams.members.leftOf([user.ID]), user.ID));
  const teams = [...memberOf.values()].filter(team => team.OrganisationID === user.OrganisationID);
  const whole = await portal.teams.findDefault(user.OrganisationID);
  const toIds = (list: readonly { ID: number }[]) => new Set(list.map(({ ID }) => ID));
  return {
    kind: 'developer',
    userId: user.ID,
    organisationId: user.OrganisationID,
    isOrganisationAdmin: user.Role === 'consumer-admin',
    audienceTeamIds: toIds(whole ? [...teams, whole] : teams),
    sharedTeamIds: toIds(teams.filter(team => !team.Default)),
  };
}

/** Catalogues that a visitor may see, oldest first. */
export async function findVisibleCatalogues(visitor: Visitor, { portal }: Services): Promise<StoredCatalogue[]> {
  const teamIds = await portal.catalogues.audiences.readTeamIds();
  return (await portal.catalogues.all()).filter(it => canSeeCatalogue(visitor, it, teamIds.get(it.ID) ?? []));
}

/** A visible product. One that is not offered stays visible to those with a credential for it. */
export interface VisibleProduct {
  readonly product: StoredProduct;
  readonly isOffered: boolean;
}

/** Products of the visible catalogues, oldest first, and those that the visitor's apps have access to. */
export async function findVisibleProducts(visitor: Visitor, services: Services): Promise<VisibleProduct[]> {
  const { portal } = services;
  const offered = await findOffered(visitor, 'products', services);
  if (visitor.kind === 'administrator')
    return (await portal.products.all()).map(product => toVisible(product, offered));
  const held = await findHeldProductIds(visitor, services);
  const products = await portal.products.byIds([...new Set([...offered, ...held])]);
  return [...products.values()]
    .map(product => toVisible(product, offered))
    .filter(({ product, isOffered }) => isOffered || held.has(product.ID));
}

const toVisible = (product: StoredProduct, offered: ReadonlySet<number>): VisibleProduct => ({
  product,
  isOffered: offered.has(product.ID) && !product.Hidden,
});

/** A product by reference; undefined where the visitor may not see it. */
export async function findVisibleProduct(
  visitor: Visitor,
  ref: PortalRef | number,
  services: Services,
): Promise<VisibleProduct | undefined> {
  const { portal } = services;
  const product = await portal.products.get(ref);
  if (!product) return undefined;
  const visible = new Set((await findVisibleCatalogues(visitor, services)).map(({ ID }) => ID));
  const catalogueIds = partnersOf(await portal.catalogues.products.leftOf([product.ID]), product.ID);
  const isOffered = !product.Hidden && catalogueIds.some(id => visible.has(id));
  if (isOffered || visitor.kind === 'administrator') return { product, isOffered };
  return (await findHeldProductIds(visitor, services)).has(product.ID) ? { product, isOffered } : undefined;
}

/** Plans that a visitor may request for a product: those of the visible catalogues that contain it. */
export async function findVisiblePlans(
  visitor: Visitor,
  productId: number,
  services: Services,
): Promise<{ catalogue: StoredCatalogue; plans: StoredPlan[] }[]> {
  const { portal } = services;
  const holding = new Set(partnersOf(await portal.catalogues.products.leftOf([productId]), productId));
  const catalogues = (await findVisibleCatalogues(visitor, services)).filter(({ ID }) => holding.has(ID));
  const planIds = await portal.catalogues.plans.rightOf(catalogues.map(({ ID }) => ID));
  const plans = await portal.plans.byIds([...planIds.values()].flat());
  return catalogues.map(catalogue => ({
    catalogue,
    plans: partnersOf(planIds, catalogue.ID)
      .flatMap(id => plans.get(id) ?? [])
      .filter(plan => !plan.Hidden),
  }));
}

/** Ids of the products or plans in visible catalogues. */
export async function findOffered(
  visitor: Visitor,
  kind: 'products' | 'plans',
  services: Services,
): Promise<Set<number>> {
  const catalogues = await findVisibleCatalogues(visitor, services);
  const partners = await services.portal.catalogues[kind].rightOf(catalogues.map(({ ID }) => ID));
  return new Set([...partners.values()].flat());
}

/** Ids of the products that approved requests of the visitor's apps name. */
async function findHeldProductIds(visitor: Visitor, services: Services): Promise<Set<number>> {
  if (visitor.kind === 'anonymous') return new Set();
  const requests = await findVisibleRequests(visitor, services);
  return new Set(requests.filter(it => it.Status === 'approved').flatMap(it => it.ProductIDs));
}

/** Apps that a visitor may see, oldest first. */
export async function findVisibleApps(visitor: Visitor, services: Services): Promise<StoredApp[]> {
  const { portal } = services;
  if (visitor.kind === 'anonymous') return [];
  if (visitor.kind === 'administrator') return portal.apps.all();
  if (hasPersonalApps(visitor.organisationId)) return portal.apps.ofUser(visitor.userId);
  const apps = await portal.apps.ofOrganisation(visitor.organisationId);
  const owners = await loadOwners(
    apps.map(({ UserID }) => UserID),
    services,
  );
  return apps.filter(app => canSeeApp(visitor, app, owners.get(app.UserID) ?? strangerOwner));
}

export async function findVisibleApp(visitor: Visitor, id: number, services: Services): Promise<StoredApp | undefined> {
  if (visitor.kind === 'anonymous') return undefined;
  const app = await services.portal.apps.get(id);
  return app && canSeeApp(visitor, app, await loadAppOwner(app, services)) ? app : undefined;
}

/** Requests of visible apps, oldest first. */
export async function findVisibleRequests(visitor: Visitor, services: Services): Promise<StoredAccessRequest[]> {
  const { accessRequests } = services.portal;
  if (visitor.kind === 'administrator') return accessRequests.listLive({});
  return accessRequests.listOfApps((await findVisibleApps(visitor, services)).map(({ ID }) => ID));
}

/** Owner of an app whose user is deleted: no organisation, no teams. */
const strangerOwner: AppOwner = { organisationId: -1, sharedTeamIds: [] };

/** The owner of an app, for decisions about it. */
export const loadAppOwner = async ({ UserID }: Pick<StoredApp, 'UserID'>, services: Services): Promise<AppOwner> =>
  (await loadOwners([UserID], services)).get(UserID) ?? strangerOwner;

async function loadOwners(userIds: readonly number[], { portal }: Services): Promise<Map<number, AppOwner>> {
  const users = await portal.users.byIds(userIds);
  const teamIds = await portal.teams.members.leftOf([...users.keys()]);
  const teams = await portal.teams.byIds([...teamIds.values()].flat());
  const isShared = (id: number) => teams.get(id)?.Default === false;
  return new Map(
    [...users.values()].map(({ ID, OrganisationID }) => [
      ID,
      { organisationId: OrganisationID, sharedTeamIds: partnersOf(teamIds, ID).filter(isShared) },
    ]),
  );
}

import { createInvalidProblem, type ValidationError } from '#operations/validation-error.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import { partnersOf } from '../join-table-store.ts';
import { needsRedirect, parseRedirectUris, splitScopes } from '../oauth-clients/metadata.ts';
import type { StoredClientType } from '../oauth-providers/schema.ts';
import type { StoredPlan } from '../plans/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import type { StoredProduct } from '../products/schema.ts';
import type { Provision, StoredApp } from './schema.ts';

type Services = Pick<PortalServices, 'portal'>;
type ClientChoice = Required<Pick<StoredAccessRequest, 'DCRTemplateID' | 'RedirectURIs'>>;

/** Client types that all of these products have. */
export async function listSharedClientTypes(
  products: readonly StoredProduct[],
  { portal }: Services,
): Promise<StoredClientType[]> {
  const ids = products.map(({ ID }) => ID);
  const attached = await portal.clientTypes.products.leftOf(ids);
  const [first = [], ...others] = ids.map(id => partnersOf(attached, id));
  const shared = first.filter(id => others.every(it => it.includes(id)));
  return [...(await portal.clientTypes.byIds(shared)).values()];
}

/** A client type of the products; the only one where none is named. */
export async function checkClientType(
  id: number | undefined,
  products: readonly StoredProduct[],
  services: Services,
): Promise<StoredClientType> {
  const types = await listSharedClientTypes(products, services);
  const chosen = id === undefined && types.length === 1 ? types[0] : types.find(({ ID }) => ID === id);
  if (chosen) return chosen;
  const names = types.map(({ ID, Name }) => `${ID} (${Name})`).join(', ');
  const reason = types.length === 0 ? 'the products have no client type in common' : `must be one of ${names}`;
  throw createInvalidProblem([{ path: 'DCRTemplateID', message: reason }]);
}

/** Client type and redirect addresses of a request for an OAuth client; nothing for a request of a key. */
export async function resolveClientChoice(
  app: StoredApp,
  body: Pick<Provision, 'DCRTemplateID' | 'RedirectURLs'>,
  { plan, products }: { readonly plan: StoredPlan; readonly products: readonly StoredProduct[] },
  services: Services,
): Promise<ClientChoice | undefined> {
  if (!products[0]!.DCREnabled) {
    if (body.DCRTemplateID === undefined) return undefined;
    throw createInvalidProblem([{ path: 'DCRTemplateID', message: 'the products have keys, and no OAuth clients' }]);
  }
  const type = await checkClientType(body.DCRTemplateID, products, services);
  const { uris, fault } = parseRedirectUris(body.RedirectURLs || app.RedirectURLs);
  const faults: ValidationError[] = [];
  if (splitScopes(plan.JWTScope).length === 0)
    faults.push({ path: 'PlanID', message: 'the plan has no JWTScope, which selects its limits' });
  for (const [place, { Scopes }] of products.entries())
    if (splitScopes(Scopes).length === 0)
      faults.push({ path: `ProductIDs[${place}]`, message: 'the product has no scope, which selects its access' });
  if (fault) faults.push({ path: 'RedirectURLs', message: fault });
  else if (needsRedirect(type) && uris.length === 0)
    faults.push({ path: 'RedirectURLs', message: `is required for the client type ${type.Name}` });
  if (faults.length > 0) throw createInvalidProblem(faults);
  return { DCRTemplateID: type.ID, RedirectURIs: needsRedirect(type) ? uris : [] };
}

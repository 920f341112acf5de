import type { KeyRequest } from '../credentials/issue.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import type { StoredProduct } from '../products/schema.ts';
import { callProvider } from '../providers/provider-client.ts';
import type { DiscoveredProvider } from './identity-provider.ts';
import { splitScopes } from './metadata.ts';
import type { StoredOauthClient } from './schema.ts';

type Services = Pick<PortalServices, 'portal'>;
/** Rights of one credential of a client. */
export type ClientRights = Pick<KeyRequest, 'PlanID' | 'ProductIDs' | 'ProviderID'> & {
  readonly RedirectURIs?: readonly string[];
};

const requireScopes = (text: string, what: string): string[] => {
  const scopes = splitScopes(text);
  if (scopes.length === 0) throw problem.unknown({ detail: { what: `Scope of ${what}` } });
  return scopes;
};

/** Policies by the scopes of a plan and of each product: tokens with both get the access and its limits. */
async function loadRightScopes({ PlanID, ProductIDs }: ClientRights, { portal }: Services) {
  const plan = present(await portal.plans.get(PlanID), 'Plan', 'unknown');
  const products = await portal.products.byIds(ProductIDs);
  const mapTo = (scopes: readonly string[], policy: string) => scopes.map(scope => [scope, policy] as const);
  const ofPlan = mapTo(requireScopes(plan.JWTScope, `the plan ${plan.Name}`), plan.ReferenceID);
  return ProductIDs.map(id => {
    const product = present(products.get(id), `Product ${id}`, 'unknown');
    const own = mapTo(requireScopes(product.Scopes, `the product ${product.Name}`), product.ReferenceID);
    return { product, scopes: Object.fromEntries([...own, ...ofPlan]) };
  });
}

const toNames = (rights: Awaited<ReturnType<typeof loadRightScopes>>) =>
  rights.flatMap(({ scopes }) => Object.keys(scopes));

/** Scopes of stored rights: those of a deleted product or plan are gone, and the client can be changed all the same. */
async function listLeftScopes({ PlanID, ProductIDs }: ClientRights, { portal }: Services): Promise<string[]> {
  const plan = await portal.plans.get(PlanID);
  const products = await portal.products.byIds(ProductIDs);
  return [plan?.JWTScope ?? '', ...[...products.values()].map(({ Scopes }) => Scopes)].flatMap(splitScopes);
}

/** Access request or custom credential whose rights are not those stored: it is approved now, changes or ends. */
export interface ChangedRights {
  readonly user: string;
  /** Undefined where its credential ends. */
  readonly rights: ClientRights | undefined;
}

export const toRequestUser = (requestId: number): string => `request ${requestId}`;
export const toCustomUser = (credentialId: number): string => `custom credential ${credentialId}`;

/** Rights of all that uses a client, by user. */
async function listUsers({ ID, AppID }: StoredOauthClient, { portal }: Services): Promise<Map<string, ClientRights>> {
  if (AppID === 0) return new Map();
  const requests = await portal.accessRequests.listLive({ app_id: AppID });
  const credentials = await portal.credentials.ofRequests(requests.map(it => it.ID));
  const used = new Set(credentials.filter(it => it.OauthClientID === ID).map(it => it.AccessRequestID));
  const custom = (await portal.customCredentials.ofApp(AppID)).filter(it => it.OauthClientID === ID);
  return new Map<string, ClientRights>([
    ...requests.filter(it => used.has(it.ID)).map(it => [toRequestUser(it.ID), it] as const),
    ...custom.map(it => [toCustomUser(it.ID), { ...it, ProviderID: it.PlaneID }] as const),
  ]);
}

export interface ClientNeeds {
  /** Sorted. */
  readonly scopes: readonly string[];
  readonly redirectUris: readonly string[];
}

/** Scopes and addresses of all that uses a client; undefined where nothing does. */
export async function loadClientNeeds(
  client: StoredOauthClient,
  services: Services,
  changed?: ChangedRights,
): Promise<ClientNeeds | undefined> {
  const users = await listUsers(client, services);
  if (changed) users.delete(changed.user);
  const scopes = new Set<string>();
  for (const rights of users.values()) for (const name of await listLeftScopes(rights, services)) scopes.add(name);
  if (changed?.rights) {
    users.set(changed.user, changed.rights);
    for (const name of toNames(await loadRightScopes(changed.rights, services))) scopes.add(name);
  }
  if (users.size === 0) return undefined;
  const redirectUris = new Set([...users.values()].flatMap(({ RedirectURIs = [] }) => RedirectURIs));
  return { scopes: [...scopes].sort(), redirectUris: [...redirectUris] };
}

/** Lets the APIs of products accept tokens of the identity provider, with the policies of product and plan. */
export async function linkApis(
  rights: ClientRights,
  { issuer, jwks_uri: jwksUri }: DiscoveredProvider,
  services: Pick<PortalServices, 'portal' | 'controlPlane'>,
): Promise<void> {
  const provider = present(await services.portal.providers.get(rights.ProviderID), 'Provider', 'unknown');
  for (const { product, scopes } of await loadRightScopes(rights, services))
    for (const { APIID } of product.APIDetails)
      await callProvider(provider, services, plane => plane.addTokenIssuer(APIID, { issuer, jwksUri, scopes }));
}

/**
 * Removes the scopes of a product that is deleted from its APIs, while its policy exists. Scopes of plans go with the last
 * product of an API: while another one has it, a token without the scope of its plan would have access without limits.
 */
export async function unlinkApis(product: StoredProduct, services: Pick<PortalServices, 'portal' | 'controlPlane'>) {
  const { portal } = services;
  const provider = product.Scopes === '' ? undefined : await portal.providers.get(product.ProviderID);
  if (!provider) return;
  const others = (await portal.products.ofProvider(provider.ID)).filter(it => it.ID !== product.ID && it.Scopes !== '');
  const plans = (await portal.plans.ofProvider(provider.ID)).filter(({ JWTScope }) => JWTScope !== '');
  for (const { APIID } of product.APIDetails) {
    const isShared = others.some(({ APIDetails }) => APIDetails.some(it => it.APIID === APIID));
    const unused = [product.ReferenceID, ...(isShared ? [] : plans.map(({ ReferenceID }) => ReferenceID))];
    await callProvider(provider, services, plane => plane.removePolicyScopes(APIID, unused));
  }
}

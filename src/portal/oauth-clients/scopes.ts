import type { KeyRequest } from '../credentials/issue.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
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
  if (changed?.rights) users.set(changed.user, changed.rights);
  if (users.size === 0) return undefined;
  const scopes = new Set<string>();
  const redirectUris = new Set<string>();
  for (const rights of users.values()) {
    for (const name of toNames(await loadRightScopes(rights, services))) scopes.add(name);
    for (const uri of rights.RedirectURIs ?? []) redirectUris.add(uri);
  }
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

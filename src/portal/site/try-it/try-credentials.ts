import type { StoredAccessRequest } from '../../access-requests/schema.ts';
import type { StoredApp } from '../../apps/schema.ts';
import type { StoredCredential } from '../../credentials/schema.ts';
import type { StoredOauthClient } from '../../oauth-clients/schema.ts';
import type { StoredPlan } from '../../plans/schema.ts';
import type { StoredProduct } from '../../products/schema.ts';
import { findEditableApp, listEditableApps } from '../apps/own-apps.ts';
import type { SiteServices, SiteVisitor } from '../page.ts';
import { displayName, formatDay } from '../words.ts';
import { canFetchToken, canSignInForToken } from './try-token.ts';

/** Credential of the visitor that a call may use. */
export interface TryCredential {
  readonly id: number;
  /** App, plan and day of the credential. */
  readonly name: string;
  /** Empty for an OAuth client, whose token is fetched for the call. */
  readonly key: string;
  /** Undefined for a key. */
  readonly client: StoredOauthClient | undefined;
  /** The user gets its token by a sign-in at the identity provider. */
  readonly needsSignIn: boolean;
  readonly plan: StoredPlan | undefined;
  readonly request: StoredAccessRequest;
  readonly stored: StoredCredential;
  /** False for one of other products, which the gateway refuses. */
  readonly isForProduct: boolean;
}

/** Apps whose credentials are offered, newest first. */
const maxTryApps = 100;

/** Owners and administrators of the organisation use credentials, as they reveal them; administrators only their own. */
const isOwnApp = ({ UserID }: StoredApp, { rights }: SiteVisitor) =>
  rights.kind === 'developer' || (rights.kind === 'administrator' && UserID === rights.userId);

/** Expired keys, and OAuth clients for which the portal cannot get a token, are not offered. */
const isUsable = ({ Expires, Client }: StoredCredential, nowMs: number) =>
  (Expires === 0 || Expires > nowMs) && (!Client || canFetchToken(Client) || canSignInForToken(Client));

const toTryCredential = (
  credential: StoredCredential,
  request: StoredAccessRequest,
  app: StoredApp,
  plan: StoredPlan | undefined,
  product: StoredProduct,
): TryCredential => ({
  id: credential.ID,
  name: `${app.Name} · ${plan ? displayName(plan) : request.Names.plan} · ${formatDay(credential.CreatedAt)}`,
  key: credential.Credential,
  client: credential.Client,
  needsSignIn: credential.Client !== undefined && canSignInForToken(credential.Client),
  plan,
  request,
  stored: credential,
  isForProduct: request.ProductIDs.includes(product.ID),
});

/** Credentials of the visitor at the provider of a product, those of the product first. */
export async function listTryCredentials(
  product: StoredProduct,
  visitor: SiteVisitor,
  services: SiteServices,
): Promise<TryCredential[]> {
  if (!visitor.user) return [];
  const { portal, clock } = services;
  const apps = (await listEditableApps(visitor, services)).slice(-maxTryApps).toReversed();
  const byId = new Map(apps.map(app => [app.ID, app]));
  const requests = (await portal.accessRequests.listOfApps([...byId.keys()])).filter(
    it => it.Status === 'approved' && it.ProviderID === product.ProviderID,
  );
  const plans = await portal.plans.byIds(requests.map(({ PlanID }) => PlanID));
  const requestOf = new Map(requests.map(it => [it.ID, it]));
  return (await portal.credentials.ofRequests([...requestOf.keys()]))
    .filter(it => isUsable(it, clock.now()))
    .map(it => {
      const request = requestOf.get(it.AccessRequestID)!;
      return toTryCredential(it, request, byId.get(request.AppID)!, plans.get(request.PlanID), product);
    })
    .sort((a, b) => Number(b.isForProduct) - Number(a.isForProduct));
}

/**
 * A credential by the number in a form; undefined for one that is not the visitor's. The key of another provider is
 * none: it must not be sent to the gateway of this one.
 */
export async function findTryCredential(
  id: string,
  product: StoredProduct,
  visitor: SiteVisitor,
  services: SiteServices,
): Promise<TryCredential | undefined> {
  const { portal, clock } = services;
  const credential = /^\d{1,15}$/.test(id) ? await portal.credentials.get(Number(id)) : undefined;
  const request = credential && (await portal.accessRequests.get(credential.AccessRequestID));
  const app = request && (await findEditableApp(String(request.AppID), visitor, services));
  if (!app || !isOwnApp(app, visitor) || request.Status !== 'approved') return undefined;
  if (request.ProviderID !== product.ProviderID || !isUsable(credential, clock.now())) return undefined;
  return toTryCredential(credential, request, app, await portal.plans.get(request.PlanID), product);
}

import { createInvalidProblem } from '#operations/validation-error.ts';
import { type DecisionServices, lockVisiblePlan } from '../access-requests/decision.ts';
import { revokeAtProvider } from '../access-requests/removal.ts';
import { resolveClientChoice } from '../apps/client-choice.ts';
import { getAccessType, resolvePlanAndProducts } from '../apps/provision.ts';
import type { ProviderKey } from '../control-plane.ts';
import { issueProviderKey, type KeyRequest } from '../credentials/issue.ts';
import { toCustomUser } from '../oauth-clients/scopes.ts';
import { present } from '../problems.ts';
import { guardClient, issueGuardedClient } from '../provider-tasks/client-guard.ts';
import { guardNewKey, issueGuardedKey } from '../provider-tasks/guard.ts';
import type { CustomCredentialWrite, StoredCustomCredential } from './schema.ts';

/** Stores a key and secret of another system. */
export function storePair(
  AppID: number,
  body: CustomCredentialWrite,
  { portal, records, clock }: DecisionServices,
): Promise<StoredCustomCredential> {
  const now = clock.now();
  return records.write(async () => {
    present(await portal.apps.change(AppID, it => it), 'App', 'unknown');
    return portal.customCredentials.insert({
      AppID,
      Alias: body.Alias,
      Type: body.Type,
      PlanID: 0,
      ProductIDs: [],
      PlaneID: 0,
      AuthenticationMethod: body.AuthenticationMethod ?? 'custom',
      AuthTokenType: '',
      KeyID: '',
      CredentialKey: body.CredentialKey ?? '',
      CredentialSecret: body.CredentialSecret ?? '',
      CreatedAt: now,
      UpdatedAt: now,
    });
  });
}

/**
 * Has the provider make the key, or import it, or the identity provider the OAuth client, then stores it. No lock is
 * held during the calls; a key or client whose app or plan was deleted meanwhile is removed.
 */
export async function issueManaged(
  AppID: number,
  body: CustomCredentialWrite,
  services: DecisionServices,
): Promise<StoredCustomCredential> {
  const { portal, clock } = services;
  const wanted = { PlanID: body.PlanID!, ProductIDs: body.ProductIDs! };
  const { plan, products } = await resolvePlanAndProducts(wanted, services);
  const AuthType = getAccessType(products[0]!);
  if (body.AuthenticationMethod !== undefined && body.AuthenticationMethod !== AuthType)
    throw createInvalidProblem([{ path: 'AuthenticationMethod', message: `is ${AuthType} for these products` }]);
  const request = {
    AppID,
    PlanID: plan.ID,
    ProductIDs: products.map(({ ID }) => ID),
    ProviderID: plan.ProviderID,
  };
  const store = async (issued: IssuedMembers): Promise<StoredCustomCredential> => {
    present(await portal.apps.change(AppID, it => it), 'App', 'unknown');
    await lockVisiblePlan(plan.ID, services);
    const now = clock.now();
    return portal.customCredentials.insert({
      AppID,
      Alias: body.Alias,
      Type: body.Type,
      PlanID: plan.ID,
      ProductIDs: request.ProductIDs,
      PlaneID: plan.ProviderID,
      AuthenticationMethod: AuthType,
      AuthTokenType: '',
      KeyID: '',
      CredentialKey: '',
      CredentialSecret: '',
      ...issued,
      CreatedAt: now,
      UpdatedAt: now,
    });
  };
  if (products[0]!.DCREnabled) return issueClient(request, body, { plan, products }, services, store);
  const unused = (['ProviderID', 'ClientTypeID'] as const).filter(name => body[name]);
  if (unused.length > 0)
    throw createInvalidProblem(unused.map(path => ({ path, message: 'the products have keys, and no OAuth clients' })));
  const storeKey = ({ key_id: KeyID }: ProviderKey) =>
    store({ KeyID, AuthTokenType: body.AuthTokenType ?? 'AUTH_TOKEN_STANDARD' });
  if (body.KeyID) return importKey(request, body.KeyID, services, storeKey);
  return issueGuardedKey(await guardNewKey(request, services), request, services, storeKey);
}

type IssuedMembers = Partial<
  Pick<
    StoredCustomCredential,
    'AuthTokenType' | 'KeyID' | 'OauthClientID' | 'OauthProviderID' | 'ClientTypeID' | 'RedirectURIs'
  >
>;

/** Registers an OAuth client that the credential has to itself. */
async function issueClient(
  request: KeyRequest,
  body: CustomCredentialWrite,
  chosen: Parameters<typeof resolveClientChoice>[2],
  services: DecisionServices,
  store: (issued: IssuedMembers) => Promise<StoredCustomCredential>,
): Promise<StoredCustomCredential> {
  const { portal, records } = services;
  const app = present(await portal.apps.get(request.AppID), 'App', 'unknown');
  if (body.KeyID || body.AuthTokenType)
    throw createInvalidProblem([{ path: 'AuthTokenType', message: 'is of keys; the products have OAuth clients' }]);
  const wanted = { DCRTemplateID: body.ClientTypeID || undefined, RedirectURLs: undefined };
  const choice = await resolveClientChoice(app, wanted, chosen, services);
  const { DCRTemplateID: clientTypeId, RedirectURIs } = choice!;
  const type = present(await portal.clientTypes.get(clientTypeId), 'Client type', 'unknown');
  if (body.ProviderID && body.ProviderID !== type.ProviderID)
    throw createInvalidProblem([{ path: 'ProviderID', message: `is ${type.ProviderID} for this client type` }]);
  const wish = { AppID: app.ID, ProviderID: request.ProviderID, clientTypeId, isShared: false, requestId: 0 };
  const guard = await records.write(() => guardClient(wish, services));
  const changed = { user: toCustomUser(0), rights: { ...request, RedirectURIs } };
  const ids = { OauthProviderID: type.ProviderID, ClientTypeID: type.ID, RedirectURIs };
  return issueGuardedClient(guard, changed, services, OauthClientID => store({ ...ids, OauthClientID }));
}

/** A key of a chosen name has no guard: another key of this name, which the provider has already, must stay. */
async function importKey(
  request: KeyRequest,
  name: string,
  services: DecisionServices,
  store: (key: ProviderKey) => Promise<StoredCustomCredential>,
): Promise<StoredCustomCredential> {
  const key = await issueProviderKey(request, services, name);
  try {
    return await services.records.write(() => store(key));
  } catch (error) {
    await revokeAtProvider(key.key_id, request.ProviderID, services);
    throw error;
  }
}

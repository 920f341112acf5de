import { createInvalidProblem } from '#operations/validation-error.ts';
import { type DecisionServices, lockVisiblePlan } from '../access-requests/decision.ts';
import { revokeAtProvider } from '../access-requests/removal.ts';
import { resolvePlanAndProducts } from '../apps/provision.ts';
import { issueProviderKey } from '../credentials/issue.ts';
import { present } from '../problems.ts';
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
 * Has the provider make the key, or import it, then stores it. No lock is held during the provider call; a key whose
 * app or plan was deleted meanwhile is revoked.
 */
export async function issueManaged(
  AppID: number,
  body: CustomCredentialWrite,
  services: DecisionServices,
): Promise<StoredCustomCredential> {
  const { portal, records, clock } = services;
  const wanted = { PlanID: body.PlanID!, ProductIDs: body.ProductIDs! };
  const { plan, products } = await resolvePlanAndProducts(wanted, services);
  const { AuthType } = products[0]!;
  if (body.AuthenticationMethod !== undefined && body.AuthenticationMethod !== AuthType)
    throw createInvalidProblem([{ path: 'AuthenticationMethod', message: `is ${AuthType} for these products` }]);
  const request = {
    AppID,
    PlanID: plan.ID,
    ProductIDs: products.map(({ ID }) => ID),
    ProviderID: plan.ProviderID,
  };
  const key = await issueProviderKey(request, services, body.KeyID || undefined);
  try {
    return await records.write(async () => {
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
        AuthTokenType: body.AuthTokenType ?? 'AUTH_TOKEN_STANDARD',
        KeyID: key.key_id,
        CredentialKey: '',
        CredentialSecret: '',
        CreatedAt: now,
        UpdatedAt: now,
      });
    });
  } catch (error) {
    await revokeAtProvider(key.key_id, plan.ProviderID, services);
    throw error;
  }
}

import type { Key } from '#access/keys/schema.ts';
import { toUnixSeconds } from '#base/clock.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import { loadAttributeMetadata } from '../attributes/key-metadata.ts';
import { loadBinding } from '../certificates/key-bindings.ts';
import type { ProviderKey } from '../control-plane.ts';
import { partnersOf } from '../join-table-store.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present } from '../problems.ts';
import { callProvider } from '../providers/provider-client.ts';
import type { StoredCredential } from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'controlPlane' | 'clock'>;

/** Origin of a key: an access request, or a custom credential. */
export type KeyRequest = Pick<StoredAccessRequest, 'AppID' | 'PlanID' | 'ProductIDs' | 'ProviderID'> &
  /** Certificates that the key is bound to. */
  Pick<StoredCredential, 'Certificates'> & {
    /** Credential whose key the new one replaces: the quota that it has used counts on, and its end stays. */
    readonly Replaced?: Pick<StoredCredential, 'Credential' | 'Expires'>;
  };

/** Key of an access request: access policies of its products and limits policy of its plan. */
export async function buildProviderKey(
  request: KeyRequest,
  { portal, clock }: Pick<Services, 'portal' | 'clock'>,
): Promise<Key> {
  const app = present(await portal.apps.get(request.AppID), 'App', 'unknown');
  const plan = present(await portal.plans.get(request.PlanID), 'Plan', 'unknown');
  const user = await portal.users.get(app.UserID);
  const products = await portal.products.byIds(request.ProductIDs);
  const policies = request.ProductIDs.map(id => present(products.get(id), `Product ${id}`, 'unknown').ReferenceID);
  const teams = partnersOf(await portal.teams.members.leftOf([app.UserID]), app.UserID);
  return {
    alias: app.Name,
    apply_policies: [...policies, plan.ReferenceID],
    expires: plan.KeyExpiresIn > 0 ? toUnixSeconds(clock.now()) + plan.KeyExpiresIn : 0,
    meta_data: {
      DeveloperID: String(app.UserID),
      ApplicationID: String(app.ID),
      OrganisationID: String(user?.OrganisationID ?? 0),
      TeamIDs: teams.join(','),
      ...(user && (await loadAttributeMetadata(user, teams, { portal }))),
      ...plan.MetaData,
    },
    tags: [`portal-app-${app.ID}`, `portal-org-${user?.OrganisationID ?? 0}`],
  };
}

/** Has the provider make the key of a request; with `name`, import the key of this name. */
export async function issueProviderKey(request: KeyRequest, services: Services, name?: string): Promise<ProviderKey> {
  const provider = present(await services.portal.providers.get(request.ProviderID), 'Provider', 'unknown');
  const bind = await loadBinding(request, services);
  const built = await buildProviderKey(request, services);
  const options = { name, replaced: request.Replaced?.Credential };
  return callProvider(provider, services, async plane => {
    const key = await plane.createKey(bind ? bind(built) : built, options);
    const end = toUnixSeconds(request.Replaced?.Expires ?? 0);
    if (end === 0) return key;
    await plane.expireKey(key.key_id, end);
    return { ...key, expires: key.expires > 0 ? Math.min(key.expires, end) : end };
  });
}

export const toCredentialSecrets = ({ key_id, key_hash, expires }: ProviderKey) => ({
  Credential: key_id,
  CredentialHash: key_hash,
  Expires: Math.max(0, expires) * 1000,
});

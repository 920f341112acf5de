import type { CertificateStore } from '#access/certificates/store.ts';
import type { KeyStore } from '#access/keys/store.ts';
import type { OauthClientStore } from '#access/oauth/store.ts';
import type { PolicyStore } from '#access/policies/store.ts';
import type { ApiStore } from '#apis/api/store.ts';
import type { AssetStore } from '#apis/assets/store.ts';
import type { HookStore } from '#events/hooks/store.ts';
import type { GroupStore } from '#people/groups/store.ts';
import type { OrganisationStore } from '#people/organisations/store.ts';
import type { IdentityProfileStore } from '#people/single-sign-on/profiles/store.ts';
import type { UserStore } from '#people/users/store.ts';
import type { PortalStores } from '#portal/portal-stores.ts';

export interface ContentServices {
  apis: ApiStore;
  policies: PolicyStore;
  keys: KeyStore;
  certificates: CertificateStore;
  assets: AssetStore;
  hooks: HookStore;
  oauthClients: OauthClientStore;
  users: UserStore;
  groups: GroupStore;
  identityProfiles: IdentityProfileStore;
  organisations: OrganisationStore;
  portal: PortalStores;
}

/** First page, for its total. */
const onePage = { page: 1, size: 1 };

/**
 * Objects of an installation beyond those of its first start (an organisation, its administrator, and the same
 * administrator in the portal), as words: `2 APIs`.
 */
export async function listContents(services: ContentServices, orgId: string): Promise<string[]> {
  const { apis, policies, keys, certificates, assets, hooks, oauthClients, portal } = services;
  const counts: readonly (readonly [number, string, string])[] = [
    [await apis.count(orgId), 'API', 'APIs'],
    [await policies.count(orgId), 'policy', 'policies'],
    [await keys.count(orgId), 'key', 'keys'],
    [await certificates.count(orgId), 'certificate', 'certificates'],
    [await assets.count(orgId), 'template', 'templates'],
    [await hooks.count(orgId), 'webhook', 'webhooks'],
    [await oauthClients.count(orgId), 'OAuth client', 'OAuth clients'],
    [(await services.users.count(orgId)) - 1, 'more user', 'more users'],
    [(await services.groups.all(orgId)).length, 'user group', 'user groups'],
    [(await services.identityProfiles.page(orgId, onePage)).total, 'identity profile', 'identity profiles'],
    [(await services.organisations.page(onePage)).total - 1, 'more organisation', 'more organisations'],
    [await portal.products.count(), 'product of the portal', 'products of the portal'],
    [await portal.plans.count(), 'plan of the portal', 'plans of the portal'],
    [await portal.apps.count(), 'app of the portal', 'apps of the portal'],
    [(await portal.users.count()) - 1, 'more user of the portal', 'more users of the portal'],
  ];
  return counts.flatMap(([count, one, many]) => (count > 0 ? [`${count} ${count === 1 ? one : many}`] : []));
}

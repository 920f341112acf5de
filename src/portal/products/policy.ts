import type { AccessRights } from '#access/keys/schema.ts';
import { type Policy, policyIdOf, rightsOf } from '#access/policies/schema.ts';
import { defaultCredentialHeader } from '#definition/credential-header.ts';
import type { ApiFacts } from '../control-plane.ts';
import type { ApiDetail, StoredProduct } from './schema.ts';

/** Mapping between a product and the access policy of its provider. */

const productParts = { acl: true, complexity: false, per_api: false, quota: false, rate_limit: false };

/** True for a policy that grants access and sets no limits. */
export const isProductPolicy = ({ partitions }: Policy): boolean =>
  partitions?.acl === true && !partitions.quota && !partitions.rate_limit && !partitions.per_api;

export const buildRights = (details: readonly ApiDetail[], existing: AccessRights = {}): AccessRights =>
  Object.fromEntries(
    details.map(({ APIID, Name }) => [
      APIID,
      existing[APIID] ?? { api_id: APIID, api_name: Name, versions: ['Default'], allowed_urls: [] },
    ]),
  );

/** Limits come from the plan: the access policy sets none. */
export const createProductPolicy = (
  product: Pick<StoredProduct, 'Name' | 'APIDetails'>,
  tags: readonly string[],
): Policy => ({
  name: product.Name,
  state: 'active',
  partitions: productParts,
  access_rights: buildRights(product.APIDetails),
  rate: -1,
  per: -1,
  quota_max: -1,
  quota_renewal_rate: -1,
  throttle_interval: -1,
  throttle_retry_limit: -1,
  tags: [...tags],
});

/** Updates the policy's name and APIs; everything else in the policy is kept. */
export const updateProductPolicy =
  (product: Pick<StoredProduct, 'Name' | 'APIDetails'>) =>
  (policy: Policy): Policy => {
    const existing = rightsOf(policy);
    const empty = product.APIDetails.length === 0;
    const isRestored = policy.state === 'draft' && Object.keys(existing).length === 0;
    const { access_rights_array: _list, active: _active, is_inactive: _inactive, ...rest } = policy;
    return {
      ...rest,
      name: product.Name,
      access_rights: buildRights(product.APIDetails, existing),
      ...(empty ? { state: 'draft' as const } : isRestored ? { state: 'active' as const } : {}),
    };
  };

/** API details of a policy; texts written in the portal are kept. */
export function buildApiDetails(
  apiIds: readonly string[],
  facts: ReadonlyMap<string, ApiFacts>,
  existing: readonly Pick<ApiDetail, 'APIID' | 'Description' | 'OASUrl' | 'ChosenName'>[] = [],
): ApiDetail[] {
  return apiIds.map(APIID => {
    const api = facts.get(APIID);
    const before = existing.find(detail => detail.APIID === APIID);
    return {
      APIID,
      Name: api?.name ?? APIID,
      Description: before?.Description ?? '',
      APIType: api?.kind ?? '',
      ListenPath: api?.listenPath ?? '',
      TargetURL: api?.targetUrl ?? '',
      OASUrl: before?.OASUrl ?? '',
      ...(before?.ChosenName && { ChosenName: before.ChosenName }),
      Status: api?.active ?? false,
      ...(api && api.authHeader !== defaultCredentialHeader && { AuthHeader: api.authHeader }),
      ...(api?.certificateUse && { CertificateUse: api.certificateUse }),
    };
  });
}

/** Product members from a stored policy. */
export const fromProductPolicy = (policy: Policy) => ({
  Name: policy.name ?? '',
  ReferenceID: policyIdOf(policy),
  AuthType: policy.auth_type ?? '',
  AuthTypes: policy.auth_types ?? [],
});

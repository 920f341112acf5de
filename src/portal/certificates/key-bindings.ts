import type { AccessRights, Key } from '#access/keys/schema.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import type { StoredCredential } from '../credentials/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { buildRights } from '../products/policy.ts';
import { findStoredReferences } from './provider-lists.ts';
import type { BoundCertificate } from './schema.ts';

/** Certificates that a credential keeps. */
export const listKept = ({ Certificates = [] }: Pick<StoredCredential, 'Certificates'>): readonly BoundCertificate[] =>
  Certificates.filter(({ State }) => State !== 'detaching');

/**
 * A key without certificates is inactive, since one without bindings is accepted with any certificate of the allow list.
 * It has rights of its own in place of policies, which would decide whether it is active.
 */
const toUnbound = (key: Key, access_rights: AccessRights): Key => ({
  ...key,
  mtls_static_certificate_bindings: [],
  apply_policies: [],
  access_rights,
  is_inactive: true,
});

/** Binds a key, with its policies, to certificates of the store of its provider. One without any is active again. */
const toBound = (key: Key, references: readonly string[]): Key => ({
  ...key,
  ...(!key.mtls_static_certificate_bindings?.length && { access_rights: {}, is_inactive: false }),
  mtls_static_certificate_bindings: [...references],
});

/** How keys of a credential, with their policies, are bound; undefined for one that has no certificates. */
export async function loadBinding(
  {
    ProviderID,
    ProductIDs,
    ...credential
  }: Pick<StoredAccessRequest, 'ProviderID' | 'ProductIDs'> & Pick<StoredCredential, 'Certificates'>,
  services: Pick<PortalServices, 'portal'>,
): Promise<((key: Key) => Key) | undefined> {
  if (!credential.Certificates) return undefined;
  const ids = listKept(credential).map(({ ID }) => ID);
  const references = await findStoredReferences(ProviderID, ids, services);
  if (references.length > 0) return key => toBound(key, references);
  const products = [...(await services.portal.products.byIds(ProductIDs)).values()];
  const rights = buildRights(products.flatMap(({ APIDetails }) => APIDetails));
  return key => toUnbound(key, rights);
}

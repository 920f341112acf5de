import { type ApiServices, changeApi } from '#apis/api/changes.ts';
import { toModel } from '#apis/api/rules.ts';
import type { StoredApi } from '#apis/api/schema.ts';
import type { ApiStore } from '#apis/api/store.ts';
import { type CertificateUse, listCertificateUses, removeCertificate } from '#definition/certificate-uses.ts';
import type { Actor } from '#operations/actor.ts';
import { type KeyServices, removeKey } from '../keys/issue.ts';
import { refuseHiddenGrants } from '../keys/lookup.ts';

export interface ApiWithCertificate {
  readonly api: StoredApi;
  readonly roles: readonly CertificateUse['role'][];
}

/** APIs of an organisation that name a certificate, oldest first. */
export async function findApisWithCertificate(
  apis: ApiStore,
  orgId: string,
  certificateId: string,
): Promise<ApiWithCertificate[]> {
  const mentioned = await apis.findMentioning(orgId, certificateId);
  return mentioned.flatMap(api => {
    const uses = listCertificateUses(toModel(api)).filter(({ ids }) => ids.includes(certificateId));
    return uses.length > 0 ? [{ api, roles: [...new Set(uses.map(({ role }) => role))] }] : [];
  });
}

export type DependencyServices = ApiServices & Omit<KeyServices, 'settings'>;

/**
 * Removes a certificate from every API that names it, and the keys that are bound to it: a key without its certificate
 * would be usable by any client that has it.
 */
export async function removeDependencies(services: DependencyServices, actor: Actor, certificateId: string) {
  const { records, apis, keys } = services;
  const { orgId } = actor;
  await records.write(async () => {
    await apis.lockForWrite();
    const bound = await keys.findBoundTo(orgId, certificateId);
    for (const { key } of bound) await refuseHiddenGrants(services, actor, key);
    for (const { api } of await findApisWithCertificate(apis, orgId, certificateId))
      await changeApi(services, { actor, orgId, ref: api.api_id }, before => withoutCertificate(before, certificateId));
    for (const stored of bound) await removeKey(services, stored);
  });
}

function withoutCertificate(api: StoredApi, certificateId: string): StoredApi {
  const format = api.kind === 'classic' ? 'classic' : 'oas';
  return { ...api, definition: removeCertificate<unknown>(format, api.definition, certificateId) } as StoredApi;
}

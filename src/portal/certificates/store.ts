import { type SqlBool, sql } from 'kysely';
import { createKeyedMutex } from '#base/keyed-mutex.ts';
import type { Query } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import { readDocuments, toBatches } from '../batch-store.ts';
import { createNumberedStore } from '../numbered-store.ts';
import type { StoredOrganisationCertificate, StoredPortalCertificate, StoredProviderCertificate } from './schema.ts';

/** Newest certificates that the list of all and the notices have. */
const maxListed = 50_000;

/** Client certificates of apps. */
export function createPortalCertificateStore(records: Records) {
  const certificates = createNumberedStore<'portal_certificates', StoredPortalCertificate>(
    records,
    'portal_certificates',
    it => ({ app_id: it.AppID, fingerprint: it.Fingerprint }),
  );
  return {
    get: (id: number) => certificates.get(id),
    byIds: certificates.byIds,
    /** Oldest first. */
    ofApp: (appId: number) => certificates.all({ app_id: appId }),
    /** Oldest first. */
    async ofApps(appIds: readonly number[]): Promise<StoredPortalCertificate[]> {
      const found: StoredPortalCertificate[] = [];
      for (const batch of toBatches(appIds)) {
        const filter = (query: Query) => query.where(sql<SqlBool>`app_id in (${sql.join(batch)})`);
        found.push(...(await certificates.rows.all({ filter, order: ['id'] })));
      }
      return found.sort((a, b) => a.ID - b.ID);
    },
    withFingerprint: (fingerprint: string) => certificates.all({ fingerprint }),
    insert: certificates.insert,
    change: certificates.change,
    remove: certificates.remove,
    /** All in batches, newest first. */
    readAll: () =>
      readDocuments<StoredPortalCertificate>(
        records,
        'portal_certificates',
        sql`from portal_certificates order by id desc limit ${maxListed}`,
      ),
  };
}

/** Certificates that administrators assigned to organisations. */
export function createOrganisationCertificateStore(records: Records) {
  const certificates = createNumberedStore<'portal_organisation_certificates', StoredOrganisationCertificate>(
    records,
    'portal_organisation_certificates',
    it => ({ organisation_id: it.OrganisationID, fingerprint: it.Fingerprint }),
  );
  return {
    get: (id: number) => certificates.get(id),
    /** Oldest first. */
    ofOrganisation: (organisationId: number) => certificates.all({ organisation_id: organisationId }),
    /** Inside a transaction: reads a certificate under a row lock. */
    lock: (id: number) => certificates.rows.lock({ id }),
    insert: certificates.insert,
    remove: certificates.remove,
    removeOfOrganisation: (organisationId: number) => certificates.rows.remove({ organisation_id: organisationId }),
  };
}

/** Certificates in stores of providers. */
export function createProviderCertificateStore(records: Records) {
  const certificates = createNumberedStore<'portal_provider_certificates', StoredProviderCertificate>(
    records,
    'portal_provider_certificates',
    it => ({ provider_id: it.ProviderID, fingerprint: it.Fingerprint }),
  );
  const runExclusive = createKeyedMutex();
  return {
    /** Mutex by provider and certificate, in this process; other processes converge by reading the records again. */
    runExclusive: <T>(providerId: number, fingerprint: string, work: () => Promise<T>) =>
      runExclusive(`${providerId} ${fingerprint}`, work),
    find: (providerId: number, fingerprint: string) => certificates.rows.find({ provider_id: providerId, fingerprint }),
    ofProvider: (providerId: number) => certificates.all({ provider_id: providerId }),
    insert: certificates.insert,
    change: (id: number, change: (it: StoredProviderCertificate) => StoredProviderCertificate) =>
      certificates.change(id, change),
    remove: certificates.remove,
  };
}

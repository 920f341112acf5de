import type { StoredPolicy } from '#access/policies/store.ts';
import { type AccessStore, createAccessStore } from '#access/reader.ts';
import { createNotConnectedProblem } from '#storage/database-errors.ts';
import type { Reader } from '#storage/reader.ts';
import type { ConfigBackup } from './config-backup.ts';

export interface ReaderWithBackup {
  readonly reader: Reader;
  readonly access: AccessStore;
  /** Reads from the database from now on. */
  switchToDatabase(): void;
}

/**
 * Reads from the config backup until `switchToDatabase()`: the database may have to be migrated first. The backup
 * holds policies, certificates and organisation limits; any other lookup rejects with `database.unavailable`.
 */
export function createReaderWithBackup(reader: Reader, backup: ConfigBackup | undefined): ReaderWithBackup {
  if (!backup) return { reader, access: createAccessStore(reader), switchToDatabase: () => undefined };
  let backupTables: ReturnType<typeof buildTables> | undefined = buildTables(backup);
  const guardedReader: Reader = {
    rows: (sql, values) => (backupTables ? Promise.reject(createNotConnectedProblem()) : reader.rows(sql, values)),
    close: () => reader.close(),
  };
  const store = createAccessStore(guardedReader);
  return {
    reader: guardedReader,
    access: {
      ...store,
      keys: digests => backupTables?.keys(digests) ?? store.keys(digests),
      policies: (orgId, ids) => backupTables?.policies(orgId, ids) ?? store.policies(orgId, ids),
      certificates: ids => backupTables?.certificates(ids) ?? store.certificates(ids),
    },
    switchToDatabase() {
      backupTables = undefined;
    },
  };
}

function buildTables({ organisations, policies, certificates }: ConfigBackup) {
  const limits = new Map(organisations.map(({ digest, rows }) => [digest, rows]));
  const certificatesById = new Map(certificates.map(row => [row.id, row]));
  const policiesById = new Map<string, StoredPolicy>();
  for (const { org_id, body } of policies) {
    const policy = JSON.parse(body) as StoredPolicy;
    for (const id of [policy._id, policy.id]) policiesById.set(`${org_id}/${id}`, policy);
  }
  return {
    /** Undefined where a digest may be a client's key, which the backup does not hold. */
    keys: (digests: readonly string[]) =>
      digests.every(digest => limits.has(digest)) ? digests.flatMap(digest => limits.get(digest)!) : undefined,
    policies: (orgId: string, ids: readonly string[]) =>
      [...new Set(ids.map(id => policiesById.get(`${orgId}/${id}`)))].filter(policy => policy !== undefined),
    certificates: (ids: readonly string[]) => ids.flatMap(id => certificatesById.get(id) ?? []),
  };
}

import type { CertificateRow, FoundKeyRow } from '#access/reader.ts';
import type { StoredGrants } from '#people/organisations/grants.ts';
import { noGrants } from '../../pipeline/tenant-grants.ts';

/** In the data directory. */
export const backupFileName = 'config-backup.sealed';

/** Config backup: the stored configuration that serving traffic needs while the database is unavailable. */
export interface ConfigBackup {
  /** Definition bodies, with secrets sealed as in the table. */
  readonly apis: readonly string[];
  readonly certificates: readonly CertificateRow[];
  readonly policies: readonly PolicyRow[];
  /** Limits of organisations with APIs, by key digest. Keys of clients are not included. */
  readonly organisations: readonly OrganisationLimits[];
  readonly grants: StoredGrants;
}

export interface PolicyRow {
  readonly org_id: string;
  readonly body: string;
}

export interface OrganisationLimits {
  readonly digest: string;
  /** None for an organisation without limits. */
  readonly rows: readonly FoundKeyRow[];
}

/** One part: a backup is read and written in parts, to keep each step short. */
export type BackupPart = Partial<ConfigBackup>;

export function joinParts(parts: readonly BackupPart[]): ConfigBackup {
  return {
    apis: parts.flatMap(({ apis = [] }) => apis),
    certificates: parts.flatMap(({ certificates = [] }) => certificates),
    policies: parts.flatMap(({ policies = [] }) => policies),
    organisations: parts.flatMap(({ organisations = [] }) => organisations),
    grants: parts.find(({ grants }) => grants !== undefined)?.grants ?? noGrants,
  };
}

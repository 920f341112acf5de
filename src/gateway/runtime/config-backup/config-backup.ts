import type { CertificateRow, FoundKeyRow } from '#access/reader.ts';
import type { StoredGrants } from '#people/organisations/grants.ts';
import { noGrants } from '../../pipeline/tenant-grants.ts';

/** In the data directory. */
export const backupFileName = 'config-backup.sealed';

/** What traffic is made of, as it stands in the records: enough to serve it while the database does not answer. */
export interface ConfigBackup {
  /** Bodies of definitions, with their secrets sealed as in the table. */
  readonly apis: readonly string[];
  readonly certificates: readonly CertificateRow[];
  readonly policies: readonly PolicyRow[];
  /** The limits of organisations that have APIs, by the digest they are found by. Keys of callers are not among them. */
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

/** Some of it: it is read and written in parts, so that no step takes long. */
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

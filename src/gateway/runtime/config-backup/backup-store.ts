import { keyDigest } from '#access/keys/key-row.ts';
import { type CertificateRow, createAccessStore } from '#access/reader.ts';
import { createConfigReader, readPages } from '#apis/config-reader.ts';
import type { Vault } from '#base/vault.ts';
import { dataKeyName } from '#storage/meta.ts';
import type { Reader } from '#storage/reader.ts';
import type { BackupPart, PolicyRow } from './config-backup.ts';

/** Rows of one part: bounds the time sealing blocks the thread. */
const maxRowsPerPart = 200;

/** Reads the configuration that a backup contains. */
export function createBackupStore(reader: Reader, vault: Vault) {
  return {
    /** Current revision and wrapped data key. */
    async state(): Promise<{ revision: number; wrappedKey: string }> {
      const rows = await reader.rows<{ name: string; value: string }>(
        "select name, value from meta where name in ('revision', ?)",
        [dataKeyName],
      );
      const findValue = (name: string) => rows.find(row => row.name === name)?.value;
      return { revision: Number(findValue('revision') ?? 0), wrappedKey: findValue(dataKeyName) ?? '' };
    },
    async *parts(): AsyncGenerator<BackupPart> {
      yield { grants: await createConfigReader(reader, vault).grants() };
      const orgIds = new Set<string>();
      const apis = 'select id, org_id, body from apis';
      for await (const rows of readPages<PolicyRow & { id: string }>(reader, apis, maxRowsPerPart)) {
        for (const { org_id } of rows) orgIds.add(org_id);
        yield { apis: rows.map(({ body }) => body) };
      }
      const certificates = 'select id, org_id, body from certificates';
      for await (const rows of readPages<CertificateRow>(reader, certificates, maxRowsPerPart))
        yield { certificates: rows };
      const policies = 'select id, org_id, body from policies';
      for await (const rows of readPages<PolicyRow & { id: string }>(reader, policies, maxRowsPerPart))
        yield { policies: rows.map(({ org_id, body }) => ({ org_id, body })) };
      const digests = [...orgIds].map(orgId => keyDigest(vault, orgId));
      for (let at = 0; at < digests.length; at += maxRowsPerPart) {
        const batch = digests.slice(at, at + maxRowsPerPart);
        const found = await createAccessStore(reader).keys(batch);
        const limits = found.filter(({ kind }) => kind === 'organisation');
        yield {
          organisations: batch.map(digest => ({ digest, rows: limits.filter(row => row.digest === digest) })),
        };
      }
    },
  };
}

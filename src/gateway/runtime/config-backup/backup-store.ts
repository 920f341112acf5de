import { keyDigest } from '#access/keys/key-row.ts';
import { type CertificateRow, createAccessStore } from '#access/reader.ts';
import { pages, trafficStore } from '#apis/config-reader.ts';
import type { Vault } from '#base/vault.ts';
import { dataKeyName } from '#storage/meta.ts';
import type { Reader } from '#storage/reader.ts';
import type { Part, PolicyRow } from './config-backup.ts';

/** Rows of one part: sealing it must not keep others from the thread. */
const rowsAtOnce = 200;

/** Reads what traffic is made of. */
export function knownStore(reader: Reader, vault: Vault) {
  return {
    /** Which revision the records are at, and the data key as it is wrapped now. */
    async state(): Promise<{ revision: number; wrappedKey: string }> {
      const rows = await reader.rows<{ name: string; value: string }>(
        "select name, value from meta where name in ('revision', ?)",
        [dataKeyName],
      );
      const named = (name: string) => rows.find(row => row.name === name)?.value;
      return { revision: Number(named('revision') ?? 0), wrappedKey: named(dataKeyName) ?? '' };
    },
    async *parts(): AsyncGenerator<Part> {
      yield { grants: await trafficStore(reader, vault).grants() };
      const orgIds = new Set<string>();
      const apis = 'select id, org_id, body from apis';
      for await (const rows of pages<PolicyRow & { id: string }>(reader, apis, rowsAtOnce)) {
        for (const { org_id } of rows) orgIds.add(org_id);
        yield { apis: rows.map(({ body }) => body) };
      }
      const certificates = 'select id, org_id, body from certificates';
      for await (const rows of pages<CertificateRow>(reader, certificates, rowsAtOnce)) yield { certificates: rows };
      const policies = 'select id, org_id, body from policies';
      for await (const rows of pages<PolicyRow & { id: string }>(reader, policies, rowsAtOnce))
        yield { policies: rows.map(({ org_id, body }) => ({ org_id, body })) };
      const digests = [...orgIds].map(orgId => keyDigest(vault, orgId));
      for (let at = 0; at < digests.length; at += rowsAtOnce) {
        const asked = digests.slice(at, at + rowsAtOnce);
        const found = await createAccessStore(reader).keys(asked);
        const limits = found.filter(({ kind }) => kind === 'organisation');
        yield {
          organisations: asked.map(digest => ({ digest, rows: limits.filter(row => row.digest === digest) })),
        };
      }
    },
  };
}

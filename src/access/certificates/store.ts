import { type Expression, type SqlBool, sql } from 'kysely';
import type { Vault } from '#base/vault.ts';
import { columnContains, createCollection, hasNameWith, type PageRequest, type Query } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import type { ObjectHistory, RevisionLog } from '#storage/revision-log.ts';
import { problem } from './problems.ts';
import type { Certificate, UploadedCertificate } from './schema.ts';
import { privateKeyPurpose } from './sealing.ts';

export type CertificateStore = ReturnType<typeof createCertificateStore>;

/** The stored row: the private key only sealed. */
type StoredCertificate = Certificate & { orgId: string; createdAtMs: number; sealedKey?: string };

export interface CertificateOwner {
  orgId: string;
  createdAtMs: number;
}

export function createCertificateStore(records: Records, vault: Vault, revisions?: RevisionLog) {
  const history = revisions && createCertificateHistory(revisions);
  const certificates = createCertificateCollection(records, history);
  return {
    history,
    ...createCertificateReads(certificates, vault),
    ...createCertificateWrites(records, certificates, vault),
  };
}

type CertificateCollection = ReturnType<typeof createCertificateCollection>;

const createCertificateCollection = (records: Records, history: ObjectHistory<Certificate> | undefined) =>
  createCollection<'certificates', StoredCertificate>(
    records,
    'certificates',
    it => ({
      id: it.id,
      org_id: it.orgId,
      created_at: it.createdAtMs,
      has_private: Number(it.hasPrivate),
      not_after: Date.parse(it.notAfter),
    }),
    undefined,
    undefined,
    { kind: 'certificates', toEntry: toSearchEntry },
    history?.recordChange,
  );

/** Revisions have no private key: a removed key is gone. */
const createCertificateHistory = (revisions: RevisionLog) =>
  revisions.createHistory<Certificate>({
    table: 'certificates',
    identify: ({ orgId, id, subjectCn }) => ({
      orgId: String(orgId),
      publicId: String(id),
      name: String(subjectCn ?? ''),
    }),
    strip: ({ sealedKey: _key, ...row }) => row,
    open: row => withoutPrivateKey(row as unknown as StoredCertificate),
  });

const toSearchEntry = ({ id, subjectCn, dnsNames, notAfter }: StoredCertificate) => ({
  names: [subjectCn, ...dnsNames, id],
  label: subjectCn || id,
  detail: notAfter,
});

export interface CertificateFilter {
  readonly hasPrivate?: boolean | undefined;
  /** Part of the subject, of a DNS name or of the id. */
  readonly text?: string | undefined;
  /** Certificates that are expired, or not, at `nowMs`. */
  readonly isExpired?: boolean | undefined;
  readonly expiresBeforeMs?: number | undefined;
  /** Certificates of authorities, or others. */
  readonly isAuthority?: boolean | undefined;
  readonly nowMs?: number | undefined;
}

/** Bare public keys do not expire: their time is before the epoch. */
const expiresBy = (atMs: number) => sql<SqlBool>`not_after > 0 and not_after < ${atMs}`;

const buildCertificateConditions = (
  orgId: string,
  { text, isExpired, expiresBeforeMs, isAuthority, nowMs = 0 }: CertificateFilter,
): Expression<SqlBool>[] => [
  ...(text ? [hasNameWith('certificates', orgId, text)] : []),
  ...(expiresBeforeMs === undefined ? [] : [expiresBy(expiresBeforeMs)]),
  // A member of the stored JSON: quotation marks inside of texts are escaped.
  ...(isAuthority === undefined ? [] : [columnContains('body', JSON.stringify({ isCa: isAuthority }).slice(1, -1))]),
  ...(isExpired === true ? [expiresBy(nowMs)] : []),
  ...(isExpired === false ? [sql<SqlBool>`not (${expiresBy(nowMs)})`] : []),
];

function createCertificateReads(certificates: CertificateCollection, vault: Vault) {
  return {
    /** Without its private key, as everywhere but in `getWithPrivateKey`. */
    async get(orgId: string, id: string): Promise<Certificate | undefined> {
      const stored = await certificates.find({ org_id: orgId, id });
      return stored && withoutPrivateKey(stored);
    },

    /** In any organisation: for the operator only. */
    async getAnywhere(id: string): Promise<(Certificate & Pick<CertificateOwner, 'orgId'>) | undefined> {
      const stored = await certificates.find({ id });
      return stored && { ...withoutPrivateKey(stored), orgId: stored.orgId };
    },

    /** Of one organisation, or of all of them: for the operator only. Newest first. */
    async listAll(orgId?: string): Promise<Certificate[]> {
      const rows = await certificates.all({ where: orgId ? { org_id: orgId } : {}, order: ['-created_at', '-id'] });
      return rows.map(withoutPrivateKey);
    },

    /** Certificates of one organisation, or of all, that expire by then. Bare public keys do not expire. */
    async endingBy(atMs: number, orgId?: string): Promise<(Certificate & Pick<CertificateOwner, 'orgId'>)[]> {
      const filter = (query: Query) => query.where(sql<boolean>`not_after <= ${atMs}`);
      const found = await certificates.all({ where: orgId ? { org_id: orgId } : {}, filter, order: ['id'] });
      return found.filter(it => it.certificatesPem !== '').map(it => ({ ...withoutPrivateKey(it), orgId: it.orgId }));
    },

    /** With the private key: for TLS handshakes and signing, never for a response. */
    async getWithPrivateKey(orgId: string, id: string): Promise<UploadedCertificate | undefined> {
      const stored = await certificates.find({ org_id: orgId, id });
      if (!stored?.sealedKey) return stored && withoutPrivateKey(stored);
      return { ...withoutPrivateKey(stored), privateKeyPem: vault.open(stored.sealedKey, privateKeyPurpose) };
    },

    async page(orgId: string, query: PageRequest, filter: CertificateFilter = {}) {
      const { hasPrivate } = filter;
      const narrowed = hasPrivate === undefined ? {} : { has_private: Number(hasPrivate) };
      const where = { org_id: orgId, ...narrowed };
      const conditions = buildCertificateConditions(orgId, filter);
      const applyFilter = (rows: Query) => conditions.reduce((left, condition) => left.where(condition), rows);
      const listing = { where, filter: applyFilter, order: ['-created_at', '-id'] as const };
      const result = await certificates.page(listing, query);
      return { ...result, items: result.items.map(withoutPrivateKey) };
    },

    count: (orgId: string) => certificates.count({ org_id: orgId }),
  };
}

function createCertificateWrites(records: Records, certificates: CertificateCollection, vault: Vault) {
  return {
    async insert({ privateKeyPem, ...certificate }: UploadedCertificate, owner: CertificateOwner): Promise<void> {
      const { id } = certificate;
      const sealed = privateKeyPem === undefined ? {} : { sealedKey: vault.seal(privateKeyPem, privateKeyPurpose) };
      await records.write(async () => {
        if (await certificates.find({ id })) throw problem.already_exists({ detail: { id } });
        await certificates.insert({ ...certificate, ...owner, ...sealed });
        records.markChanged('certificates', id);
      });
    },

    async remove(orgId: string, id: string): Promise<boolean> {
      return records.write(async () => {
        const removed = await certificates.remove({ org_id: orgId, id });
        if (removed) records.markChanged('certificates', id);
        return removed;
      });
    },
  };
}

const withoutPrivateKey = ({
  orgId: _org,
  createdAtMs: _at,
  sealedKey: _key,
  ...certificate
}: StoredCertificate): Certificate => certificate;

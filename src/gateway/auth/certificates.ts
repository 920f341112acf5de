import { createHash, createPublicKey, X509Certificate } from 'node:crypto';
import type { Certificate } from '#access/certificates/schema.ts';
import { privateKeyPurpose } from '#access/certificates/sealing.ts';
import { Lru } from '#base/lru.ts';
import { createReadGuard } from '#base/read-guard.ts';
import type { Vault } from '#base/vault.ts';
import type { Model } from '#definition/model.ts';
import type { MaybePromise } from '../pipeline/step.ts';
import type { Change } from '../routing/config-store.ts';
import type { AccessStore, CertificateRow } from './store.ts';

/** A stored certificate, read once. */
export interface KnownCertificate {
  readonly id: string;
  /** SHA-256 of the certificate, hexadecimal. */
  readonly fingerprint: string;
  readonly isCa: boolean;
  /** Absent for a bare public key. */
  readonly x509: X509Certificate | undefined;
  readonly pem: string;
  /** SHA-256 of the public key, hexadecimal. */
  publicKeyHash(): string;
  /** Opens it; absent where there is none. */
  readonly privateKey?: () => string;
}

/** Certificates of the store, for a thread. */
export interface Certificates {
  /** One that a definition names: those are in memory before it is compiled. */
  get(orgId: string, id: string): KnownCertificate | undefined;
  /** Any other. */
  find(orgId: string, id: string): MaybePromise<KnownCertificate | undefined>;
  /** Reads what these definitions name. */
  prepare(models: readonly Model[]): Promise<void>;
  /** Forgets what changed; undefined is everything. */
  changed(changes: readonly Change[] | undefined): void;
}

const certificatesKept = 1000;
const defaultMaxIdsPerQuery = 500;

/** The certificates a definition cannot be served without. */
export function certificatesNamed(model: Model): readonly string[] {
  const { clientCertificates, customDomain, mutualTls, certificatePinning, requestSigning, oauth2 } = model;
  return [
    ...(clientCertificates.enabled ? clientCertificates.allowlist : []),
    ...(customDomain.enabled ? customDomain.certificates : []),
    ...(mutualTls.enabled ? Object.values(mutualTls.certificates) : []),
    ...(requestSigning.enabled && requestSigning.certificateId ? [requestSigning.certificateId] : []),
    ...(oauth2.enabled && oauth2.exchangeEnabled ? oauth2.providers.map(it => it.certificateId).filter(Boolean) : []),
    ...(certificatePinning.enabled ? Object.values(certificatePinning.publicKeys).flat() : []),
  ];
}

export function certificatesOf(
  store: AccessStore,
  vault: Pick<Vault, 'open'>,
  maxIdsPerQuery = defaultMaxIdsPerQuery,
): Certificates {
  const named = new Map<string, KnownCertificate>();
  const others = new Lru<string, KnownCertificate>(certificatesKept);
  const reads = createReadGuard();
  const placeOf = (orgId: string, id: string) => `${orgId}/${id}`;

  return {
    get: (orgId, id) => named.get(placeOf(orgId, id)),
    find(orgId, id) {
      const place = placeOf(orgId, id);
      const known = named.get(place) ?? others.get(place);
      if (known) return known;
      const remember = reads.begin();
      const keep = (rows: readonly CertificateRow[]) => {
        const row = rows.find(it => it.org_id === orgId);
        const certificate = row && known509(row, vault);
        if (certificate) remember(() => others.set(place, certificate));
        return certificate;
      };
      const rows = store.certificates([id]);
      return rows instanceof Promise ? rows.then(keep) : keep(rows);
    },
    async prepare(models) {
      const wanted = [...new Set(models.flatMap(certificatesNamed))];
      for (let at = 0; at < wanted.length; at += maxIdsPerQuery)
        for (const row of await store.certificates(wanted.slice(at, at + maxIdsPerQuery)))
          named.set(placeOf(row.org_id, row.id), known509(row, vault));
    },
    changed(changes) {
      const ids = new Set(changes?.filter(({ topic }) => topic === 'certificates').map(({ id }) => id));
      if (changes && ids.size === 0) return;
      reads.invalidate();
      others.clear();
      if (!changes || ids.has('')) named.clear();
      else for (const [place, { id }] of named) if (ids.has(id)) named.delete(place);
    },
  };
}

function known509({ id, body }: CertificateRow, vault: Pick<Vault, 'open'>): KnownCertificate {
  const { fingerprint, isCa, certificatesPem, publicKeyPem, sealedKey } = JSON.parse(body) as Certificate & {
    sealedKey?: string;
  };
  const x509 = certificatesPem ? new X509Certificate(certificatesPem) : undefined;
  const pem = publicKeyPem ?? certificatesPem;
  const der = () => createPublicKey(pem).export({ type: 'spki', format: 'der' });
  return {
    id,
    fingerprint,
    isCa,
    x509,
    pem,
    publicKeyHash: () => createHash('sha256').update(der()).digest('hex'),
    ...(sealedKey === undefined ? {} : { privateKey: () => vault.open(sealedKey, privateKeyPurpose) }),
  };
}

/** The certificate a caller showed. */
export interface ShownCertificate {
  readonly x509: X509Certificate;
  readonly fingerprint: string;
  readonly validUntilMs: number;
  readonly validFromMs: number;
}

const shown = new WeakMap<Buffer, ShownCertificate>();

/** A connection shows one certificate, whose bytes are the same object for all its calls: it is read once. */
export function shownCertificate(der: Buffer): ShownCertificate {
  const known = shown.get(der);
  if (known) return known;
  const x509 = new X509Certificate(der);
  const read: ShownCertificate = {
    x509,
    fingerprint: createHash('sha256').update(der).digest('hex'),
    validUntilMs: x509.validToDate.getTime(),
    validFromMs: x509.validFromDate.getTime(),
  };
  shown.set(der, read);
  return read;
}

export const isSignedBy = (x509: X509Certificate, authority: X509Certificate): boolean =>
  x509.checkIssued(authority) && x509.verify(authority.publicKey);

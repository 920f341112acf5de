import { createHash, createPublicKey, X509Certificate } from 'node:crypto';
import type { Certificate } from '#access/certificates/schema.ts';
import { privateKeyPurpose } from '#access/certificates/sealing.ts';
import type { AccessStore, CertificateRow } from '#access/reader.ts';
import type { ConfigChange } from '#apis/config-reader.ts';
import { Lru } from '#base/lru.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { createReadGuard } from '#base/read-guard.ts';
import type { Vault } from '#base/vault.ts';
import type { Model } from '#definition/model.ts';

/** A parsed certificate of the store. */
export interface StoredCertificate {
  readonly id: string;
  /** SHA-256 of the certificate, hexadecimal. */
  readonly fingerprint: string;
  readonly isCa: boolean;
  /** Absent for a bare public key. */
  readonly x509: X509Certificate | undefined;
  readonly pem: string;
  /** SHA-256 of the public key, hexadecimal. */
  publicKeyHash(): string;
  /** Decrypts the private key; absent where there is none. */
  readonly privateKey?: () => string;
}

/** Certificates of the store, cached per thread. */
export interface CertificateCache {
  /** A certificate that a definition references: `prefetch` has loaded it. */
  get(orgId: string, id: string): StoredCertificate | undefined;
  /** Any other certificate. */
  find(orgId: string, id: string): MaybePromise<StoredCertificate | undefined>;
  /** Loads the certificates that definitions reference. */
  prefetch(models: readonly Model[]): Promise<void>;
  /** Undefined invalidates everything. */
  invalidate(changes: readonly ConfigChange[] | undefined): void;
}

const maxCachedCertificates = 1000;
const defaultMaxIdsPerQuery = 500;

/** Certificates whose absence makes the API unavailable. */
export function listReferencedCertificates(model: Model): readonly string[] {
  const { clientCertificates, customDomain, mutualTls, certificatePinning, requestSigning, oauth2, transport } = model;
  return [
    ...(clientCertificates.enabled ? clientCertificates.allowlist : []),
    ...(customDomain.enabled ? customDomain.certificates : []),
    ...(mutualTls.enabled ? Object.values(mutualTls.certificates) : []),
    ...(requestSigning.enabled && requestSigning.certificateId ? [requestSigning.certificateId] : []),
    ...(oauth2.enabled && oauth2.exchangeEnabled ? oauth2.providers.map(it => it.certificateId).filter(Boolean) : []),
    ...(certificatePinning.enabled ? Object.values(certificatePinning.publicKeys).flat() : []),
    ...transport.caCertificates,
  ];
}

export function createCertificateCache(
  store: AccessStore,
  vault: Pick<Vault, 'open'>,
  maxIdsPerQuery = defaultMaxIdsPerQuery,
): CertificateCache {
  const referenced = new Map<string, StoredCertificate>();
  const others = new Lru<string, StoredCertificate>(maxCachedCertificates);
  const reads = createReadGuard();
  const toCacheKey = (orgId: string, id: string) => `${orgId}/${id}`;

  return {
    get: (orgId, id) => referenced.get(toCacheKey(orgId, id)),
    find(orgId, id) {
      const place = toCacheKey(orgId, id);
      const cached = referenced.get(place) ?? others.get(place);
      if (cached) return cached;
      const storeIfCurrent = reads.begin();
      const cacheRow = (rows: readonly CertificateRow[]) => {
        const row = rows.find(it => it.org_id === orgId);
        const certificate = row && parseCertificate(row, vault);
        if (certificate) storeIfCurrent(() => others.set(place, certificate));
        return certificate;
      };
      const rows = store.certificates([id]);
      return rows instanceof Promise ? rows.then(cacheRow) : cacheRow(rows);
    },
    async prefetch(models) {
      const ids = [...new Set(models.flatMap(listReferencedCertificates))];
      for (let at = 0; at < ids.length; at += maxIdsPerQuery)
        for (const row of await store.certificates(ids.slice(at, at + maxIdsPerQuery)))
          referenced.set(toCacheKey(row.org_id, row.id), parseCertificate(row, vault));
    },
    invalidate(changes) {
      const ids = new Set(changes?.filter(({ topic }) => topic === 'certificates').map(({ id }) => id));
      if (changes && ids.size === 0) return;
      reads.invalidate();
      others.clear();
      if (!changes || ids.has('')) referenced.clear();
      else for (const [place, { id }] of referenced) if (ids.has(id)) referenced.delete(place);
    },
  };
}

function parseCertificate({ id, body }: CertificateRow, vault: Pick<Vault, 'open'>): StoredCertificate {
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

/** The client certificate of a connection. */
export interface PeerCertificate {
  readonly x509: X509Certificate;
  readonly fingerprint: string;
  readonly validUntilMs: number;
  readonly validFromMs: number;
}

const parsedCertificates = new WeakMap<Buffer, PeerCertificate>();

/** Cached by the DER buffer, which is one object per connection: a certificate is parsed once per connection. */
export function parsePeerCertificate(der: Buffer): PeerCertificate {
  const cached = parsedCertificates.get(der);
  if (cached) return cached;
  const x509 = new X509Certificate(der);
  const read: PeerCertificate = {
    x509,
    fingerprint: createHash('sha256').update(der).digest('hex'),
    validUntilMs: x509.validToDate.getTime(),
    validFromMs: x509.validFromDate.getTime(),
  };
  parsedCertificates.set(der, read);
  return read;
}

export const isIssuedBy = (x509: X509Certificate, authority: X509Certificate): boolean =>
  x509.checkIssued(authority) && x509.verify(authority.publicKey);

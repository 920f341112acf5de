import { readCertificateNames } from '#access/certificates/pem-names.ts';
import type { CertificateReport } from '#apis/system/node-store.ts';
import type { CertificateFileState } from '#base/certificate-files.ts';
import { compareCodePoints } from '#base/compare-code-points.ts';
import {
  type CertificateCache,
  listReferencedCertificates,
  type StoredCertificate,
} from '../auth/certificate-cache.ts';
import type { Api } from './api.ts';

/** Bound of what a heartbeat carries. */
const maxReportedCertificates = 100;
const maxFailureCharacters = 300;

type CertifiedApi = Pick<Api, 'orgId' | 'model'>;

/**
 * Lists the certificate of a file, and those of the store that APIs name. The list of a subset is computed once, until
 * the subset changes.
 */
export function createCertificateLister(certificates: Pick<CertificateCache, 'get'>) {
  const lists = new WeakMap<readonly CertifiedApi[], CertificateReport[]>();
  return (apis: readonly CertifiedApi[], file: CertificateFileState | undefined): CertificateReport[] => {
    let list = lists.get(apis);
    if (!list) {
      list = listReports(apis, certificates);
      lists.set(apis, list);
    }
    return [...listCertificateFile(file), ...list];
  };
}

function listReports(apis: readonly CertifiedApi[], certificates: Pick<CertificateCache, 'get'>): CertificateReport[] {
  const uses = new Map<string, { readonly orgId: string; readonly id: string; apis: number }>();
  for (const { orgId, model } of apis)
    for (const id of new Set(listReferencedCertificates(model))) {
      const name = `${orgId}/${id}`;
      const use = uses.get(name) ?? { orgId, id, apis: 0 };
      use.apis++;
      uses.set(name, use);
    }
  const reports = [...uses.values()].map(({ orgId, id, apis: count }) => ({
    kind: 'store' as const,
    source: id,
    ...describeCertificate(certificates.get(orgId, id)),
    apis: count,
  }));
  return mergeCertificateReports(reports);
}

function describeCertificate(certificate: StoredCertificate | undefined) {
  if (!certificate) return { subject: '', notAfterMs: 0, failure: 'not in the certificate store' };
  const { x509 } = certificate;
  if (!x509) return { subject: '', notAfterMs: 0, failure: '' };
  const subject = readCertificateNames(x509.raw).subject.CommonName;
  return { subject, notAfterMs: x509.validToDate.getTime(), failure: '' };
}

/** Report of the certificate in a file, as a list. */
const listCertificateFile = (file: CertificateFileState | undefined): CertificateReport[] =>
  file
    ? [
        {
          kind: 'file',
          source: file.path,
          subject: readCertificateNames(file.certificate.raw).subject.CommonName,
          notAfterMs: file.certificate.validToDate.getTime(),
          apis: 0,
          failure: file.failure.slice(0, maxFailureCharacters),
        },
      ]
    : [];

/** One report per source of what several threads have: a failure of any, and the earliest end of validity. */
export function mergeCertificateReports(all: readonly CertificateReport[]): CertificateReport[] {
  const bySource = new Map<string, CertificateReport>();
  for (const report of all) {
    const name = `${report.kind} ${report.source}`;
    const known = bySource.get(name);
    bySource.set(name, known ? mergeReports(known, report) : report);
  }
  return [...bySource.values()].sort(compareReports).slice(0, maxReportedCertificates);
}

const mergeReports = (one: CertificateReport, other: CertificateReport): CertificateReport => ({
  ...one,
  subject: one.subject || other.subject,
  notAfterMs: Math.min(one.notAfterMs || other.notAfterMs, other.notAfterMs || one.notAfterMs),
  apis: Math.max(one.apis, other.apis),
  failure: one.failure || other.failure,
});

/** Failed ones first, then those that expire first: the bound must not hide them. Public keys do not expire. */
const compareReports = (one: CertificateReport, other: CertificateReport): number =>
  Number(one.failure === '') - Number(other.failure === '') ||
  (one.notAfterMs || Number.MAX_SAFE_INTEGER) - (other.notAfterMs || Number.MAX_SAFE_INTEGER) ||
  compareCodePoints(one.source, other.source);

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeCertificate } from '../../../tests/support/certificates.ts';
import { parsePem } from './pem.ts';
import { Certificate, CertificateSummary, FullCertificate } from './schema.ts';
import { toCertificateSummary, toFullCertificate } from './views.ts';

const made = makeCertificate({
  cn: 'Acme client',
  organization: 'Acme',
  dnsNames: ['acme.example'],
  usages: ['client'],
});
const upload = parsePem(made.certPem + made.keyPem, { orgId: 'org1', nowMs: Date.parse('2026-01-01T00:00:00Z') });

test('the summary has exactly the published members', () => {
  assert.deepEqual(CertificateSummary.parse(toCertificateSummary(upload)), {
    id: `org1${made.fingerprint}`,
    issuer_cn: 'Acme client',
    subject_cn: 'Acme client',
    dns_names: ['acme.example'],
    has_private: true,
    not_before: '2020-01-01T00:00:00Z',
    not_after: '2049-12-31T23:59:59Z',
    is_ca: false,
  });
  assert.deepEqual(Object.keys(toCertificateSummary(upload)).sort(), Object.keys(CertificateSummary.shape).sort());
});

test('the full record has exactly the published members, and names as lists', () => {
  const full = FullCertificate.strict().parse(toFullCertificate(upload));
  assert.deepEqual(full.subject.Organization, ['Acme']);
  assert.deepEqual(full.subject.Names, [
    { Type: [2, 5, 4, 10], Value: 'Acme' },
    { Type: [2, 5, 4, 3], Value: 'Acme client' },
  ]);
  assert.deepEqual(Object.keys(toFullCertificate(upload)).sort(), Object.keys(FullCertificate.shape).sort());
});

test('neither view nor the stored shape carries key material', () => {
  const texts = [toCertificateSummary(upload), toFullCertificate(upload), Certificate.parse(upload)].map(it =>
    JSON.stringify(it),
  );
  for (const text of texts) assert.doesNotMatch(text, /PRIVATE KEY/);
});

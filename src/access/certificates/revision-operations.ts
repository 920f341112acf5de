import { declareRevisionOperations, type RestoreCall, type RevisionServices } from '#operations/revision-operations.ts';
import type { CertificateServices } from './operations.ts';
import { parsePem } from './pem.ts';
import { problem } from './problems.ts';
import type { Certificate } from './schema.ts';
import { toFullCertificate } from './views.ts';

/** Creates a removed certificate again, by the rules of an upload. A certificate never changes: one that exists stays. */
async function restoreCertificate(
  { actor: { orgId }, state, isExisting }: RestoreCall<Certificate>,
  { certificates, clock }: CertificateServices,
) {
  if (isExisting) return;
  if (state.hasPrivate) throw problem.private_key_removed();
  const nowMs = clock.now();
  await certificates.insert(parsePem(state.publicKeyPem ?? state.certificatesPem, { orgId, nowMs }), {
    orgId,
    createdAtMs: nowMs,
  });
}

export const certificateRevisionOperations = declareRevisionOperations<
  Certificate,
  CertificateServices & RevisionServices,
  'certs',
  'certId'
>({
  singular: 'Certificate',
  plural: 'certs',
  param: 'certId',
  noun: 'certificates',
  article: 'a certificate',
  permissionName: 'certs',
  changesTraffic: true,
  notFound: problem.not_found,
  problems: [problem.private_key_removed, problem.already_exists, problem.expired],
  history: ({ certificates }) => certificates.history,
  toView: toFullCertificate,
  toViewFor: async () => toFullCertificate,
  toName: state => toFullCertificate(state).subject.CommonName,
  isExisting: async (orgId, objectId, { certificates }) => (await certificates.get(orgId, objectId)) !== undefined,
  toPlainWrite: () => ({ operation: 'createCertificate', method: 'POST', path: '/api/certs', body: undefined }),
  restore: restoreCertificate,
});

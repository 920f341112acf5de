import { z } from 'zod';
import { createCertificate, deleteCertificate } from '#access/certificates/operations.ts';
import { parsePem } from '#access/certificates/pem.ts';
import type { Certificate, UploadedCertificate } from '#access/certificates/schema.ts';
import { redactedText } from '#base/redaction.ts';
import { hasPermission } from '#operations/actor.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { authorize, type CheckInput, checkSpec, type Kind, type RunContext, type StoredObject } from '../kind.ts';
import type { Spec } from '../schema.ts';
import { sortById } from '../sort-by-id.ts';

const CertificateSpec = z.object({
  certificates: z.string().optional().describe('Chain in PEM, leaf first'),
  public_key: z.string().optional().describe('Bare public key in PEM, in place of a chain'),
  private_key: z
    .string()
    .optional()
    .describe('Private key of the leaf in PEM; the stored one stays where it is absent'),
});

/** Stands for a stored private key, which is read only to be compared with a sent one. */
const storedKey = 'stored private key';

function toSpec({ certificatesPem, publicKeyPem }: Certificate, privateKey: string | undefined): Spec {
  return {
    ...(publicKeyPem === undefined ? { certificates: certificatesPem } : { public_key: publicKeyPem }),
    ...(privateKey !== undefined && { private_key: privateKey }),
  };
}

const toStoredObject = (certificate: Certificate): StoredObject => ({
  id: certificate.fingerprint,
  spec: toSpec(certificate, certificate.hasPrivate ? storedKey : undefined),
  source: certificate,
});

async function checkCertificate(context: RunContext, { id, given, before }: CheckInput) {
  const { certificates = '', public_key = '', private_key } = checkSpec(context, CertificateSpec, { id, given });
  const { services, actor } = context;
  const stored = before?.source as Certificate | undefined;
  const isMasked = private_key === redactedText;
  if (isMasked && !stored?.hasPrivate)
    throw createInvalidProblem([
      { path: 'private_key', message: `${redactedText} is a masked private key, and none is stored here` },
    ]);
  const isKept = isMasked || private_key === undefined;
  const pem = [certificates, public_key, isKept ? '' : private_key].join('\n');
  // A stored certificate stays valid input after its expiry.
  const nowMs = stored ? 0 : services.clock.now();
  const upload = parsePem(pem, { orgId: actor.orgId, nowMs });
  if (upload.fingerprint !== id)
    throw createInvalidProblem([{ path: 'id', message: `must be the SHA-256 fingerprint, ${upload.fingerprint}` }]);
  const isSame = isKept ? stored?.hasPrivate : await hasPrivateKey(context, stored, upload.privateKeyPem);
  return { id, given, spec: toSpec(upload, isSame ? storedKey : upload.privateKeyPem), checked: upload };
}

/** True where this private key is stored. Only a caller who may replace it learns that. */
async function hasPrivateKey(
  { services, actor }: RunContext,
  stored: Certificate | undefined,
  privateKey: string | undefined,
): Promise<boolean> {
  if (!stored?.hasPrivate || !hasPermission(actor, createCertificate.permission)) return false;
  const found = await services.certificates.getWithPrivateKey(actor.orgId, stored.id);
  return found?.privateKeyPem === privateKey;
}

/** Certificates, by SHA-256 fingerprint: their stored id begins with the organisation, which differs elsewhere. */
export const certificateKind: Kind = {
  name: 'certificate',
  permission: 'certs',
  async list({ services, actor }) {
    return sortById((await services.certificates.listAll(actor.orgId)).map(toStoredObject));
  },
  check: checkCertificate,
  mask: spec => (spec.private_key === undefined ? spec : { ...spec, private_key: redactedText }),
  async create(context, { checked }) {
    const { services, actor } = context;
    await authorize(context, createCertificate, {});
    const owner = { orgId: actor.orgId, createdAtMs: services.clock.now() };
    await services.certificates.insert(checked as UploadedCertificate, owner);
  },
  async update(context, object, before) {
    const upload = object.checked as UploadedCertificate;
    const { services, actor } = context;
    const isKept = upload.privateKeyPem === undefined && (before.source as Certificate).hasPrivate;
    const stored = isKept ? await services.certificates.getWithPrivateKey(actor.orgId, upload.id) : undefined;
    await removeStored(context, before);
    const privateKeyPem = stored?.privateKeyPem;
    const next = privateKeyPem === undefined ? upload : { ...upload, hasPrivate: true, privateKeyPem };
    await this.create(context, { ...object, checked: next });
  },
  async remove(context, before) {
    const { services, actor, force } = context;
    const ref = (before.source as Certificate).id;
    await services.refuseDependents('certs', { actor, orgId: actor.orgId, ref }, force);
    await removeStored(context, before);
  },
};

async function removeStored(context: RunContext, { source }: StoredObject): Promise<void> {
  const { services, actor } = context;
  const { id } = source as Certificate;
  await authorize(context, deleteCertificate, { params: { certId: id } });
  await services.certificates.remove(actor.orgId, id);
}

import { z } from 'zod';
import { type OwnerServices, resolveOwner } from '#apis/api/owner.ts';
import { dependentsProblem, forceQuery } from '#operations/dependents.ts';
import { operation } from '#operations/operation.ts';
import { messageResponse, toOkMessage } from '#operations/shapes.ts';
import { problem as peopleProblem } from '#people/problems.ts';
import type { CertificateServices, DeleteCertificateServices } from './operations.ts';
import { parsePem } from './pem.ts';
import { problem, uploadProblems } from './problems.ts';
import { CertificateId, CertificateSummary, FullCertificate } from './schema.ts';
import { toCertificateSummary, toFullCertificate } from './views.ts';

/** Certificates of the gateway API: authenticated by the gateway secret, across organisations. */
export interface GatewayCertificateServices extends CertificateServices, OwnerServices {}

const declared = { surface: 'gateway', noun: 'certificates', permission: 'secret' } as const;
const orgId = z.string().optional();

export const listGatewayCertificates = operation({
  ...declared,
  name: 'listGatewayCertificates',
  method: 'GET',
  path: '/gw/certs',
  about: 'Lists the ids of certificates, newest first; with mode=detailed their metadata.',
  query: z.object({
    org_id: orgId.describe('Restricts the list to one organisation'),
    mode: z.enum(['detailed', '']).optional(),
  }),
  returns: z.object({ certs: z.array(z.union([CertificateId, CertificateSummary])) }),
  async handle({ query: { org_id, mode } }, { certificates }: GatewayCertificateServices) {
    const found = await certificates.listAll(org_id);
    return { certs: mode === 'detailed' ? found.map(toCertificateSummary) : found.map(({ id }) => id) };
  },
});

export const createGatewayCertificate = operation({
  ...declared,
  name: 'createGatewayCertificate',
  isRepeatable: true,
  method: 'POST',
  changesTraffic: true,
  path: '/gw/certs',
  about: 'Creates a certificate, with or without its chain and private key, or a bare public key. The body is PEM.',
  accepts: 'text',
  query: z.object({ org_id: orgId.describe('Id of the organisation; defaults to the first one') }),
  body: z.string(),
  returns: z.object({ id: CertificateId, status: z.literal('ok'), message: z.string() }),
  problems: [problem.empty, peopleProblem.organisation_unknown, ...uploadProblems],
  async handle({ query: { org_id }, body, audit }, services: GatewayCertificateServices) {
    if (body.trim() === '') throw problem.empty();
    const owner = await resolveOwner(services, org_id ?? '');
    const nowMs = services.clock.now();
    const upload = parsePem(body, { orgId: owner, nowMs });
    audit(upload.id, owner);
    await services.certificates.insert(upload, { orgId: owner, createdAtMs: nowMs });
    return { id: upload.id, status: 'ok' as const, message: 'Certificate added' };
  },
});

export const getGatewayCertificates = operation({
  ...declared,
  name: 'getGatewayCertificates',
  method: 'GET',
  path: '/gw/certs/{certID}',
  about: 'Returns the metadata of a certificate, or of several as an array. A private key is never returned.',
  params: z.object({ certID: z.string().describe('One id, or several separated by commas') }),
  returns: z.union([FullCertificate, z.array(FullCertificate)]),
  problems: [problem.not_found],
  async handle({ params: { certID } }, { certificates }: GatewayCertificateServices) {
    const ids = certID.split(',').map(id => id.trim());
    const found = await Promise.all(
      ids.map(async id => {
        const certificate = await certificates.getAnywhere(id);
        if (!certificate) throw problem.not_found();
        return toFullCertificate(certificate);
      }),
    );
    return found.length === 1 ? found[0]! : found;
  },
});

export const deleteGatewayCertificate = operation({
  ...declared,
  name: 'deleteGatewayCertificate',
  versioned: 'certificates',
  method: 'DELETE',
  changesTraffic: true,
  path: '/gw/certs/{certID}',
  about:
    'Deletes a certificate and its private key. Requests to APIs that depend on it get 503 until they have another.',
  params: z.object({ certID: z.string() }),
  query: z.object({
    org_id: orgId.describe('Requires the certificate to belong to this organisation'),
    ...forceQuery.shape,
  }),
  returns: messageResponse,
  problems: [problem.not_found, dependentsProblem],
  async handle(
    { actor, params: { certID }, query: { org_id, force }, audit },
    services: GatewayCertificateServices & DeleteCertificateServices,
  ) {
    const { certificates, records, refuseDependents } = services;
    audit(certID);
    const existing = await certificates.getAnywhere(certID);
    if (!existing || (org_id && org_id !== existing.orgId)) throw problem.not_found();
    audit(certID, existing.orgId);
    await records.write(async () => {
      await refuseDependents('certs', { actor, orgId: existing.orgId, ref: certID }, force);
      if (!(await certificates.remove(existing.orgId, certID))) throw problem.not_found();
    });
    return toOkMessage('removed');
  },
});

export const gatewayCertificateOperations = [
  listGatewayCertificates,
  createGatewayCertificate,
  getGatewayCertificates,
  deleteGatewayCertificate,
];

import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import type { Settings } from '#base/settings.ts';
import type { Upload } from '#operations/body.ts';
import { dependentsProblem, forceQuery, type RefuseDependents } from '#operations/dependents.ts';
import { operation } from '#operations/operation.ts';
import { pageNumber, pageQuery, toPageRequest, unixSeconds } from '#operations/shapes.ts';
import type { Records } from '#storage/records.ts';
import { parsePem } from './pem.ts';
import { problem, uploadProblems } from './problems.ts';
import { CertificateId, CertificateSummary, FullCertificate } from './schema.ts';
import type { CertificateStore } from './store.ts';
import { toCertificateSummary, toFullCertificate } from './views.ts';

export interface CertificateServices {
  certificates: CertificateStore;
  clock: Clock;
  settings: Settings;
}

export interface DeleteCertificateServices extends CertificateServices {
  records: Records;
  refuseDependents: RefuseDependents;
}

const params = z.object({ certId: z.string() });
const declared = { surface: 'dashboard', noun: 'certificates' } as const;
const toPage = ({ settings }: CertificateServices, p: number) => toPageRequest(p, settings['management.page_size']);

const filters = { omit: undefined, with_pk: true, without_pk: false } as const;

export const listCertificates = operation({
  ...declared,
  name: 'listCertificates',
  method: 'GET',
  path: '/api/certs',
  about: 'Lists the certificates of the caller’s organisation, newest first.',
  permission: 'certs:read',
  query: z.object({
    p: pageNumber,
    mode: z.enum(['detailed']).optional().describe('`detailed` omits the plain list of ids and enables `filter`'),
    filter: z
      .enum(['omit', 'with_pk', 'without_pk'])
      .default('omit')
      .describe('All certificates, or those with or without a private key; requires mode=detailed'),
    q: z.string().trim().max(200).optional().describe('Part of the subject, a DNS name or the id, case-insensitive'),
    state: z.enum(['valid', 'expired']).optional().describe('By the end of validity; a bare public key is valid'),
    expires_before: unixSeconds.optional().describe('Certificates that expire before this Unix time, expired ones too'),
    is_ca: z.enum(['true', 'false']).optional().describe('Certificates of authorities, or others'),
  }),
  returns: z.object({
    cert_basics: z.array(CertificateSummary).nullable(),
    certs: z.array(CertificateId).optional(),
    pages: z.int(),
  }),
  async handle({ actor, query: { p, mode, filter, q, state, expires_before, is_ca } }, services: CertificateServices) {
    const { items, pages } = await services.certificates.page(actor.orgId, toPage(services, p), {
      hasPrivate: mode && filters[filter],
      text: q,
      isExpired: state && state === 'expired',
      expiresBeforeMs: expires_before === undefined ? undefined : expires_before * 1000,
      isAuthority: is_ca && is_ca === 'true',
      nowMs: services.clock.now(),
    });
    return {
      cert_basics: items.map(toCertificateSummary),
      pages,
      ...(mode ? {} : { certs: items.map(({ id }) => id) }),
    };
  },
});

export const listCertificateDetails = operation({
  ...declared,
  name: 'listCertificateDetails',
  method: 'GET',
  path: '/api/certs/details',
  about: 'Lists the certificates with all their metadata, newest first.',
  permission: 'certs:read',
  query: pageQuery,
  returns: z.object({ certificates: z.array(FullCertificate), pages: z.int() }),
  async handle({ actor, query }, services: CertificateServices) {
    const { items, pages } = await services.certificates.page(actor.orgId, toPage(services, query.p));
    return { certificates: items.map(toFullCertificate), pages };
  },
});

const file = z.custom<Upload>(
  value => value !== undefined,
  'No certificate was sent: send PEM as a file of a multipart form, or as the body',
);

export const createCertificate = operation({
  ...declared,
  name: 'createCertificate',
  isRepeatable: true,
  method: 'POST',
  changesTraffic: true,
  path: '/api/certs',
  about: 'Creates a certificate, with or without its chain and private key, or a bare public key. All are PEM.',
  permission: 'certs:write',
  accepts: 'upload',
  body: file,
  returns: z.object({ id: CertificateId, message: z.string(), status: z.literal('ok') }),
  problems: uploadProblems,
  async handle({ actor: { orgId }, body, audit }, { certificates, clock }: CertificateServices) {
    const nowMs = clock.now();
    const upload = parsePem(body.bytes.toString('utf8'), { orgId, nowMs });
    audit(upload.id);
    await certificates.insert(upload, { orgId, createdAtMs: nowMs });
    return { id: upload.id, message: 'Certificate added', status: 'ok' as const };
  },
});

export const getCertificate = operation({
  ...declared,
  name: 'getCertificate',
  versioned: 'certificates',
  method: 'GET',
  path: '/api/certs/{certId}',
  about: 'Returns the metadata of a certificate. A private key is never returned.',
  permission: 'certs:read',
  params,
  returns: FullCertificate,
  problems: [problem.not_found],
  async handle({ actor, params: { certId } }, { certificates }: CertificateServices) {
    const certificate = await certificates.get(actor.orgId, certId);
    if (!certificate) throw problem.not_found();
    return toFullCertificate(certificate);
  },
});

export const deleteCertificate = operation({
  ...declared,
  name: 'deleteCertificate',
  versioned: 'certificates',
  method: 'DELETE',
  changesTraffic: true,
  path: '/api/certs/{certId}',
  about:
    'Deletes a certificate and its private key. Requests to APIs that depend on it get 503 until they have another.',
  permission: 'certs:write',
  params,
  query: forceQuery,
  returns: z.object({ status: z.literal('OK'), message: z.string() }),
  problems: [problem.not_found, dependentsProblem],
  async handle({ actor, params: { certId }, query, audit }, services: DeleteCertificateServices) {
    audit(certId);
    await services.records.write(async () => {
      await services.refuseDependents('certs', { actor, orgId: actor.orgId, ref: certId }, query.force);
      if (!(await services.certificates.remove(actor.orgId, certId))) throw problem.not_found();
    });
    return { status: 'OK' as const, message: 'success' };
  },
});

export const certificateOperations = [
  listCertificates,
  listCertificateDetails,
  createCertificate,
  getCertificate,
  deleteCertificate,
];

import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { findChosenCertificate } from '../apps/certificate-choice.ts';
import { Provision } from '../apps/schema.ts';
import { ofApp, ofCredential, requestPath, requireCredential } from '../credentials/lookup.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import type { TaskServices } from '../provider-tasks/perform.ts';
import { numberedId, okMessage, okMessageResponse, okResponse, okStatus } from '../shapes.ts';
import { attachCertificate, detachCertificate } from './attachment.ts';
import { listCertificatesOfApps } from './list-operation.ts';
import { listUses, removeUnused } from './removal.ts';
import { PortalCertificate, toCertificateView } from './schema.ts';

const declared = { surface: 'portal', noun: 'certificates of apps', permission: 'secret' } as const;
const ofCertificate = ofApp.extend({ certificate_id: numberedId });
type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'>;

export const listAppCertificates = operation({
  ...declared,
  name: 'listAppCertificates',
  method: 'GET',
  path: '/portal-api/apps/{app_id}/certificates',
  about: 'Lists the client certificates of an app with their validity and the credentials that they are attached to.',
  params: ofApp,
  returns: z.array(PortalCertificate),
  problems: [problem.not_found],
  async handle({ params: { app_id } }, { portal, clock }: Services) {
    present(await portal.apps.get(app_id), 'App');
    const usesOf = await listUses(app_id, portal);
    const now = clock.now();
    return (await portal.certificates.ofApp(app_id)).map(it => toCertificateView(it, usesOf(it.ID).credentials, now));
  },
});

export const deleteAppCertificate = operation({
  ...declared,
  name: 'deleteAppCertificate',
  method: 'DELETE',
  path: '/portal-api/apps/{app_id}/certificates/{certificate_id}',
  about: 'Deletes a client certificate of an app that no credential and no pending request uses.',
  params: ofCertificate,
  returns: okResponse,
  problems: [problem.not_found, problem.certificate_in_use],
  async handle({ params: { app_id, certificate_id }, audit }, services: Services) {
    audit(String(certificate_id));
    await removeUnused(app_id, certificate_id, services);
    return okStatus;
  },
});

export const attachCredentialCertificate = operation({
  ...declared,
  name: 'attachCredentialCertificate',
  method: 'POST',
  changesTraffic: true,
  path: `${requestPath}/credentials/{credential_id}/certificates`,
  about:
    'Attaches a client certificate to a credential, whose key is accepted with it too. Where the provider fails, the certificate is `attaching`, and the calls are repeated.',
  params: ofCredential,
  body: Provision.pick({ Certificate: true, CertificateName: true, CertificateID: true }),
  example: { CertificateID: 1 },
  returns: okMessageResponse.extend({ CertificateID: z.int() }),
  problems: [
    problem.unknown,
    problem.certificate_unused,
    problem.certificate_attached,
    problem.too_many_bound,
    problem.provider_unavailable,
    problem.provider_refused,
  ],
  async handle({ params, body, audit }, services: TaskServices) {
    audit(String(params.credential_id));
    const { request, credential } = await requireCredential(params, services, 'unknown');
    const certificate = await findChosenCertificate({ ID: params.app_id }, body, services);
    const { ID } = await attachCertificate(credential, request, certificate, services);
    return { ...okMessage('Attach certificate'), CertificateID: ID };
  },
});

export const detachCredentialCertificate = operation({
  ...declared,
  name: 'detachCredentialCertificate',
  method: 'DELETE',
  changesTraffic: true,
  path: `${requestPath}/credentials/{credential_id}/certificates/{certificate_id}`,
  about:
    'Detaches a client certificate from a credential: calls with it are refused. The key is inactive without any. Where the provider fails, the certificate is `detaching`, and the calls are repeated.',
  params: ofCredential.extend({ certificate_id: numberedId }),
  returns: okMessageResponse,
  problems: [problem.not_found, problem.provider_unavailable, problem.provider_refused],
  async handle({ params, audit }, services: TaskServices) {
    audit(String(params.credential_id));
    const { request, credential } = await requireCredential(params, services);
    await detachCertificate(credential, request, params.certificate_id, services);
    return okMessage('Detach certificate');
  },
});

export const portalCertificateOperations = [
  listCertificatesOfApps,
  listAppCertificates,
  deleteAppCertificate,
  attachCredentialCertificate,
  detachCredentialCertificate,
];

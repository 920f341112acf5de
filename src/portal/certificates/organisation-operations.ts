import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { Provision } from '../apps/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { numberedId, okResponse, okStatus, portalId } from '../shapes.ts';
import { assignCertificate, listOrganisationUses, withdrawCertificate } from './assigned-certificates.ts';
import { readClientCertificate } from './client-certificate.ts';
import { OrganisationCertificate, type StoredOrganisationCertificate, toAssignedView } from './schema.ts';

const declared = { surface: 'portal', noun: 'certificates of organisations', permission: 'secret' } as const;
const path = '/portal-api/organisations/{organisation_id}/certificates';
const params = z.object({ organisation_id: portalId });
type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'>;

async function loadView(certificate: StoredOrganisationCertificate, { portal, clock }: Services) {
  const uses = await listOrganisationUses(certificate.OrganisationID, certificate.Fingerprint, portal);
  return toAssignedView(certificate, uses.credentials, clock.now());
}

export const listOrganisationCertificates = operation({
  ...declared,
  name: 'listOrganisationCertificates',
  method: 'GET',
  path,
  about:
    'Lists the client certificates that are assigned to an organisation, with their validity and the credentials of its apps that they are attached to.',
  params,
  returns: z.array(OrganisationCertificate),
  problems: [problem.not_found],
  async handle({ params: { organisation_id } }, services: Services) {
    const { ID } = present(await services.portal.organisations.get(organisation_id), 'Organisation');
    const assigned = await services.portal.organisationCertificates.ofOrganisation(ID);
    return Promise.all(assigned.map(it => loadView(it, services)));
  },
});

export const assignOrganisationCertificate = operation({
  ...declared,
  name: 'assignOrganisationCertificate',
  method: 'POST',
  path,
  about:
    'Assigns a client certificate to an organisation. Requests of its developers for products that require one use it: they send none of their own.',
  params,
  body: Provision.pick({ CertificateName: true }).extend({
    Certificate: z.string().describe('Client certificate in the PEM format, without its private key'),
  }),
  returns: OrganisationCertificate,
  status: 201,
  problems: [problem.unknown],
  async handle({ params: { organisation_id }, body, audit }, services: Services) {
    const { portal, clock } = services;
    const { ID } = present(await portal.organisations.get(organisation_id), 'Organisation', 'unknown');
    audit(String(ID));
    const certificate = readClientCertificate(body.Certificate, body.CertificateName ?? '', clock.now());
    return loadView(await assignCertificate(ID, certificate, services), services);
  },
});

export const withdrawOrganisationCertificate = operation({
  ...declared,
  name: 'withdrawOrganisationCertificate',
  method: 'DELETE',
  path: `${path}/{certificate_id}`,
  about:
    'Withdraws a client certificate from an organisation. Refused while credentials or pending requests of its apps use it, also of those whose developers are in another organisation now.',
  params: params.extend({ certificate_id: numberedId }),
  returns: okResponse,
  problems: [problem.not_found, problem.assigned_certificate_in_use],
  async handle({ params: { organisation_id, certificate_id }, audit }, services: Services) {
    const { ID } = present(await services.portal.organisations.get(organisation_id), 'Organisation');
    audit(String(certificate_id));
    await withdrawCertificate(ID, certificate_id, services);
    return okStatus;
  },
});

export const organisationCertificateOperations = [
  listOrganisationCertificates,
  assignOrganisationCertificate,
  withdrawOrganisationCertificate,
];

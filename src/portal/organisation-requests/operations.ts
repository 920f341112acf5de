import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { plainName } from '../organisations/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import {
  numberedId,
  okMessage,
  okMessageResponse,
  okResponse,
  okStatus,
  optionalMember,
  portalPageQuery,
  textUpTo,
} from '../shapes.ts';
import {
  approveOrganisation,
  type OrganisationRequestServices,
  rejectOrganisation,
  requestOrganisation,
} from './decision.ts';
import {
  OrganisationRequest,
  OrganisationRequestWrite,
  organisationRequestStatus,
  toOrganisationRequestView,
} from './schema.ts';

const declared = { surface: 'portal', noun: 'organisations', permission: 'secret' } as const;
const params = z.object({ organisation_request_id: numberedId });
const requestPath = '/portal-api/organisation-requests/{organisation_request_id}';
type Services = Pick<PortalServices, 'portal'>;

export const listOrganisationRequests = operation({
  ...declared,
  name: 'listOrganisationRequests',
  method: 'GET',
  path: '/portal-api/organisation-requests',
  about: 'Lists the requests of developers for organisations of their own, newest first.',
  query: portalPageQuery.extend({
    status: organisationRequestStatus.optional().describe('Only requests in this state'),
  }),
  returns: z.array(OrganisationRequest),
  async handle({ query: { status, ...page } }, { portal }: Services) {
    return (await portal.organisationRequests.page(page, status ? { status } : {})).map(toOrganisationRequestView);
  },
});

export const createOrganisationRequest = operation({
  ...declared,
  name: 'createOrganisationRequest',
  method: 'POST',
  path: '/portal-api/organisation-requests',
  about: 'Asks for an organisation on behalf of a developer of the default organisation.',
  body: OrganisationRequestWrite,
  example: { Name: 'Acme', AdminID: 2 },
  returns: OrganisationRequest,
  status: 201,
  problems: [problem.organisation_assigned, problem.organisation_requested, problem.organisation_taken],
  async handle({ body, audit }, services: OrganisationRequestServices) {
    const created = await requestOrganisation(body.Name, body.AdminID, services);
    audit(String(created.ID));
    return toOrganisationRequestView(created);
  },
});

export const getOrganisationRequest = operation({
  ...declared,
  name: 'getOrganisationRequest',
  method: 'GET',
  path: requestPath,
  about: 'Returns a request for an organisation.',
  params,
  returns: OrganisationRequest,
  problems: [problem.not_found],
  async handle({ params: { organisation_request_id } }, { portal }: Services) {
    const found = await portal.organisationRequests.get(organisation_request_id);
    return toOrganisationRequestView(present(found, 'Organisation request'));
  },
});

export const approveOrganisationRequest = operation({
  ...declared,
  name: 'approveOrganisationRequest',
  method: 'PUT',
  path: `${requestPath}/approve`,
  about:
    'Creates the organisation with its default team, also under another name; the developer becomes its administrator.',
  params,
  body: z.object({
    Name: optionalMember(plainName).describe('Name of the organisation; that of the request if omitted'),
  }),
  returns: okMessageResponse.extend({ OrganisationID: z.int() }),
  problems: [problem.unknown, problem.organisation_decided, problem.organisation_assigned, problem.organisation_taken],
  async handle({ params: { organisation_request_id: id }, body, audit }, services: OrganisationRequestServices) {
    audit(String(id));
    const { ID } = await approveOrganisation(id, body.Name, services);
    return { ...okMessage('Approve'), OrganisationID: ID };
  },
});

export const rejectOrganisationRequest = operation({
  ...declared,
  name: 'rejectOrganisationRequest',
  method: 'PUT',
  path: `${requestPath}/reject`,
  about: 'Rejects a request for an organisation. The developer gets the reason by mail, and may ask again.',
  params,
  query: z.object({ reason: textUpTo(2000).default('').describe('Reason, for the developer') }),
  returns: okMessageResponse,
  problems: [problem.unknown, problem.organisation_decided],
  async handle({ params: { organisation_request_id: id }, query, audit }, services: OrganisationRequestServices) {
    audit(String(id));
    await rejectOrganisation(id, query.reason, services);
    return okMessage('Reject');
  },
});

export const deleteOrganisationRequest = operation({
  ...declared,
  name: 'deleteOrganisationRequest',
  method: 'DELETE',
  path: requestPath,
  about: 'Deletes a request for an organisation. An organisation that it created stays.',
  params,
  returns: okResponse,
  problems: [problem.not_found],
  async handle({ params: { organisation_request_id: id }, audit }, { portal }: Services) {
    audit(String(id));
    present((await portal.organisationRequests.remove(id)) || undefined, 'Organisation request');
    return okStatus;
  },
});

export const organisationRequestOperations = [
  listOrganisationRequests,
  createOrganisationRequest,
  getOrganisationRequest,
  approveOrganisationRequest,
  rejectOrganisationRequest,
  deleteOrganisationRequest,
];

import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { requestChange } from '../access-requests/change.ts';
import { removeCredential, removeRequests } from '../access-requests/removal.ts';
import { AccessRequest, AccessRequestBrief, toRequestBrief, toRequestView } from '../access-requests/schema.ts';
import { viewRequests } from '../access-requests/views.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import {
  intBetween,
  lenientBool,
  lenientInt,
  okMessage,
  okMessageResponse,
  okResponse,
  okStatus,
  portalPageQuery,
} from '../shapes.ts';
import { ofApp, ofCredential, ofRequest, requestPath, requireCredential, requireRequest } from './lookup.ts';
import { endOverlap, maxOverlapSeconds, rotateKey } from './rotation.ts';
import { Credential, toCredentialView } from './schema.ts';

const declared = { surface: 'portal', noun: 'credentials', permission: 'secret' } as const;
type Services = Pick<PortalServices, 'portal'>;
type RemovalServices = Pick<
  PortalServices,
  'portal' | 'controlPlane' | 'identityProvider' | 'records' | 'clock' | 'settings'
>;

export const listAppAccessRequests = operation({
  ...declared,
  name: 'listAppAccessRequests',
  method: 'GET',
  path: '/portal-api/apps/{app_id}/access-requests',
  about: 'Lists the access requests of an app with their credentials, newest first.',
  params: ofApp,
  query: portalPageQuery,
  returns: z.array(AccessRequest),
  problems: [problem.not_found],
  async handle({ params: { app_id }, query }, services: Services) {
    present(await services.portal.apps.get(app_id), 'App');
    return viewRequests(await services.portal.accessRequests.page(query, { app_id }), toRequestView, services);
  },
});

export const getAppAccessRequest = operation({
  ...declared,
  name: 'getAppAccessRequest',
  method: 'GET',
  path: requestPath,
  about: 'Returns an access request of an app.',
  params: ofRequest,
  returns: AccessRequestBrief,
  problems: [problem.not_found],
  async handle({ params }, services: Services) {
    const [view] = await viewRequests([await requireRequest(params, services)], toRequestBrief, services);
    return view!;
  },
});

export const deleteAppAccessRequest = operation({
  ...declared,
  name: 'deleteAppAccessRequest',
  method: 'DELETE',
  changesTraffic: true,
  path: requestPath,
  about: 'Revokes the credentials of an access request, then deletes it.',
  params: ofRequest,
  returns: okResponse,
  problems: [problem.unknown, problem.provider_unavailable, problem.provider_refused],
  async handle({ params, audit }, services: RemovalServices) {
    audit(String(params.access_request_id));
    await removeRequests([await requireRequest(params, services, 'unknown')], services);
    return okStatus;
  },
});

export const changeAppAccessRequest = operation({
  ...declared,
  name: 'changeAppAccessRequest',
  method: 'PUT',
  changesTraffic: true,
  path: `${requestPath}/change`,
  about:
    'Asks for another plan or other products of an approved access request; the keys of its credentials stay the same. Approved at once if the plan or the body say so, or where products are only removed.',
  params: ofRequest,
  body: z.object({
    PlanID: lenientInt.nullish().describe('Id of the new plan; by default that of the request'),
    ProductIDs: z.array(lenientInt).min(1).max(100).nullish().describe('Ids of all products from then on'),
    ProvisionImmediately: lenientBool.nullish().describe('Approves the change at once; by default the plan decides'),
  }),
  example: { PlanID: 2 },
  returns: okMessageResponse.extend({
    AccessRequestID: z.int().describe('Request of the change; the changed one where it is approved'),
  }),
  problems: [
    problem.unknown,
    problem.not_approved,
    problem.change_pending,
    problem.change_unfinished,
    problem.rotated_already,
    problem.quota_exceeded,
    problem.provider_unavailable,
    problem.provider_refused,
  ],
  async handle({ params, body: { PlanID, ProductIDs, ProvisionImmediately }, audit }, services: RemovalServices) {
    audit(String(params.access_request_id));
    const request = await requireRequest(params, services, 'unknown');
    const change = {
      PlanID: PlanID ?? undefined,
      ProductIDs: ProductIDs ?? undefined,
      ProvisionImmediately: ProvisionImmediately ?? undefined,
    };
    return { ...okMessage('Change'), AccessRequestID: await requestChange(request, change, services) };
  },
});

export const listCredentials = operation({
  ...declared,
  name: 'listCredentials',
  method: 'GET',
  path: `${requestPath}/credentials`,
  about: 'Lists the credentials of an access request, newest first.',
  params: ofRequest,
  query: portalPageQuery,
  returns: z.array(Credential),
  problems: [problem.not_found],
  async handle({ params, query }, services: Services) {
    const { ID } = await requireRequest(params, services);
    return (await services.portal.credentials.page(ID, query)).map(toCredentialView);
  },
});

export const getCredential = operation({
  ...declared,
  name: 'getCredential',
  method: 'GET',
  path: `${requestPath}/credentials/{credential_id}`,
  about: 'Returns a credential.',
  params: ofCredential,
  returns: Credential,
  problems: [problem.unknown],
  async handle({ params }, services: Services) {
    return toCredentialView((await requireCredential(params, services, 'unknown')).credential);
  },
});

export const deleteCredential = operation({
  ...declared,
  name: 'deleteCredential',
  method: 'DELETE',
  changesTraffic: true,
  path: `${requestPath}/credentials/{credential_id}`,
  about:
    'Revokes a credential: its key is refused at once. The access request is not deleted. With force, the credential goes also while its provider fails, and the key is removed as soon as the provider is available.',
  params: ofCredential,
  query: z.object({ force: lenientBool.optional().describe('Proceeds if the provider is unavailable or refuses') }),
  returns: okResponse,
  problems: [problem.not_found, problem.provider_unavailable, problem.provider_refused],
  async handle({ params, query, audit }, services: RemovalServices) {
    audit(String(params.credential_id));
    const { request, credential } = await requireCredential(params, services);
    await removeCredential(credential.ID, request.ProviderID, services, query.force);
    return okStatus;
  },
});

export const rotateCredential = operation({
  ...declared,
  name: 'rotateCredential',
  method: 'PUT',
  changesTraffic: true,
  path: `${requestPath}/credentials/{credential_id}/rotate`,
  about:
    'Rotates the key of a credential, with the same rights, end and used quota. The old one is accepted until the end of the overlap, and refused at once without one.',
  params: ofCredential,
  query: z.object({
    overlap_seconds: intBetween(0, maxOverlapSeconds)
      .default(0)
      .describe(
        'Seconds during which the old key is accepted too, at most those of `portal.max_rotation_overlap_seconds`',
      ),
  }),
  returns: okMessageResponse,
  problems: [
    problem.unknown,
    problem.overlap_too_long,
    problem.rotated_already,
    problem.secret_fixed,
    problem.credential_expired,
    problem.provider_unavailable,
    problem.provider_refused,
  ],
  async handle({ params, query, audit }, services: RemovalServices) {
    audit(String(params.credential_id));
    const { request, credential } = await requireCredential(params, services, 'unknown');
    await rotateKey(credential, request, services, query.overlap_seconds);
    return okMessage('Rotate');
  },
});

export const endCredentialOverlap = operation({
  ...declared,
  name: 'endCredentialOverlap',
  method: 'PUT',
  changesTraffic: true,
  path: `${requestPath}/credentials/{credential_id}/end-overlap`,
  about: 'Ends the overlap of a rotation: the old key is refused at once.',
  params: ofCredential,
  returns: okMessageResponse,
  problems: [problem.unknown, problem.no_former_key, problem.provider_unavailable, problem.provider_refused],
  async handle({ params, audit }, services: RemovalServices) {
    audit(String(params.credential_id));
    const { credential } = await requireCredential(params, services, 'unknown');
    if (!(await endOverlap(credential.ID, services))) throw problem.no_former_key();
    return okMessage('End overlap');
  },
});

export const credentialOperations = [
  listAppAccessRequests,
  getAppAccessRequest,
  deleteAppAccessRequest,
  changeAppAccessRequest,
  listCredentials,
  getCredential,
  deleteCredential,
  rotateCredential,
  endCredentialOverlap,
];

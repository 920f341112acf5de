import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { removeCredential, removeRequests } from '../access-requests/removal.ts';
import { AccessRequest, AccessRequestBrief, toRequestBrief, toRequestView } from '../access-requests/schema.ts';
import { viewRequests } from '../access-requests/views.ts';
import type { PortalTools } from '../portal-stores.ts';
import { type Missing, present, problem } from '../problems.ts';
import { numberedId, okMessage, okMessageResponse, okResponse, okStatus, portalPageQuery } from '../shapes.ts';
import { rotateKey } from './rotation.ts';
import { Credential, toCredentialView } from './schema.ts';

const declared = { surface: 'portal', noun: 'credentials', permission: 'secret' } as const;
const ofApp = z.object({ app_id: numberedId });
const ofRequest = ofApp.extend({ access_request_id: numberedId });
const ofCredential = ofRequest.extend({ credential_id: numberedId });
const requestPath = '/portal-api/apps/{app_id}/access-requests/{access-request_id}';
type Tools = Pick<PortalTools, 'portal'>;
type RemovalTools = Pick<PortalTools, 'portal' | 'controlPlane' | 'records' | 'clock'>;

/** A request of an app; one of another app is as good as none. */
async function requireRequest(params: z.output<typeof ofRequest>, { portal }: Tools, missing: Missing = 'not_found') {
  const request = await portal.accessRequests.get(params.access_request_id);
  return present(request?.AppID === params.app_id ? request : undefined, 'Access request', missing);
}

async function requireCredential(params: z.output<typeof ofCredential>, tools: Tools, missing: Missing = 'not_found') {
  const request = await requireRequest(params, tools, missing);
  const found = await tools.portal.credentials.get(params.credential_id);
  const credential = present(found?.AccessRequestID === request.ID ? found : undefined, 'Credential', missing);
  return { request, credential };
}

export const listAppAccessRequests = operation({
  ...declared,
  name: 'listAppAccessRequests',
  method: 'GET',
  path: '/portal-api/apps/{app_id}/access-requests',
  about: 'Lists the requests of an app with their credentials, newest first.',
  params: ofApp,
  query: portalPageQuery,
  returns: z.array(AccessRequest),
  problems: [problem.not_found],
  async handle({ params: { app_id }, query }, tools: Tools) {
    present(await tools.portal.apps.get(app_id), 'App');
    return viewRequests(await tools.portal.accessRequests.page(query, { app_id }), toRequestView, tools);
  },
});

export const getAppAccessRequest = operation({
  ...declared,
  name: 'getAppAccessRequest',
  method: 'GET',
  path: requestPath,
  about: 'Reads one request of an app.',
  params: ofRequest,
  returns: AccessRequestBrief,
  problems: [problem.not_found],
  async handle({ params }, tools: Tools) {
    const [view] = await viewRequests([await requireRequest(params, tools)], toRequestBrief, tools);
    return view!;
  },
});

export const deleteAppAccessRequest = operation({
  ...declared,
  name: 'deleteAppAccessRequest',
  method: 'DELETE',
  path: requestPath,
  about: 'Revokes the credentials of a request, then removes it.',
  params: ofRequest,
  returns: okResponse,
  problems: [problem.unknown, problem.provider_unavailable, problem.provider_refused],
  async handle({ params, audit }, tools: RemovalTools) {
    audit(String(params.access_request_id));
    await removeRequests([await requireRequest(params, tools, 'unknown')], tools);
    return okStatus;
  },
});

export const listCredentials = operation({
  ...declared,
  name: 'listCredentials',
  method: 'GET',
  path: `${requestPath}/credentials`,
  about: 'Lists the credentials of a request, newest first.',
  params: ofRequest,
  query: portalPageQuery,
  returns: z.array(Credential),
  problems: [problem.not_found],
  async handle({ params, query }, tools: Tools) {
    const { ID } = await requireRequest(params, tools);
    return (await tools.portal.credentials.page(ID, query)).map(toCredentialView);
  },
});

export const getCredential = operation({
  ...declared,
  name: 'getCredential',
  method: 'GET',
  path: `${requestPath}/credentials/{credential_id}`,
  about: 'Reads one credential.',
  params: ofCredential,
  returns: Credential,
  problems: [problem.unknown],
  async handle({ params }, tools: Tools) {
    return toCredentialView((await requireCredential(params, tools, 'unknown')).credential);
  },
});

export const deleteCredential = operation({
  ...declared,
  name: 'deleteCredential',
  method: 'DELETE',
  path: `${requestPath}/credentials/{credential_id}`,
  about: 'Revokes a credential: its key stops working at once. The request stays.',
  params: ofCredential,
  returns: okResponse,
  problems: [problem.not_found, problem.provider_unavailable, problem.provider_refused],
  async handle({ params, audit }, tools: RemovalTools) {
    audit(String(params.credential_id));
    const { request, credential } = await requireCredential(params, tools);
    await removeCredential(credential.ID, request.ProviderID, tools);
    return okStatus;
  },
});

export const rotateCredential = operation({
  ...declared,
  name: 'rotateCredential',
  method: 'PUT',
  path: `${requestPath}/credentials/{credential_id}/rotate`,
  about: 'Gives a credential a new key with the same rights; the old one stops working at once.',
  params: ofCredential,
  returns: okMessageResponse,
  problems: [problem.unknown, problem.rotated_already, problem.provider_unavailable, problem.provider_refused],
  async handle({ params, audit }, tools: RemovalTools) {
    audit(String(params.credential_id));
    const { request, credential } = await requireCredential(params, tools, 'unknown');
    await rotateKey(credential, request, tools);
    return okMessage('Rotate');
  },
});

export const credentialOperations = [
  listAppAccessRequests,
  getAppAccessRequest,
  deleteAppAccessRequest,
  listCredentials,
  getCredential,
  deleteCredential,
  rotateCredential,
];

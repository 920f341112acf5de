import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import {
  lenientInt,
  numberedId,
  okMessage,
  okMessageResponse,
  okResponse,
  okStatus,
  portalPageQuery,
  textUpTo,
} from '../shapes.ts';
import { approveRequest } from './approval.ts';
import { type DecisionServices, rejectRequest } from './decision.ts';
import { removeRequests } from './removal.ts';
import { AccessRequest, AccessRequestRow, requestStatus, toRequestRow, toRequestView } from './schema.ts';
import { viewRequests } from './views.ts';

const declared = { surface: 'portal', noun: 'access requests', permission: 'secret' } as const;
const params = z.object({ access_request_id: numberedId });
type Services = Pick<PortalServices, 'portal'>;

export const listAccessRequests = operation({
  ...declared,
  name: 'listAccessRequests',
  method: 'GET',
  path: '/portal-api/access_requests',
  about: 'Lists the access requests of all apps, newest first.',
  query: portalPageQuery.extend({ status: requestStatus.optional().describe('Only requests in this state') }),
  returns: z.array(AccessRequestRow),
  async handle({ query: { status, ...page } }, services: Services) {
    const found = await services.portal.accessRequests.page(page, status ? { status } : {});
    return viewRequests(found, toRequestRow, services);
  },
});

export const getAccessRequest = operation({
  ...declared,
  name: 'getAccessRequest',
  method: 'GET',
  path: '/portal-api/access_requests/{access_request_id}',
  about: 'Returns an access request with its credentials.',
  params,
  returns: AccessRequest,
  problems: [problem.not_found],
  async handle({ params: { access_request_id } }, services: Services) {
    const request = present(await services.portal.accessRequests.get(access_request_id), 'Access request');
    const [view] = await viewRequests([request], toRequestView, services);
    return view!;
  },
});

export const deleteAccessRequest = operation({
  ...declared,
  name: 'deleteAccessRequest',
  method: 'DELETE',
  changesTraffic: true,
  path: '/portal-api/access_requests/{access_request_id}',
  about: 'Revokes the credentials of an access request, then deletes it.',
  params,
  returns: okResponse,
  problems: [problem.not_found, problem.provider_unavailable, problem.provider_refused],
  async handle({ params: { access_request_id }, audit }, services: DecisionServices) {
    audit(String(access_request_id));
    await removeRequests(
      [present(await services.portal.accessRequests.get(access_request_id), 'Access request')],
      services,
    );
    return okStatus;
  },
});

export const approveAccessRequest = operation({
  ...declared,
  name: 'approveAccessRequest',
  method: 'PUT',
  changesTraffic: true,
  path: '/portal-api/access_requests/{access_request_id}/approve',
  about:
    'Approves a pending access request: the provider creates its key. On failure it remains pending, with the requested plan.',
  params,
  query: z.object({
    plan_id: lenientInt
      .optional()
      .describe('Plan to grant in place of the requested one, of those that the developer can request'),
  }),
  returns: okMessageResponse,
  problems: [
    problem.unknown,
    problem.not_pending,
    problem.approval_in_progress,
    problem.change_unfinished,
    problem.rotated_already,
    problem.quota_exceeded,
    problem.provider_unavailable,
    problem.provider_refused,
  ],
  async handle({ params: { access_request_id }, query: { plan_id }, auditEach }, services: DecisionServices) {
    auditEach([String(access_request_id), ...(plan_id === undefined ? [] : [`plan ${plan_id}`])]);
    await approveRequest(access_request_id, services, plan_id);
    return okMessage('Approve');
  },
});

export const rejectAccessRequest = operation({
  ...declared,
  name: 'rejectAccessRequest',
  method: 'PUT',
  path: '/portal-api/access_requests/{access_request_id}/reject',
  about: 'Rejects a pending access request. The developer gets the reason by mail.',
  params,
  query: z.object({ reason: textUpTo(2000).default('').describe('Reason, for the developer') }),
  returns: okMessageResponse,
  problems: [problem.unknown, problem.not_pending, problem.approval_in_progress],
  async handle(
    { params: { access_request_id }, query, audit },
    services: Pick<PortalServices, 'portal' | 'records' | 'clock' | 'settings'>,
  ) {
    audit(String(access_request_id));
    await rejectRequest(access_request_id, query.reason, services);
    return okMessage('Reject');
  },
});

export const accessRequestOperations = [
  listAccessRequests,
  getAccessRequest,
  deleteAccessRequest,
  approveAccessRequest,
  rejectAccessRequest,
];

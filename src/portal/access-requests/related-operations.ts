import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { AppRow, toAppRow } from '../apps/schema.ts';
import { CatalogueRow, toCatalogueRow } from '../catalogues/schema.ts';
import { PlanRow, toPlanRow } from '../plans/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { numberedId } from '../shapes.ts';
import { toUserRow, UserRow } from '../users/schema.ts';
import { listGrantablePlans } from './approval.ts';

const declared = { surface: 'portal', noun: 'access requests', permission: 'secret', method: 'GET' } as const;
const params = z.object({ access_request_id: numberedId });
const requestPath = '/portal-api/access_requests/{access_request_id}';
type Services = Pick<PortalServices, 'portal'>;

const requireRequest = async ({ access_request_id }: z.output<typeof params>, { portal }: Services) =>
  present(await portal.accessRequests.get(access_request_id), 'Access request');

export const getAccessRequestUser = operation({
  ...declared,
  name: 'getAccessRequestUser',
  path: `${requestPath}/user`,
  about: 'Returns the user of an access request.',
  params,
  returns: UserRow,
  problems: [problem.not_found],
  async handle(call, services: Services) {
    const { UserID } = await requireRequest(call.params, services);
    return toUserRow(present(await services.portal.users.get(UserID), 'User'));
  },
});

export const getAccessRequestPlan = operation({
  ...declared,
  name: 'getAccessRequestPlan',
  path: `${requestPath}/plan`,
  about: 'Returns the plan of an access request.',
  params,
  returns: PlanRow,
  problems: [problem.not_found],
  async handle(call, services: Services) {
    const { PlanID } = await requireRequest(call.params, services);
    return toPlanRow(present(await services.portal.plans.get(PlanID), 'Plan'));
  },
});

export const listAccessRequestPlans = operation({
  ...declared,
  name: 'listAccessRequestPlans',
  path: `${requestPath}/plans`,
  about:
    'Lists the plans that an approval can grant in place of the requested one: those that the developer can request.',
  params,
  returns: z.array(PlanRow),
  problems: [problem.not_found],
  async handle(call, services: Services) {
    return (await listGrantablePlans(await requireRequest(call.params, services), services)).map(toPlanRow);
  },
});

export const getAccessRequestCatalogue = operation({
  ...declared,
  name: 'getAccessRequestCatalogue',
  path: `${requestPath}/catalogue`,
  about: 'Returns the catalogue of an access request; 404 where none holds both plan and products.',
  params,
  returns: CatalogueRow,
  problems: [problem.not_found],
  async handle(call, services: Services) {
    const { CatalogueID } = await requireRequest(call.params, services);
    return toCatalogueRow(present(await services.portal.catalogues.get(CatalogueID), 'Catalogue'));
  },
});

export const getAccessRequestClient = operation({
  ...declared,
  name: 'getAccessRequestClient',
  path: `${requestPath}/client`,
  about: 'Returns the app of an access request.',
  params,
  returns: AppRow,
  problems: [problem.not_found],
  async handle(call, services: Services) {
    const { AppID } = await requireRequest(call.params, services);
    return toAppRow(present(await services.portal.apps.get(AppID), 'App'));
  },
});

export const relatedOperations = [
  getAccessRequestUser,
  getAccessRequestPlan,
  listAccessRequestPlans,
  getAccessRequestCatalogue,
  getAccessRequestClient,
];

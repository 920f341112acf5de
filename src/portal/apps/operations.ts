import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { DecisionServices } from '../access-requests/decision.ts';
import { AccessRequestOfApp, toAppRequestView } from '../access-requests/schema.ts';
import { viewRequests } from '../access-requests/views.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import {
  formatOptionalTime,
  numberedId,
  okMessage,
  okMessageResponse,
  okResponse,
  okStatus,
  portalSearchQuery,
} from '../shapes.ts';
import { changeApp, insertApp } from './changes.ts';
import { provision } from './provision.ts';
import { removeApp } from './removal.ts';
import { AppChange, AppListRow, AppRow, AppWrite, Provision, type StoredApp, toAppRow } from './schema.ts';

const declared = { surface: 'portal', noun: 'apps', permission: 'secret' } as const;
const params = z.object({ app_id: numberedId });
type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'>;

const App = AppRow.extend({ UpdatedAt: z.string(), AccessRequests: z.array(z.array(AccessRequestOfApp)) });

/** Wire format: each request is wrapped in a list. */
async function loadAppView(app: StoredApp, services: Services): Promise<z.input<typeof App>> {
  const requests = await viewRequests(
    await services.portal.accessRequests.listLive({ app_id: app.ID }),
    toAppRequestView,
    services,
  );
  return {
    ...toAppRow(app),
    UpdatedAt: formatOptionalTime(app.UpdatedAt),
    AccessRequests: requests.map(request => [request]),
  };
}

/** Rows of a list; one read of each kind for all of them. */
async function loadListRows(apps: readonly StoredApp[], services: Services) {
  const { portal } = services;
  const users = await portal.users.byIds(apps.map(({ UserID }) => UserID));
  const organisations = await portal.organisations.byIds([...users.values()].map(it => it.OrganisationID));
  const requests = await portal.accessRequests.listOfApps(apps.map(({ ID }) => ID));
  const products = new Map(apps.map(({ ID }) => [ID, new Set<string>()]));
  for (const it of await viewRequests(requests, toAppRequestView, services))
    if (it.Status === 'approved' && it.Changes === 0 && !it.Revoked)
      for (const name of it.Products) products.get(it.AppID)?.add(name);
  return apps.map(app => {
    const owner = users.get(app.UserID);
    return {
      ...toAppRow(app),
      UserEmail: owner?.Email ?? '',
      Organisation: organisations.get(owner?.OrganisationID ?? 0)?.Name ?? '',
      Products: [...(products.get(app.ID) ?? [])],
    };
  });
}

export const listApps = operation({
  ...declared,
  name: 'listApps',
  method: 'GET',
  path: '/portal-api/apps',
  about: 'Lists the apps of all developers, newest first.',
  query: portalSearchQuery,
  returns: z.array(AppListRow),
  async handle({ query }, services: Services) {
    return loadListRows(await services.portal.apps.searchPage(query), services);
  },
});

export const createApp = operation({
  ...declared,
  name: 'createApp',
  method: 'POST',
  path: '/portal-api/apps',
  about: 'Creates an app for a developer. Apps of the default organisation are personal.',
  body: AppWrite,
  returns: App,
  async handle({ body, audit }, services: Services) {
    const created = await insertApp(body, services);
    audit(String(created.ID));
    return loadAppView(created, services);
  },
});

export const getApp = operation({
  ...declared,
  name: 'getApp',
  method: 'GET',
  path: '/portal-api/apps/{app_id}',
  about: 'Returns an app with its access requests and their credentials.',
  params,
  returns: App,
  problems: [problem.not_found],
  async handle({ params: { app_id } }, services: Services) {
    return loadAppView(present(await services.portal.apps.get(app_id), 'App'), services);
  },
});

export const updateApp = operation({
  ...declared,
  name: 'updateApp',
  method: 'PUT',
  path: '/portal-api/apps/{app_id}',
  about: 'Updates an app, including its owner. Omitted members do not change.',
  params,
  body: AppChange,
  returns: App,
  problems: [problem.unknown],
  async handle({ params: { app_id }, body, audit }, services: Services) {
    audit(String(app_id));
    const before = present(await services.portal.apps.get(app_id), 'App', 'unknown');
    const changed = await changeApp(before, body, services);
    return loadAppView(present(changed, 'App', 'unknown'), services);
  },
});

export const deleteApp = operation({
  ...declared,
  name: 'deleteApp',
  method: 'DELETE',
  changesTraffic: true,
  path: '/portal-api/apps/{app_id}',
  about: 'Deletes an app with its access requests; its keys are refused at once.',
  params,
  returns: okResponse,
  problems: [problem.not_found, problem.provider_unavailable, problem.provider_refused],
  async handle({ params: { app_id }, audit }, services: DecisionServices) {
    const { portal } = services;
    audit(String(app_id));
    present(await portal.apps.get(app_id), 'App');
    await removeApp(app_id, services);
    return okStatus;
  },
});

export const provisionApp = operation({
  ...declared,
  name: 'provisionApp',
  method: 'PUT',
  changesTraffic: true,
  path: '/portal-api/apps/{app_id}/provision',
  about: 'Requests access to products under a plan. Approved at once if the plan or ProvisionImmediately allows it.',
  params,
  body: Provision,
  returns: okMessageResponse.extend({ AccessRequestID: z.int() }),
  problems: [problem.unknown, problem.quota_exceeded, problem.provider_unavailable, problem.provider_refused],
  async handle({ params: { app_id }, body, audit }, services: DecisionServices) {
    audit(String(app_id));
    const app = present(await services.portal.apps.get(app_id), 'App', 'unknown');
    const AccessRequestID = await provision(app, body, services);
    return { ...okMessage('provision'), AccessRequestID };
  },
});

export const appOperations = [listApps, createApp, getApp, updateApp, deleteApp, provisionApp];

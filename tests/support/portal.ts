import assert from 'node:assert/strict';
import { createPublicId } from '#base/ids.ts';
import type { TestApp } from './app.ts';

/** What tests of the portal begin with, made through the product's own interfaces. */

export const portalTimePattern = /^\d{4}-\d\d-\d\d \d\d:\d\d$/;

type Members = Record<string, unknown>;

/** Sends a management request and asserts its status. */
export async function requestPortal(app: TestApp, method: string, path: string, body?: unknown, status = 200) {
  const answer = await app.ask(method, path, body === undefined ? {} : { body });
  assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
  return answer.body;
}

/** A classic API of the default organisation, known by keys. */
export async function addApi(app: TestApp, name = `api-${createPublicId()}`, more: Members = {}): Promise<string> {
  const proxy = { listen_path: `/${name}/`, target_url: 'http://127.0.0.1:9/' };
  const body = { api_definition: { name, active: true, proxy, use_standard_auth: true, ...more } };
  return (await requestPortal(app, 'POST', '/api/apis', body)).ID;
}

/** The provider made at first start. */
export const localProvider = 1;

export async function addProduct(app: TestApp, more: Members = {}) {
  const APIDetails = more.APIDetails ?? [{ APIID: await addApi(app) }];
  const body = {
    Name: `product-${createPublicId()}`,
    ProviderID: localProvider,
    IsDocumentationOnly: false,
    ...more,
    APIDetails,
  };
  return requestPortal(app, 'POST', '/portal-api/products', body, 201);
}

export const addPlan = (app: TestApp, more: Members = {}) =>
  requestPortal(app, 'POST', '/portal-api/plans', {
    Name: `plan-${createPublicId()}`,
    ProviderID: localProvider,
    ...more,
  });

export const addDeveloper = (app: TestApp, more: Members = {}) =>
  requestPortal(app, 'POST', '/portal-api/users', {
    Email: `d-${createPublicId()}@example.org`,
    First: 'Dev',
    Last: 'El',
    ...more,
  });

export async function addApp(app: TestApp, more: Members = {}) {
  const UserID = more.UserID ?? (await addDeveloper(app)).ID;
  return requestPortal(app, 'POST', '/portal-api/apps', { Name: `app-${createPublicId()}`, ...more, UserID });
}

/** An app with an access request, approved by default. */
export async function addAccessRequest(app: TestApp, more: { plan?: Members; app?: Members; pending?: boolean } = {}) {
  const product = await addProduct(app);
  const plan = await addPlan(app, more.plan);
  const owner = await addApp(app, more.app);
  const body = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: !more.pending };
  const { AccessRequestID } = await requestPortal(app, 'PUT', `/portal-api/apps/${owner.ID}/provision`, body);
  return { product, plan, app: owner, requestId: AccessRequestID as number };
}

/** A multipart form with one file, as browsers send it. */
export function toFileForm(content: string | Uint8Array<ArrayBuffer>, name = 'upload'): FormData {
  const form = new FormData();
  form.append('file', new Blob([content]), name);
  return form;
}

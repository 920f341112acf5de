import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { addApi, addPlan, addProduct, toFileForm } from '../support/portal.ts';
import { addSiteDeveloper, type Developer, testPortalSite } from '../support/portal-site.ts';
import { waitUntilApplied } from '../support/traffic.ts';

const document = {
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1' },
  paths: {
    '/orders': {
      get: { operationId: 'listOrders', summary: 'Lists orders', responses: { 200: { description: 'all' } } },
    },
  },
};

describe('Apps of the portal', () => {
  const site = testPortalSite();
  let product: { ID: number; Path: string };
  let apiId: string;
  let developer: Developer;
  before(async () => {
    const app = site.app();
    apiId = await addApi(app, 'orders');
    product = await addProduct(app, { DisplayName: 'Orders', APIDetails: [{ APIID: apiId }], Catalogues: [1] });
    await app.ask('POST', `/portal-api/products/${product.ID}/api-details/${apiId}/oas`, {
      body: toFileForm(JSON.stringify(document)),
    });
    await addPlan(app, { DisplayName: 'Instant', AutoApproveAccessRequests: true, Catalogues: [1] });
    await addPlan(app, { DisplayName: 'Manual', Catalogues: [1] });
    developer = await addSiteDeveloper(app);
  });

  test('a visitor chooses a plan, signs in, and is back at this choice; the key is shown once and works', async () => {
    const page = await site.open(`/portal/catalogue-products/${product.Path}`, { withoutScript: true });
    const plan = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Instant' }) });
    await plan.getByRole('link', { name: 'Access with this plan' }).click();
    await page.getByLabel('E-mail address').fill(developer.Email);
    await page.getByLabel('Password', { exact: true }).fill(developer.Password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Request access' }).waitFor();
    await page.getByLabel('Name of the app').fill('Shop');
    await page.getByRole('button', { name: 'Get access' }).click();
    const key = await page.locator('.secret > code').innerText();
    await waitUntilApplied(site.app());
    const send = (authorization: string) => fetch(`${site.app().url.gateway}/orders/`, { headers: { authorization } });
    assert.notEqual((await send(key)).status, 403);
    assert.equal((await send('wrong')).status, 403);
    await page.getByRole('link', { name: 'My apps' }).first().click();
    await page.getByRole('link', { name: 'Shop' }).click();
    await page.getByRole('heading', { level: 1, name: 'Shop' }).waitFor();
    assert.ok(!(await page.content()).includes(key));
    await page.locator('details.confirm > summary').click();
    await page.getByRole('button', { name: /^Revoke (key|client)$/ }).click();
    await page.getByText('The credential was revoked').waitFor();
    await waitUntilApplied(site.app());
    assert.equal((await send(key)).status, 403);
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertAccessible } from '../support/dashboard-app.ts';
import { addApi, addPlan, addProduct, toFileForm } from '../support/portal.ts';
import { addSiteDeveloper, testPortalSite } from '../support/portal-site.ts';
import { eventually, waitUntilApplied } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const document = {
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1' },
  paths: {
    '/orders/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' }, example: '7' }],
      get: { operationId: 'getOrder', summary: 'Reads an order', responses: { 200: { description: 'the order' } } },
    },
  },
};

describe('Flows of the portal', () => {
  const site = testPortalSite();
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream?.close());

  /** A product with one API and its reference, and a plan for it. */
  async function offer(name: string, plan: Record<string, unknown>) {
    const app = site.app();
    const proxy = { listen_path: `/${name}/`, target_url: upstream.url };
    const APIID = await addApi(app, name, { proxy });
    const product = await addProduct(app, { DisplayName: name, APIDetails: [{ APIID }], Catalogues: [1] });
    const path = `/portal-api/products/${product.ID}/api-details/${APIID}/oas`;
    await app.ask('POST', path, { body: toFileForm(JSON.stringify(document)) });
    await addPlan(app, { DisplayName: `${name} plan`, Catalogues: [1], ...plan });
    return `/portal/catalogue-products/${product.Path}`;
  }

  test('instant access: the plan gives a key at once, try-it responds with 200, and usage shows the call', async () => {
    const url = await offer('instant', { AutoApproveAccessRequests: true, RateLimit: 50, Per: 60 });
    const developer = await addSiteDeveloper(site.app());
    const page = await site.openAs(developer, url);
    await page.getByRole('link', { name: 'Access with this plan' }).first().click();
    await page.getByLabel('Name of the app').fill('Shop');
    await page.getByRole('button', { name: 'Get access' }).click();
    const key = await page.locator('.secret > code').innerText();
    await waitUntilApplied(site.app());
    await page.goto(site.app().url.portal + url);
    await page.getByRole('link', { name: 'Reference' }).click();
    await page.getByRole('link', { name: /orders/ }).click();
    assert.match(await page.getByLabel('Credential').innerText(), /^Shop · instant plan/);
    await page.getByLabel('id (path)').fill('42');
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByText('200 OK').waitFor();
    await page.getByText('/orders/42').first().waitFor();
    assert.ok(!(await page.content()).includes(key), 'the page has no key');
    assert.equal(upstream.requests.at(-1)!.headers.authorization, key);
    await assertAccessible(page, 'operation with a result');
    await page.getByLabel('Credential').selectOption('None');
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByText('The API needs a credential').waitFor();
    await eventually(async () => {
      await page.goto(`${site.app().url.portal}/portal/private/analytics`);
      assert.match(await page.locator('main').innerText(), /1 call\b/);
    });
  });
});

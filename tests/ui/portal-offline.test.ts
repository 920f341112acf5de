import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { addApi, addApp, addPlan, addProduct, requestPortal, toFileForm } from '../support/portal.ts';
import { testPortalAdmin } from '../support/portal-admin.ts';
import { addSiteDeveloper, type Developer } from '../support/portal-site.ts';
import { waitUntilApplied } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const spec = {
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1' },
  paths: { '/orders': { get: { operationId: 'listOrders', responses: {} } } },
};
/** Many pages on a machine that does other things. */
const walkTimeoutMs = 600_000;
const schema = 'type Query { hello(name: String): String }';

/**
 * Acceptance flow T60. Pages of this file fail it for a request to another host, which is blocked, and for a violation
 * of the content policy, which Chromium reports as an error of the console.
 */
describe('Portal without other hosts', () => {
  const portal = testPortalAdmin();
  let upstream: Upstream;
  let developer: Developer;
  let product: { ID: number; Path: string };
  let appId: number;
  let ids: { readonly rest: string; readonly graph: string };
  const ask = (method: string, path: string, body?: unknown, status?: number) =>
    requestPortal(portal.app(), method, `/portal-api${path}`, body, status);
  before(async () => {
    upstream = await startUpstream();
    upstream.answer = (_request, response) =>
      void response.setHeader('content-type', 'application/json').end('{"data":{"hello":"you"}}');
    const app = portal.app();
    const proxy = (name: string) => ({ listen_path: `/${name}/`, target_url: upstream.url, strip_listen_path: true });
    const graphql = { enabled: true, execution_mode: 'proxyOnly', version: '2', schema };
    ids = {
      rest: await addApi(app, 'rest', { proxy: proxy('rest') }),
      graph: await addApi(app, 'graph', { proxy: proxy('graph'), graphql }),
    };
    const APIDetails = [{ APIID: ids.rest }, { APIID: ids.graph }];
    product = await addProduct(app, { DisplayName: 'Orders', APIDetails, Catalogues: [1], Content: '## Orders' });
    const upload = async (path: string, document: string) => {
      const { status, text } = await app.ask('POST', `/portal-api/products/${product.ID}/api-details/${path}`, {
        body: toFileForm(document),
      });
      assert.ok(status < 300, text);
    };
    await upload(`${ids.rest}/oas`, JSON.stringify(spec));
    await upload(`${ids.graph}/graphql/schema`, schema);
    const doc = { Title: 'First call', Content: 'x', Status: 'published', Path: 'first-call' };
    await ask('POST', `/products/${product.ID}/docs`, doc, 201);
    await ask('POST', `/products/${product.ID}/changelog`, { Kind: 'added', Headline: 'Orders' }, 201);
    await ask('POST', '/posts', { Title: 'News', Content: 'x', Status: 'published', Path: 'news' }, 201);
    await ask('POST', '/pages/1/content-blocks', { Name: 'Help', Content: 'x' });
    developer = await addSiteDeveloper(app);
    ({ ID: appId } = await addApp(app, { UserID: developer.ID }));
    const { ID: PlanID } = await addPlan(app, { Catalogues: [1] });
    await ask('PUT', `/apps/${appId}/provision`, { PlanID, ProductIDs: [product.ID], ProvisionImmediately: true });
    await waitUntilApplied(app);
  });
  after(() => upstream?.close());

  const productPath = () => `/portal/catalogue-products/${product.Path}`;
  async function walk(page: Page, paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      const response = await page.goto(portal.app().url.portal + path);
      assert.equal(response?.status(), 200, path);
      await page.locator('h1').first().waitFor();
    }
  }

  const listPublicPages = () => [
    ...['/', '/about-us', '/portal/catalogue-products', '/blog', '/search?q=orders'],
    ...['', '/guides', '/changelog', `/${ids.rest}/docs`].map(it => productPath() + it),
  ];

  test('every page of visitors is complete', { timeout: walkTimeoutMs }, async () =>
    walk(await portal.open('/auth/password/login'), listPublicPages()),
  );

  test('every page of developers is complete', { timeout: walkTimeoutMs }, async () => {
    const own = ['apps', 'apps/new', `apps/${appId}`, 'analytics', 'users', 'notifications', 'profile', 'organisation'];
    await walk(await portal.openAs(developer, '/'), [
      `${productPath()}/${ids.rest}/docs/listorders`,
      ...own.map(it => `/portal/private/${it}`),
    ]);
  });

  test('an operation is called from the reference, and a query from the playground', {
    timeout: walkTimeoutMs,
  }, async () => {
    const page = await portal.openAs(developer, `${productPath()}/${ids.rest}/docs/listorders`);
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByText('200 OK').waitFor();
    await page.goto(`${portal.app().url.portal}${productPath()}/${ids.graph}/docs`);
    await page.getByText('type Query').waitFor();
    await page.getByLabel('Query').fill('query ($n: String) { hello(name: $n) }');
    await page.getByLabel('Variables (JSON)').fill('{"n": "me"}');
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByText('200 OK').waitFor();
    await page.getByText('"hello":"you"').waitFor();
  });

  test('the editors of the admin app load, take text and save it', { timeout: walkTimeoutMs }, async () => {
    const page = await portal.openAs(await portal.anAdmin(), '/admin/pages/1');
    const block = page.getByLabel(/^Content of /).first();
    await block.fill('Build **offline**.');
    await page
      .getByRole('button', { name: /^Save block / })
      .first()
      .click();
    await page.getByText(/The block .* was saved/).waitFor();
    const go = (path: string) => page.goto(portal.app().url.portal + path);
    await go('/admin/posts/new');
    await page.getByLabel('Title (required)').fill('Offline');
    await page.getByLabel('Path (required)').fill('offline');
    await page.getByLabel('Text (required)').fill('## Offline');
    await page.getByRole('button', { name: 'Create post' }).click();
    await page.getByRole('heading', { level: 1, name: 'Offline' }).waitFor();
    await go('/admin/emails/approve');
    await page.getByLabel('Subject').fill('Yes, {{.user.First}}');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText(/^Yes, \w+/).waitFor();
    await page.frameLocator('iframe[title="Mail as HTML"]').locator('body').waitFor();
    await go('/admin/terms/new');
    await page.getByLabel('Version (required)').fill('offline-1');
    await page.getByLabel('Terms of').selectOption('Orders');
    await page.getByLabel('Text in Markdown (required)').fill('## Terms');
    await page.getByRole('button', { name: 'Create version' }).click();
    await page.getByRole('heading', { level: 1, name: 'offline-1' }).waitFor();
    const [terms] = await ask('GET', '/terms');
    assert.deepEqual([terms.Version, terms.ProductID], ['offline-1', product.ID]);
    await walk(page, [
      `/admin/api_products/${product.ID}`,
      `/admin/api_products/${product.ID}?tab=documentation`,
      '/admin/menus/new',
      '/admin/themes',
      '/admin/sso_profiles/new',
      '/admin/configuration',
    ]);
  });
});

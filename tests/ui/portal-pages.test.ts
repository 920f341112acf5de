import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { addPlan, addProduct, requestPortal, toFileForm } from '../support/portal.ts';
import { testPortalSite } from '../support/portal-site.ts';

const hostile = [
  '# Orders',
  '',
  '| Field | Meaning |\n|---|---|\n| id | number |',
  '',
  '- [x] documented',
  '',
  '<script>window.injected = 1</script><img src=x onerror="window.injected = 1">',
  '<a href="java&#115;cript:window.injected=1">evil link</a> [evil too](javascript:window.injected=1)',
  '<svg><script>window.injected = 1</script></svg><iframe srcdoc="<script>parent.injected=1</script>"></iframe>',
].join('\n');

describe('Pages of the portal', () => {
  const site = testPortalSite({ settings: { 'portal.name': 'Acme APIs', 'portal.accent_color': '#0a7d4f' } });
  let product: { ID: number; Path: string };
  let secret: { ID: number; Path: string };
  before(async () => {
    const app = site.app();
    product = await addProduct(app, {
      Name: 'orders product',
      DisplayName: 'Orders',
      Description: 'Read and create orders of the shop.',
      Content: hostile,
      Feature: true,
      Tags: ['shop'],
    });
    secret = await addProduct(app, { Name: 'secret product', DisplayName: 'Hidden offer' });
    const plan = await addPlan(app, {
      Name: 'gold',
      DisplayName: 'Gold',
      RateLimit: 25,
      Per: 3600,
      Quota: 1000,
      QuotaRenewalRate: 86_400,
    });
    await requestPortal(app, 'PUT', '/portal-api/catalogues/1', { Products: [product.ID], Plans: [plan.ID] });
    await requestPortal(app, 'PUT', '/portal-api/catalogues/2', { Products: [secret.ID], Plans: [plan.ID] });
    const post = {
      Title: 'New orders',
      Lede: 'They are fast',
      Content: '<p>Yes</p>',
      Status: 'published',
      Path: 'new-orders',
      Categories: ['Releases'],
    };
    await requestPortal(app, 'POST', '/portal-api/posts', post, 201);
    await requestPortal(
      app,
      'POST',
      '/portal-api/posts',
      { ...post, Title: 'A draft', Status: 'draft', Path: 'draft' },
      201,
    );
    const doc = {
      Title: 'First call',
      Content: 'x',
      MarkdownEnabled: true,
      MarkdownContent: '## Use a key\n\n`curl`',
      Status: 'published',
      Path: 'first-call',
    };
    await requestPortal(app, 'POST', `/portal-api/products/${product.ID}/docs`, doc, 201);
    const Children = [{ Title: 'Releases', Path: '/blog/category/Releases' }];
    const Items = [
      { Title: 'Products', Path: '/portal/catalogue-products' },
      { Title: 'Blog', Path: '/blog', Children },
    ];
    for (const Path of ['Primary', 'Footer'])
      await requestPortal(app, 'POST', '/portal-api/menus', { Name: Path, Path, Items }, 201);
  });

  const productPath = () => `/portal/catalogue-products/${product.Path}`;
  test('reference and schema are complete while every other host is blocked', async () => {
    const spec = { openapi: '3.0.3', info: { title: 'Orders', version: '1' }, paths: { '/orders': { get: {} } } };
    const upload = async (alias: string, document: string, method: string, path: string) => {
      const specs = `/portal-api/products/${product.ID}/spec-details`;
      const { ID } = await requestPortal(site.app(), 'POST', specs, { SpecAlias: alias }, 201);
      const answer = await site.app().ask(method, `${specs}/${ID}/${path}`, { body: toFileForm(document, alias) });
      assert.equal(answer.status, 200, answer.text);
    };
    await upload('rest', JSON.stringify(spec), 'POST', 'oas');
    await upload('graph', 'type Query { orders: [String!]! }', 'PUT', 'graphql/schema');
    const page = await site.open(`${productPath()}/rest/docs`);
    await page.getByText('/orders').first().waitFor();
    await page.goto(`${site.app().url.portal}${productPath()}/graph/docs`);
    await page.getByText('type Query').first().waitFor();
  });

  test('a visitor finds a public product by search without script, and reads its plans', async () => {
    const page = await site.open('/portal/catalogue-products', { withoutScript: true });
    await page.getByLabel('Search', { exact: true }).fill('create ORDERS');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('link', { name: 'Orders' }).click();
    const plan = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Gold' }) });
    assert.match(await plan.innerText(), /25 calls an hour\s+1,000 calls a day\s+Keys do not expire\s+Needs approval/);
  });

  test('content of administrators runs no script, and keeps tables and lists', async () => {
    const page = await site.open(productPath());
    await page.getByRole('heading', { name: 'Orders', level: 2 }).waitFor();
    assert.equal(await page.getByRole('cell', { name: 'number' }).count(), 1);
    assert.equal(await page.evaluate('window.injected'), undefined);
    const text = await page.locator('main').innerHTML();
    assert.doesNotMatch(text, /<script|onerror|javascript:|srcdoc|<svg|<iframe/i);
    assert.match(text, /evil link/);
  });

  test('a product of a private catalogue is absent for visitors: page, image, lists, search', async () => {
    const { url } = site.app();
    for (const path of ['', '/guides', '/image', '/docs']) {
      const response = await fetch(`${url.portal}/portal/catalogue-products/${secret.Path}${path}`);
      assert.equal(response.status, 404, path);
    }
    for (const path of ['/', '/portal/catalogue-products', '/portal/catalogue-products?q=hidden'])
      assert.doesNotMatch(await (await fetch(url.portal + path)).text(), /Hidden offer/);
    const draft = await fetch(`${url.portal}/blog`);
    assert.doesNotMatch(await draft.text(), /A draft/);
  });

  test('documents have a strict policy and are not stored; assets are immutable', async () => {
    const { url } = site.app();
    const response = await fetch(url.portal);
    const policy = response.headers.get('content-security-policy')!;
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    assert.equal(response.headers.get('cache-control'), 'no-store');
    const text = await response.text();
    assert.doesNotMatch(text, /<style| style=| on[a-z]+=|<script>/);
    for (const [, path] of text.matchAll(/(?:href|src)="(\/site\/[^"]+)"/g)) {
      const asset = await fetch(`${url.portal}${String(path)}`);
      assert.equal(asset.status, 200, String(path));
      assert.equal(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    }
    assert.match(text, /<meta name="robots" content="noindex">/);
  });
});

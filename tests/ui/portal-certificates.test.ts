import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { makeClientCertificate } from '../support/certificates.ts';
import { assertAccessible } from '../support/dashboard-app.ts';
import { addApi, addPlan, addProduct, requestPortal } from '../support/portal.ts';
import { testPortalAdmin } from '../support/portal-admin.ts';
import { addSiteDeveloper } from '../support/portal-site.ts';
import { createTlsGateway } from '../support/tls-gateway.ts';
import { eventually, waitUntilApplied } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const gateway = createTlsGateway();
after(gateway.remove);

describe('Client certificates on the portal site', () => {
  const site = testPortalAdmin({ settings: gateway.settings });
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream?.close());

  const toFile = (name: string, text: string) => ({
    name,
    mimeType: 'application/x-pem-file',
    buffer: Buffer.from(text),
  });

  test('an uploaded certificate with the key passes, another is 403, a replacement works, and detaching ends access', async () => {
    const app = site.app();
    const APIID = await addApi(app, 'orders', {
      proxy: { listen_path: '/orders/', target_url: upstream.url, strip_listen_path: true },
      use_mutual_tls_auth: true,
    });
    const product = await addProduct(app, { DisplayName: 'Orders', APIDetails: [{ APIID }], Catalogues: [1] });
    await addPlan(app, { DisplayName: 'Gold', AutoApproveAccessRequests: true, Catalogues: [1] });
    const [own, next, other] = ['own', 'next', 'other'].map(cn => makeClientCertificate(gateway.authority, cn));
    const page = await site.openAs(await addSiteDeveloper(app), `/portal/catalogue-products/${product.Path}`);
    await page.getByText('API key and client certificate').first().waitFor();
    await page.getByRole('link', { name: 'Access with this plan' }).click();
    await page.getByRole('heading', { name: '3. Client certificate' }).waitFor();
    await assertAccessible(page, 'request with a certificate');
    await page.getByLabel('Name of the app').fill('Shop');
    await page.getByLabel('Certificate (PEM)').fill(own!.certPem + own!.keyPem);
    await page.getByRole('button', { name: 'Get access' }).click();
    await page.getByText('has a private key, which was not stored').waitFor();
    assert.ok(!(await page.content()).includes('PRIVATE KEY'), 'the key is not sent back');
    await page.getByLabel('or a file with it').setInputFiles(toFile('own.crt', own!.certPem));
    await eventually(async () => assert.match(await page.getByLabel('Certificate (PEM)').inputValue(), /BEGIN/));
    await page.getByRole('button', { name: 'Get access' }).click();
    const key = await page.locator('.secret > code').innerText();
    await page.getByText('--cert client.crt').waitFor();
    const statusOf = async (client: typeof own, sent = key) => {
      await waitUntilApplied(app);
      return gateway.call(`${app.url.gateway}/orders/`, client, sent === '' ? {} : { authorization: sent });
    };
    assert.deepEqual(
      [await statusOf(own), await statusOf(own, ''), await statusOf(other), await statusOf(undefined)],
      [200, 401, 403, 403],
    );

    const appUrl = page.getByRole('link', { name: 'Edit app' });
    await page.goto(app.url.portal + (await appUrl.getAttribute('href'))!.replace('/edit', ''));
    await page.getByText('Attach another certificate').click();
    await page.getByLabel('Certificate (PEM)').fill(next!.certPem);
    await page.getByLabel('Name of the certificate').fill('Next year');
    await page.getByRole('button', { name: 'Attach certificate' }).click();
    await page.getByText('Next year').waitFor();
    await assertAccessible(page, 'app with certificates');
    assert.deepEqual([await statusOf(own), await statusOf(next)], [200, 200]);
    await page.getByRole('button', { name: 'Detach own' }).click();
    await page.getByRole('button', { name: 'Detach own' }).waitFor({ state: 'detached' });
    assert.deepEqual([await statusOf(own), await statusOf(next)], [403, 200]);

    await page.getByRole('link', { name: 'Certificates' }).click();
    await page.getByRole('heading', { name: 'Client certificates' }).waitFor();
    await assertAccessible(page, 'certificates of an app');
    await page.getByText('Attached to a credential').waitFor();
    await page.getByRole('button', { name: 'Delete own' }).click();
    await page.getByRole('button', { name: 'Delete own' }).waitFor({ state: 'detached' });
    await page.getByText('Next year').waitFor();
    await page.getByRole('link', { name: 'Shop' }).click();
    await page.getByRole('button', { name: 'Detach Next year' }).click();
    await page.getByText('None: calls are refused until one is attached.').waitFor();
    assert.equal(await statusOf(next), 403);

    await page.goto(`${app.url.portal}/portal/catalogue-products/${product.Path}`);
    await page.getByRole('link', { name: 'Access with this plan' }).click();
    await page.getByLabel('Certificate', { exact: true }).selectOption({ index: 0 });
    await page.getByRole('button', { name: 'Get access' }).click();
    const again = await page.locator('.secret > code').innerText();
    assert.equal(await statusOf(next, again), 200);
    await page.locator('details.confirm > summary').last().click();
    await page.getByRole('button', { name: /^Revoke (key|access)$/ }).click();
    await page.getByText('The credential was revoked').first().waitFor();
  });

  test('one request has two products with certificates: one key and certificate pass at both, another is 403', async () => {
    const app = site.app();
    const offer = async (name: string) => {
      const proxy = { listen_path: `/${name}/`, target_url: upstream.url, strip_listen_path: true };
      const APIID = await addApi(app, name, { proxy, use_mutual_tls_auth: true });
      return addProduct(app, { DisplayName: name, APIDetails: [{ APIID }], Catalogues: [1] });
    };
    const [east] = [await offer('east'), await offer('west')];
    await addPlan(app, { DisplayName: 'Pair', AutoApproveAccessRequests: true, Catalogues: [1] });
    const [own, other] = ['pair', 'foreign'].map(cn => makeClientCertificate(gateway.authority, cn));
    const page = await site.openAs(await addSiteDeveloper(app), `/portal/catalogue-products/${east.Path}`);
    const plan = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Pair' }) });
    await plan.getByRole('link', { name: 'Access with this plan' }).click();
    await page.getByLabel('Add another product to this request').selectOption('west');
    await page.getByRole('button', { name: 'Add product' }).click();
    await page.getByRole('link', { name: 'Remove west' }).waitFor();
    await page.getByLabel('Name of the app').fill('Compass');
    await page.getByLabel('Certificate (PEM)').fill(own!.certPem);
    await page.getByRole('button', { name: 'Get access' }).click();
    const key = await page.locator('.secret > code').innerText();
    const statusOf = async (name: string, client: typeof own) => {
      await waitUntilApplied(app);
      return gateway.call(`${app.url.gateway}/${name}/`, client, { authorization: key });
    };
    assert.deepEqual([await statusOf('east', own), await statusOf('west', own)], [200, 200]);
    assert.deepEqual([await statusOf('east', other), await statusOf('west', other)], [403, 403]);
  });

  test('an assigned certificate is bound by the approval of a request without one: it passes, another is 403', async () => {
    const app = site.app();
    const APIID = await addApi(app, 'stock', {
      proxy: { listen_path: '/stock/', target_url: upstream.url, strip_listen_path: true },
      use_mutual_tls_auth: true,
    });
    const product = await addProduct(app, { DisplayName: 'Stock', APIDetails: [{ APIID }], Catalogues: [1] });
    await addPlan(app, { DisplayName: 'Silver', Catalogues: [1] });
    const organisation = await requestPortal(app, 'POST', '/portal-api/organisations', { Name: 'Acme' });
    const [assigned, other] = ['assigned', 'stranger'].map(cn => makeClientCertificate(gateway.authority, cn));
    const admin = await site.openAs(await site.anAdmin(), `/admin/organisations/${organisation.ID}`);
    await admin.getByRole('button', { name: 'Assign certificate' }).click();
    const dialog = admin.getByRole('dialog', { name: 'Assign certificate' });
    await dialog.getByLabel('Certificate (PEM)').fill(assigned!.certPem + assigned!.keyPem);
    await dialog.getByRole('button', { name: 'Assign certificate' }).click();
    await dialog.getByText('has a private key').waitFor();
    await dialog.getByLabel('Certificate (PEM)').fill(assigned!.certPem);
    await assertAccessible(admin, 'assignment of a certificate');
    await dialog.getByRole('button', { name: 'Assign certificate' }).click();
    await admin.getByRole('button', { name: 'Withdraw certificate assigned' }).waitFor();

    const developer = await addSiteDeveloper(app, { OrganisationID: organisation.ID });
    const page = await site.openAs(developer, `/portal/catalogue-products/${product.Path}`);
    const plan = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Silver' }) });
    await plan.getByRole('link', { name: 'Access with this plan' }).click();
    await page.getByText('Administrators of the portal manage the certificates of your organisation').waitFor();
    assert.equal(await page.getByLabel('Certificate (PEM)').count(), 0);
    await page.getByLabel('Name of the app').fill('Depot');
    await page.getByRole('button', { name: 'Request access' }).click();
    await page.getByRole('heading', { level: 1, name: 'Depot' }).waitFor();

    await admin.goto(`${app.url.portal}/admin/access_requests`);
    await admin.getByRole('link', { name: /Depot/ }).click();
    await admin.getByRole('button', { name: 'Approve request' }).click();
    await admin.getByText('1 request was approved').waitFor();
    await page.reload();
    await page.getByRole('button', { name: /^Show key/ }).click();
    const key = await page.locator('.secret > code').innerText();
    const statusOf = async (client: typeof assigned) => {
      await waitUntilApplied(app);
      return gateway.call(`${app.url.gateway}/stock/`, client, { authorization: key });
    };
    assert.deepEqual([await statusOf(assigned), await statusOf(other)], [200, 403]);
    assert.equal(await page.getByText('Attach another certificate').count(), 0);
  });
});

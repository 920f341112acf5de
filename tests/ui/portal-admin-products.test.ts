import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertAccessible } from '../support/dashboard-app.ts';
import { addApi, addProduct, requestPortal, toFileForm } from '../support/portal.ts';
import { testPortalAdmin } from '../support/portal-admin.ts';
import type { Developer } from '../support/portal-site.ts';
import { createSiteClient } from '../support/site-client.ts';
import { eventually } from '../support/traffic.ts';

describe('Portal admin: parts of a product, settings, profile', () => {
  const portal = testPortalAdmin();
  let admin: Developer;
  before(async () => {
    admin = await portal.anAdmin();
  });
  const ask = (method: string, path: string, body?: unknown, status?: number) =>
    requestPortal(portal.app(), method, `/portal-api${path}`, body, status);

  test('an entry of the changelog is added, shown on the site, changed and deleted; a refused one names the reason', async () => {
    const product = await addProduct(portal.app(), { DisplayName: 'Orders', Catalogues: [1] });
    const readSite = async () =>
      (await createSiteClient(portal.app()).get(`/portal/catalogue-products/${product.Path}/changelog`)).text;
    const page = await portal.openAs(admin, `/admin/api_products/${product.ID}?tab=changelog`);
    await page.getByText('The changelog has no entries.').waitFor();
    await page.getByRole('button', { name: 'Add entry' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add entry' });
    await dialog.getByLabel('Kind').selectOption('Fixed');
    await dialog.getByLabel('Headline').fill('Orders are sorted');
    await dialog.getByLabel('Time of the release').fill('tomorrow');
    await dialog.getByRole('button', { name: 'Add entry' }).click();
    await dialog.getByText(/ReleasedAt/).waitFor();
    await dialog.getByLabel('Time of the release').fill('2030-01-31 12:00');
    await dialog.getByLabel('Version').fill('1.1');
    await assertAccessible(page, 'new entry of a changelog');
    await dialog.getByRole('button', { name: 'Add entry' }).click();
    await page.getByText('1.1 · 2030-01-31 12:00').waitFor();
    assert.match(await readSite(), /Orders are sorted/);
    await page.getByRole('button', { name: 'Change Orders are sorted' }).click();
    const change = page.getByRole('dialog', { name: 'Change entry' });
    await change.getByLabel('Headline').fill('Orders are sorted by date');
    await change.getByRole('button', { name: 'Save entry' }).click();
    await page.getByText('Orders are sorted by date').waitFor();
    await page.getByRole('button', { name: 'Delete Orders are sorted by date' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete Orders are sorted by date' }).click();
    await page.getByText('The changelog has no entries.').waitFor();
    assert.doesNotMatch(await readSite(), /Orders are sorted/);
  });

  test('guides and references of a product are added, ordered and uploaded, and the site has them', async () => {
    const product = await addProduct(portal.app(), { DisplayName: 'Reading', Catalogues: [1] });
    const page = await portal.openAs(admin, `/admin/api_products/${product.ID}?tab=documentation`);
    for (const [title, path] of [
      ['First call', 'first-call'],
      ['Errors', 'errors'],
    ] as const) {
      await page.getByRole('button', { name: 'Add guide' }).click();
      const dialog = page.getByRole('dialog', { name: 'Add guide' });
      await dialog.getByLabel('Title').fill(title);
      await dialog.getByLabel('Path').fill(path);
      await dialog.getByLabel('Text (Markdown)').fill(`# ${title}`);
      await dialog.getByRole('button', { name: 'Add guide' }).click();
      await page.getByRole('button', { name: `Change ${title}` }).waitFor();
    }
    const order = async () =>
      (await ask('GET', `/products/${product.ID}/docs`)).map(({ Title }: { Title: string }) => Title);
    await page.getByRole('button', { name: 'Move Errors up' }).click();
    await eventually(async () => assert.deepEqual(await order(), ['Errors', 'First call']));
    await page.getByRole('button', { name: 'Delete guide Errors' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete guide Errors' }).click();
    await page.getByText('Errors', { exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Add specification' }).click();
    const added = page.getByRole('dialog', { name: 'Add specification' });
    await added.getByLabel('Name').fill('Version 2');
    await added.getByLabel('Alias').fill('v2');
    await added.getByRole('button', { name: 'Add specification' }).click();
    await page.getByRole('button', { name: 'Upload document of Version 2' }).click();
    const upload = page.getByRole('dialog', { name: 'Upload document of Version 2' });
    const choose = (text: string) =>
      upload
        .getByLabel('File')
        .setInputFiles({ name: 'v2.json', mimeType: 'application/json', buffer: Buffer.from(text) });
    await choose('{');
    await upload.getByRole('button', { name: 'Upload document' }).click();
    await upload.getByRole('alert').waitFor();
    await choose(JSON.stringify({ openapi: '3.0.3', info: { title: 'Orders', version: '2' }, paths: {} }));
    await upload.getByRole('button', { name: 'Upload document' }).click();
    await page.getByText('The document of Version 2 was uploaded').waitFor();
    await assertAccessible(page, 'documentation of a product');
    const [spec] = (await ask('GET', `/products/${product.ID}`)).SpecDetails;
    const { text } = await portal.app().ask('GET', `/portal-api/products/${product.ID}/spec-details/${spec.ID}/oas`);
    assert.match(text, /"version":"2"/);
  });

  test('tags and images of a product are saved in its form and shown by the site; a text as image is refused', async () => {
    const product = await addProduct(portal.app(), { DisplayName: 'Pictures', Catalogues: [1] });
    const page = await portal.openAs(admin, `/admin/api_products/${product.ID}`);
    await page.getByLabel('Tags').fill('billing\npartners');
    await page.getByRole('button', { name: 'Save product' }).click();
    await page.getByText('Pictures was saved').waitFor();
    await page.getByRole('button', { name: 'Upload preview' }).click();
    const dialog = page.getByRole('dialog', { name: 'Upload preview' });
    await dialog.getByRole('button', { name: 'Upload image' }).click();
    await dialog.getByText('Choose a file first').waitFor();
    const choose = (buffer: Buffer) =>
      dialog.getByLabel('Image file').setInputFiles({ name: 'card.gif', mimeType: 'image/gif', buffer });
    await choose(Buffer.from('no image'));
    await dialog.getByRole('button', { name: 'Upload image' }).click();
    await dialog.getByText(/must be a PNG, JPEG, GIF or WebP image/).waitFor();
    await choose(Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'));
    await dialog.getByRole('button', { name: 'Upload image' }).click();
    const image = page.getByRole('img', { name: 'Preview' });
    await image.waitFor();
    await eventually(async () =>
      assert.equal(await image.evaluate(it => (it as unknown as { naturalWidth: number }).naturalWidth), 1),
    );
    await assertAccessible(page, 'images of a product');
    const saved = await ask('GET', `/products/${product.ID}`);
    assert.deepEqual([saved.Tags.sort(), saved.Logo], [['billing', 'partners'], '']);
    assert.match((await createSiteClient(portal.app()).get('/portal/catalogue-products')).text, /billing/);
    await page.getByRole('button', { name: 'Remove preview' }).click();
    await image.waitFor({ state: 'detached' });
    assert.equal((await ask('GET', `/products/${product.ID}`)).Preview, '');
  });

  test('a changed document proposes an entry of the changelog, which is published with another headline or dropped', async () => {
    const APIID = await addApi(portal.app());
    const product = await addProduct(portal.app(), { APIDetails: [{ APIID }], Catalogues: [1] });
    for (const names of [['/a'], ['/a', '/b'], ['/b']]) {
      const paths = Object.fromEntries(names.map(name => [name, { get: { responses: {} } }]));
      const document = JSON.stringify({ openapi: '3.0.3', info: { title: 'T', version: '1' }, paths });
      const path = `/portal-api/products/${product.ID}/api-details/${APIID}/oas`;
      assert.equal((await portal.app().ask('POST', path, { body: toFileForm(document) })).status, 200);
    }
    const page = await portal.openAs(admin, `/admin/api_products/${product.ID}?tab=changelog`);
    await page.getByText('GET /a').waitFor();
    await assertAccessible(page, 'proposed entries of a changelog');
    await page.getByRole('button', { name: 'Drop 1 operation removed' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Drop 1 operation removed' }).click();
    await page.getByText('GET /a').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Publish 1 operation added' }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish entry' });
    await dialog.getByLabel('Headline').fill('B is new');
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('button', { name: 'Change B is new' }).waitFor();
    await page.getByText('Proposed entries').waitFor({ state: 'detached' });
    const site = await createSiteClient(portal.app()).get(`/portal/catalogue-products/${product.Path}/changelog`);
    assert.match(site.text, /B is new/);
  });

  test('general settings are set and reset, those of the process have their source; the profile of the administrator changes the name', async () => {
    const page = await portal.openAs(admin, '/admin/general');
    const setting = page.locator('dl > div').filter({ hasText: 'portal.host' });
    await setting.getByText('Default', { exact: true }).waitFor();
    await page.getByLabel('Notice before expiry in days').fill('400');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('must be from 0 to 365').waitFor();
    await page.getByLabel('Notice before expiry in days').fill('30');
    await page.getByLabel('Try it').selectOption('Off');
    await page.getByLabel('Rules for crawlers (robots.txt)').fill('User-agent: *\nDisallow: /drafts');
    await page.getByLabel('Maximum overlap of rotated keys in seconds').fill('3600');
    await page.getByLabel('Accounts of developers by single sign-on').uncheck();
    await page.getByLabel('Origins that may embed pages').fill('https://www.example.org');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('The settings were saved').waitFor();
    await assertAccessible(page, 'general settings');
    assert.doesNotMatch(await page.locator('main').innerText(), /`/);
    assert.equal(await page.getByRole('navigation', { name: 'Breadcrumb' }).count(), 0, 'of a page of the navigation');
    const { services } = portal.app().application.installation;
    assert.deepEqual([services.settings['portal.expiry_notice_days'], services.settings['portal.try_it']], [30, 'off']);
    const site = createSiteClient(portal.app());
    assert.equal((await site.get('/robots.txt')).text, 'User-agent: *\nDisallow: /drafts\n');
    const policy = (await site.get('/blog?embed=1')).headers.get('content-security-policy');
    assert.match(policy!, /frame-ancestors https:\/\/www\.example\.org;/);
    assert.equal(services.settings['portal.sso_creates_developers'], false);
    await ask('PUT', '/general-settings', {
      'portal.robots_txt': null,
      'portal.embed_origins': null,
      'portal.sso_creates_developers': null,
      'portal.max_rotation_overlap_seconds': null,
    });
    await page.getByRole('button', { name: 'Reset Try it' }).click();
    await page.getByText('Try it has the configured value again').waitFor();
    assert.equal(services.settings['portal.try_it'], 'users');
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Profile' }).click();
    await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor();
    await page.getByText(admin.Email).first().waitFor();
    await page.getByLabel('First name').fill('Ada');
    await page.getByRole('button', { name: 'Save name' }).click();
    await page.getByText('Your name was saved').waitFor();
    assert.equal((await ask('GET', `/users/${admin.ID}`)).First, 'Ada');
    await page.getByRole('link', { name: 'Change password on the site' }).click();
    await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor();
  });

  test('a client type of an OAuth provider is added to a product and removed from it', async () => {
    const product = await addProduct(portal.app(), { DisplayName: 'Invoices' });
    const open = () => portal.openAs(admin, `/admin/api_products/${product.ID}?tab=registration`);
    await (await open()).getByText('There are no OAuth providers').waitFor();
    const WellKnownURL = 'https://login.example/.well-known/openid-configuration';
    const { ID } = await ask('POST', '/oauth-providers', { Name: 'Login', Type: 'Other', WellKnownURL });
    const types = `/oauth-providers/${ID}/client-types`;
    await ask('POST', types, { Name: 'Service', GrantType: 'client_credentials', ResponseTypes: 'none' });
    const page = await open();
    await page.getByText('Used with dynamic client registration, which is off').waitFor();
    await page.getByText('The product has no client types.').waitFor();
    await page.getByLabel('OAuth provider').selectOption('Login');
    await page.getByLabel('Client type').selectOption('Service');
    await page.getByRole('button', { name: 'Add client type' }).click();
    await page.getByRole('button', { name: 'Remove client type Service' }).waitFor();
    await assertAccessible(page, 'client types of a product');
    const read = async () => (await ask('GET', `/products/${product.ID}`)).Templates;
    assert.deepEqual(await read(), ['Service']);
    await page.getByRole('button', { name: 'Remove client type Service' }).click();
    await page.getByText('The product has no client types.').waitFor();
    await eventually(async () => assert.deepEqual(await read(), []));
  });
});

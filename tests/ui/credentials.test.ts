import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Person } from '../support/browser.ts';
import { makeAuthority, makeClientCertificate } from '../support/certificates.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';

const api = {
  api_id: 'shop',
  name: 'Shop',
  use_keyless: false,
  use_oauth2: true,
  oauth_meta: { allowed_access_types: ['client_credentials'], allowed_authorize_types: [] },
  proxy: { listen_path: '/shop/', target_url: 'http://127.0.0.1:9', strip_listen_path: true },
};
const rights = { shop: { api_id: 'shop', api_name: 'Shop', versions: ['Default'] } };

describe('Pages of credentials', () => {
  const dashboard = testDashboard();
  let admin: Person;
  before(async () => {
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const { ask } = dashboard.app();
    await ask('POST', '/api/apis?wait=applied', { body: { api_definition: api } });
    await ask('POST', '/api/portal/policies', { body: { id: 'buyers', name: 'Buyers', access_rights: rights } });
  });

  const requestToken = (id: string, secret: string) =>
    fetch(`${dashboard.app().url.gateway}/shop/oauth/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'grant_type=client_credentials',
    });

  test('a created OAuth client obtains tokens, and its old secret is refused after a rotation', async () => {
    const page = await dashboard.openAs(admin, '/oauth-clients/new');
    await page.getByRole('button', { name: 'Create OAuth client' }).click();
    await page.getByText('Choose an API.').waitFor();
    await page.getByLabel('API', { exact: false }).first().selectOption({ label: 'Shop' });
    await page.getByLabel('Name', { exact: true }).fill('Shop app');
    await page.getByLabel('Client id').fill('app');
    await page.getByLabel('Policy').selectOption({ label: 'Buyers' });
    await page.getByLabel('Redirect URIs').fill('https://shop.example.org/callback');
    await page.getByRole('button', { name: 'Create OAuth client' }).click();
    const dialog = page.getByRole('dialog', { name: 'The OAuth client is created' });
    const secret = await dialog.getByRole('region', { name: 'Client secret' }).locator('code').textContent();
    await assertAccessible(page, 'secret of a client');
    assert.equal((await requestToken('app', secret!)).status, 200);
    await dialog.getByRole('button', { name: 'I have kept the secret' }).click();
    await page.getByRole('heading', { name: 'Shop app' }).waitFor();
    await page.getByRole('button', { name: 'Revoke', exact: true }).waitFor();
    await page.getByText('not in 30 days').waitFor();
    assert.ok(!(await page.content()).includes(secret!), 'the page does not contain the secret');

    await page.getByRole('button', { name: 'Rotate secret' }).click();
    const confirmation = page.getByRole('alertdialog', { name: 'Rotate the secret of Shop app?' });
    await confirmation.getByRole('checkbox').check();
    await confirmation.getByRole('button', { name: 'Rotate secret of Shop app' }).click();
    const shown = page.getByRole('dialog', { name: 'The new secret' });
    const renewed = await shown.getByRole('region', { name: 'Client secret' }).locator('code').textContent();
    assert.equal((await requestToken('app', renewed!)).status, 200);
    assert.ok((await requestToken('app', secret!)).status >= 400);
    await shown.getByRole('button', { name: 'I have kept the secret' }).click();

    await page.getByRole('button', { name: 'Actions for Shop app' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const deletion = page.getByRole('alertdialog', { name: 'Delete OAuth client Shop app?' });
    await deletion.getByText(/valid tokens? (?:is|are) refused at once/).waitFor();
    await deletion
      .getByRole('list', { name: 'Valid tokens' })
      .getByText(/^….{6}$/)
      .first()
      .waitFor();
    await deletion.getByRole('checkbox').check();
    await deletion.getByRole('button', { name: 'Delete OAuth client Shop app' }).click();
    await page.getByText('OAuth client Shop app deleted').waitFor();
    assert.ok((await requestToken('app', renewed!)).status >= 400);
  });

  test('an uploaded certificate is listed with its state, and a wrong text is refused with the reason', async () => {
    const { certPem } = makeClientCertificate(makeAuthority(), 'partner');
    const page = await dashboard.openAs(admin, '/certificates');
    await page.getByRole('button', { name: 'Upload certificate' }).click();
    const dialog = page.getByRole('dialog', { name: 'Upload a certificate' });
    await dialog.getByRole('button', { name: 'Upload certificate' }).click();
    await dialog.getByText('Choose a file, or paste PEM text.').waitFor();
    await dialog.getByLabel('PEM text').fill('not a certificate');
    await dialog.getByRole('button', { name: 'Upload certificate' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog
      .getByLabel('File')
      .setInputFiles({ name: 'a.pem', mimeType: 'text/plain', buffer: Buffer.from(certPem) });
    await dialog.getByRole('button', { name: 'Upload certificate' }).click();
    await page.getByRole('heading', { name: 'partner' }).waitFor();
    await page.getByText('No API and no key uses it.').waitFor();
    await page.goto(`${dashboard.app().url.dashboard}/certificates?is_ca=true`);
    await page.getByRole('heading', { name: 'No match' }).waitFor();
    await page.getByLabel('CA', { exact: true }).selectOption({ label: 'No CAs' });
    await page.getByRole('link', { name: 'partner' }).click();
    await page.getByRole('heading', { name: 'partner' }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    const confirmation = page.getByRole('alertdialog', { name: 'Delete certificate partner?' });
    await confirmation.getByText('Nothing depends on it.').waitFor();
    await confirmation.getByRole('checkbox').check();
    await confirmation.getByRole('button', { name: 'Delete certificate partner' }).click();
    await page.getByText('No certificates yet').waitFor();
  });
});

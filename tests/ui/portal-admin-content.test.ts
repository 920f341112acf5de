import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { writeZip } from '#base/zip-writer.ts';
import { assertAccessible } from '../support/dashboard-app.ts';
import { addAccessRequest, requestPortal } from '../support/portal.ts';
import { testPortalAdmin } from '../support/portal-admin.ts';
import type { Developer } from '../support/portal-site.ts';
import { createSiteClient } from '../support/site-client.ts';
import { eventually } from '../support/upstream.ts';
import { isSigned, startReceiver } from '../support/webhooks.ts';

const tinyGif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

describe('Portal admin: content, connections and settings', () => {
  const portal = testPortalAdmin();
  let admin: Developer;
  before(async () => {
    admin = await portal.anAdmin();
  });
  const read = (path: string) => requestPortal(portal.app(), 'GET', `/portal-api${path}`);
  const visit = async (path: string) => (await createSiteClient(portal.app()).get(path)).text;

  test('a page with a block and a post are on the site after publishing, and not before', async () => {
    const page = await portal.openAs(admin, '/admin/pages/new');
    await page.getByLabel('Title (required)').fill('Support');
    await page.getByLabel('Path (required)').fill('/support');
    await page.getByRole('button', { name: 'Create page' }).click();
    await page.getByRole('heading', { level: 1, name: 'Support' }).waitFor();
    await page.getByRole('button', { name: 'Add block' }).click();
    await page.getByLabel('Name of the block').fill('Help');
    await page.getByRole('dialog').getByRole('button', { name: 'Add block' }).click();
    await page.getByLabel('Content of Help').fill('We answer **within a day**.');
    await page.getByRole('button', { name: 'Save block Help' }).click();
    await page.getByText('The block Help was saved').waitFor();
    assert.doesNotMatch(await visit('/support'), /within a day/);
    await page.getByLabel('State').selectOption('Published');
    await page.getByRole('button', { name: 'Save page' }).click();
    await page.getByText('Support was saved').waitFor();
    assert.match(await visit('/support'), /<strong>within a day<\/strong>/);
    await page.goto(`${portal.app().url.portal}/admin/posts/new`);
    await page.getByLabel('Title (required)').fill('Faster');
    await page.getByLabel('Path (required)').fill('faster');
    await page.getByLabel('Text (required)').fill('Twice as *fast*.');
    await page.getByRole('button', { name: 'Create post' }).click();
    await page.getByRole('heading', { level: 1, name: 'Faster' }).waitFor();
    assert.doesNotMatch(await visit('/blog'), /Faster/);
    await page.getByLabel('State').selectOption('Published');
    await page.getByLabel('Date').fill('2098-05-17T12:00');
    await page.getByRole('button', { name: 'Save post' }).click();
    await page.getByText('Scheduled', { exact: true }).waitFor();
    assert.doesNotMatch(await visit('/blog'), /Faster/);
    await page.getByRole('button', { name: 'Upload image' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('File').setInputFiles({ name: 'x.gif', mimeType: 'image/gif', buffer: tinyGif });
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
    await page.getByRole('img', { name: 'Image' }).waitFor();
    assert.match(
      (await page.getByRole('link', { name: 'Preview' }).getAttribute('href'))!,
      /\/portal\/private\/posts\/\d+/,
    );
    await page.getByLabel('Date').fill('2026-01-31T12:00');
    await page.getByRole('button', { name: 'Save post' }).click();
    await page.getByText('Published', { exact: true }).first().waitFor();
    await eventually(async () => assert.match(await visit('/blog'), /<img[^>]*faster\/image.*Faster/s));
  });

  test('a theme is uploaded, activated and deleted; an archive that is none is refused with the reason', async () => {
    const manifest = JSON.stringify({ name: 'ocean', version: '1.0.0', title: 'Ocean APIs' });
    const archive = writeZip(new Map([['theme.json', Buffer.from(manifest)]]));
    const page = await portal.openAs(admin, '/admin/themes');
    await page.getByRole('button', { name: 'Upload theme' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('ZIP archive').setInputFiles({
      name: 'x.zip',
      mimeType: 'application/zip',
      buffer: Buffer.from('no archive'),
    });
    await dialog.getByRole('button', { name: 'Upload theme' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('ZIP archive').setInputFiles({
      name: 'ocean.zip',
      mimeType: 'application/zip',
      buffer: archive,
    });
    await dialog.getByRole('button', { name: 'Upload theme' }).click();
    await page.getByText('The theme was uploaded').waitFor();
    const act = async (name: string, action: string) => {
      await page
        .getByRole('row', { name: new RegExp(name) })
        .getByRole('button')
        .click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    await act('ocean', 'Activate');
    await page.getByRole('button', { name: 'Activate theme ocean' }).click();
    await page.getByText('The theme ocean is active').waitFor();
    assert.match(await visit('/'), /Ocean APIs/);
    await act('default', 'Activate');
    await page.getByRole('button', { name: 'Activate theme default' }).click();
    await page.getByText('The theme default is active').waitFor();
    await act('ocean', 'Delete');
    await page.getByRole('checkbox', { name: /I understand/ }).check();
    await page.getByRole('button', { name: 'Delete theme ocean' }).click();
    await page.getByText('The theme was deleted').waitFor();
    assert.equal((await read('/themes')).length, 1);
  });

  test('a mail is previewed with its draft, saved, turned off and restored', async () => {
    const page = await portal.openAs(admin, '/admin/emails/approve');
    await page.getByLabel('Subject').fill('Yes, {{.user.First}}');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText(/^Yes, \w+/).waitFor();
    await page.getByLabel('Subject').fill('{{if}}');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('alert').first().waitFor();
    await page.getByLabel('Subject').fill('Access for {{.user.First}}');
    await page.getByRole('switch', { name: 'Send this mail' }).uncheck();
    await page.getByRole('button', { name: 'Save mail' }).click();
    await page.getByText('approve was saved').waitFor();
    const { Subject, Enabled } = await read('/mails/approve');
    assert.deepEqual([Subject, Enabled], ['Access for {{.user.First}}', false]);
    await page.getByRole('button', { name: 'Restore default' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Restore default' }).click();
    await page.getByText('The default was restored').waitFor();
    assert.equal((await read('/mails/approve')).Enabled, true);
  });

  test('a provider keeps its masked secret, and a failed synchronisation names the reason', async () => {
    const page = await portal.openAs(admin, '/admin/providers/new');
    await page.getByLabel('Name (required)').fill('Elsewhere');
    await page.getByLabel('URL of the dashboard').fill('http://127.0.0.1:9');
    await page.getByLabel('Access key of a dashboard user').fill('a-secret-of-the-other-side');
    await page.getByRole('button', { name: 'Create provider' }).click();
    await page.getByRole('heading', { level: 1, name: 'Elsewhere' }).waitFor();
    assert.ok(!(await page.content()).includes('a-secret-of-the-other-side'));
    await page.getByLabel('URL of the gateway').fill('https://gateway.example.org');
    await page.getByRole('button', { name: 'Save provider' }).click();
    await page.getByText('Elsewhere was saved').waitFor();
    await page.getByRole('button', { name: 'Synchronise' }).click();
    await page
      .getByText(/Elsewhere.*(unavailable|reached|failed)/i)
      .first()
      .waitFor();
    await page.getByText('Down').waitFor();
    await page
      .locator('section', { hasText: 'Synchronisations' })
      .getByText(/ECONNREFUSED/)
      .waitFor();
    await page.getByRole('button', { name: 'Test provider' }).click();
    const dialog = page.getByRole('dialog', { name: 'Test provider' });
    await dialog.getByText('Failed').first().waitFor();
    await dialog.getByText('Not tested').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('alertdialog').getByText('Waiting requests').waitFor();
  });

  test('an OAuth provider gets a client type, and its token is not shown', async () => {
    const page = await portal.openAs(admin, '/admin/oauth2-0-providers/new');
    await page.getByLabel('Name (required)').fill('Login');
    await page.getByLabel('Address of the discovery document').fill('https://id.example.org/oidc');
    await page.getByLabel('Registration access token').fill('registration-token-text');
    await page.getByRole('button', { name: 'Create OAuth provider' }).click();
    await page.getByRole('heading', { level: 1, name: 'Login' }).waitFor();
    await page.getByRole('button', { name: 'Add client type' }).click();
    await page.getByLabel('Name of the client type').fill('Server');
    await page.getByLabel('Grant types').fill('client_credentials');
    await page.getByRole('dialog').getByRole('button', { name: 'Add client type' }).click();
    await page.getByRole('button', { name: 'Delete client type Server' }).waitFor();
    assert.ok(!(await page.content()).includes('registration-token-text'));
  });

  test('a webhook gets events and a header, is tested, and a failed delivery is retried', async context => {
    const receiver = await startReceiver();
    context.after(() => receiver.close());
    const page = await portal.openAs(admin, '/admin/webhooks/new');
    await page.getByLabel('Name (required)').fill('CRM');
    await page.getByLabel('URL (required)').fill(`${receiver.url}/in`);
    await page.getByRole('checkbox', { name: 'OrganisationRegistered' }).check();
    await page.getByLabel('Sample of an event').selectOption('QuotaThreshold');
    await page.getByText(/"Event": "QuotaThreshold"/).waitFor();
    await page.getByRole('button', { name: 'Create webhook' }).click();
    const shown = page.getByRole('dialog', { name: 'Secret of the webhook' });
    const secret = await shown.getByText(/^whsec_/).innerText();
    await shown.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('heading', { level: 1, name: 'CRM' }).waitFor();
    await page.getByRole('button', { name: 'Add header' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('X-Team');
    await dialog.getByLabel('Value').fill('portal');
    await dialog.getByRole('button', { name: 'Add header' }).click();
    await page.getByText('X-Team: portal').waitFor();
    const hook = (await read('/webhooks')).find((it: { Name: string }) => it.Name === 'CRM');
    assert.deepEqual([hook.Events, hook.Headers.length], [['OrganisationRegistered'], 1]);
    await page.getByText('There are no deliveries yet').waitFor();
    await page.getByRole('button', { name: 'Test webhook' }).click();
    const test = page.getByRole('dialog', { name: 'Test webhook' });
    await test.getByLabel('Event').selectOption('PlanChanged');
    await test.getByRole('button', { name: 'Send test' }).click();
    await test.getByText(/^Delivered: status 200/).waitFor();
    await test.getByText(/"Event":"PlanChanged"/).waitFor();
    await assertAccessible(page, 'test of a webhook');
    assert.equal(receiver.at('/in')[0]!.headers['x-team'], 'portal');
    assert.ok(isSigned(receiver.at('/in')[0]!, secret));
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate secret' }).click();
    assert.notEqual(await shown.getByText(/^whsec_/).innerText(), secret);
    await shown.getByRole('button', { name: 'Done' }).click();
    await page.getByText(/signed with the former secret too/).waitFor();
    await requestPortal(portal.app(), 'POST', '/portal-api/organisations', { Name: 'Delivered Ltd' });
    await receiver.take('/in', 2);
    const list = () => read(`/webhooks/${hook.ID}/deliveries?state=delivered`);
    await eventually(async () => assert.equal((await list()).length, 1));
    const { db } = portal.app().application.installation.records;
    await db.updateTable('deliveries').set({ state: 'dead' }).where('hook', '=', `inline-portal-${hook.ID}`).execute();
    await page.reload();
    await page
      .getByRole('row', { name: /Failed/ })
      .getByRole('button', { name: 'OrganisationRegistered' })
      .click();
    await page.getByRole('button', { name: 'Retry delivery' }).click();
    await page.getByText('The delivery is sent again').waitFor();
    await receiver.take('/in', 3);
  });

  test('an attribute is created with choices, and changed without its identifier', async () => {
    const page = await portal.openAs(admin, '/admin/custom_attributes/new');
    await page.getByLabel('Label').fill('Size');
    await page.getByLabel('Identifier').fill('company_size');
    await page.getByLabel('Type').selectOption('Choice');
    await page.getByLabel('Choices').fill('small,large');
    await page.getByRole('button', { name: 'Create attribute' }).click();
    await page.getByRole('heading', { level: 1, name: 'Size' }).waitFor();
    assert.ok(await page.getByLabel('Identifier').isDisabled());
    await page.getByRole('switch', { name: 'Required' }).check();
    await page.getByRole('button', { name: 'Save attribute' }).click();
    await page.getByText('Size was saved').waitFor();
    const { CustomAttributes } = await read('/extended_attributes/1');
    const { Type, DropdownValues, Required } = CustomAttributes.at(-1);
    assert.deepEqual([Type, DropdownValues, Required], [2, 'small,large', true]);
  });

  test('the overview counts what waits, and each number leads to its list', async () => {
    await addAccessRequest(portal.app(), { pending: true });
    const page = await portal.openAs(admin, '/admin');
    const waiting = page.getByRole('link', { name: /Access requests that wait/ });
    await waiting.getByText('1', { exact: true }).waitFor();
    await waiting.click();
    await page.getByRole('heading', { level: 1, name: 'Access requests' }).waitFor();
  });
});

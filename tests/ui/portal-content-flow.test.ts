import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { writeZip } from '#base/zip-writer.ts';
import { requestPortal, toFileForm } from '../support/portal.ts';
import { testPortalAdmin } from '../support/portal-admin.ts';
import type { Developer } from '../support/portal-site.ts';

const manifest = {
  name: 'broken',
  version: '1',
  title: 'Broken theme',
  templates: [{ name: 'promo', template: 'promo' }],
};
const files = new Map([
  ['theme.json', Buffer.from(JSON.stringify(manifest))],
  ['views/promo.html', Buffer.from('{{range until 100000}}{{range until 100000}}x{{end}}{{end}}')],
]);

describe('Portal: content that administrators publish', () => {
  const portal = testPortalAdmin();
  let admin: Developer;
  before(async () => {
    admin = await portal.anAdmin();
  });
  const ok = (method: string, path: string, body?: unknown) =>
    requestPortal(portal.app(), method, `/portal-api${path}`, body);

  test('an edited block, a menu in two levels and a post with a category appear after publishing', async () => {
    const page = await portal.openAs(admin, '/admin/menus/new');
    await page.getByLabel('Name (required)').fill('Header');
    const addLink = async (place: number, title: string, path: string) => {
      await page.getByRole('button', { name: 'Add link' }).click();
      await page.getByLabel(`Title of link ${place} (required)`).fill(title);
      await page.getByLabel(`Address of link ${place}`).fill(path);
    };
    await addLink(1, 'News', '/blog');
    await addLink(2, 'Help', '/help');
    await addLink(3, 'Releases', '/blog/category/Releases');
    await page.getByRole('button', { name: 'Move link 3 up' }).click();
    await page.getByRole('button', { name: 'Move link 2 below the one before' }).click();
    await page.getByRole('button', { name: 'Create menu' }).click();
    await page.getByRole('heading', { level: 1, name: 'Header' }).waitFor();
    await page.getByText('Leads nowhere').waitFor();

    const visitor = await portal.open('/');
    const navigation = visitor.getByRole('navigation', { name: 'Site' });
    assert.equal(await navigation.getByRole('link', { name: 'Help' }).count(), 0);
    const { ID } = await ok('POST', '/pages', { Title: 'Help', Path: '/help', Template: 'page', Status: 'Published' });
    await page.goto(`${portal.app().url.portal}/admin/pages/${ID}`);
    await page.getByRole('button', { name: 'Add block' }).click();
    await page.getByLabel('Name of the block').fill('Text');
    await page.getByRole('dialog').getByRole('button', { name: 'Add block' }).click();
    await page.getByLabel('Content of Text').fill('Ask **us**.');
    await page.getByRole('button', { name: 'Save block Text' }).click();
    await page.getByText('The block Text was saved').waitFor();
    await visitor.reload();
    await navigation.getByRole('link', { name: 'Help' }).click();
    await visitor.getByText('Ask us.').waitFor();

    await page.goto(`${portal.app().url.portal}/admin/posts/new`);
    await page.getByLabel('Title (required)').fill('Version two');
    await page.getByLabel('Path (required)').fill('version-two');
    await page.getByLabel('Categories').fill('Releases');
    await page.getByLabel('Text (required)').fill('It is *there*.');
    await page.getByLabel('State').selectOption('Published');
    await page.getByRole('button', { name: 'Create post' }).click();
    await page.getByRole('heading', { level: 1, name: 'Version two' }).waitFor();
    await navigation.locator('summary').click();
    await navigation.getByRole('link', { name: 'Releases' }).click();
    await visitor.getByRole('heading', { level: 1, name: 'Releases' }).waitFor();
    await visitor.getByRole('link', { name: 'Version two' }).click();
    await visitor.getByText('It is there.').waitFor();
  });

  test('a theme is seen by the administrator who previews it; one that fails to render falls back with a notice', async () => {
    const answer = await portal
      .app()
      .ask('POST', '/portal-api/themes/upload', { body: toFileForm(new Uint8Array(writeZip(files)), 't.zip') });
    assert.equal(answer.status, 200, answer.text);
    const page = await portal.openAs(admin, '/admin/themes');
    await page
      .getByRole('row', { name: /broken/ })
      .getByRole('button')
      .click();
    const [preview] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('menuitem', { name: 'Preview' }).click(),
    ]);
    await preview.getByText('Preview of the theme broken: only you see it.').waitFor();
    assert.equal(await preview.title(), 'Broken theme');
    const visitor = await portal.open('/');
    assert.notEqual(await visitor.title(), 'Broken theme');
    await preview.getByRole('button', { name: 'Quit preview' }).click();
    await preview.waitForURL(`${portal.app().url.portal}/`);
    assert.notEqual(await preview.title(), 'Broken theme');

    await ok('PUT', '/themes/broken/activate');
    await ok('POST', '/pages', { Title: 'Offer', Path: '/offer', Template: 'promo', Status: 'Published' });
    await preview.goto(`${portal.app().url.portal}/offer`);
    await preview.getByText(/The theme broken failed at the template promo/).waitFor();
    await preview.getByRole('heading', { level: 1, name: 'Offer' }).waitFor();
    await visitor.goto(`${portal.app().url.portal}/offer`);
    await visitor.getByRole('heading', { level: 1, name: 'Offer' }).waitFor();
    assert.equal(await visitor.getByText(/failed at the template/).count(), 0);
  });

  test('a mail is previewed as HTML in a frame in which no script runs', async () => {
    const page = await portal.openAs(admin, '/admin/emails/approve');
    await page.getByLabel('HTML', { exact: true }).fill('<h1 style="color:green">Hello {{.user.First}}</h1>');
    await page.getByRole('button', { name: 'Preview' }).click();
    const frame = page.frameLocator('iframe[title="Mail as HTML"]');
    await frame.getByRole('heading', { name: /^Hello \w+/ }).waitFor();
  });
});

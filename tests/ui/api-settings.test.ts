import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';

describe('Settings of an API', () => {
  const dashboard = testDashboard();
  const upstream = createServer((request, response) => response.end(`path ${request.url}`));
  let upstreamUrl = '';
  let admin: Person;
  before(async () => {
    await new Promise<void>(resolve => upstream.listen(0, '127.0.0.1', resolve));
    upstream.unref();
    upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
  });
  after(() => {
    upstream.close();
    upstream.closeAllConnections();
  });

  const create = async (id: string, more: object = {}) => {
    const document = {
      openapi: '3.0.3',
      info: { title: id, version: '1.0.0' },
      paths: {},
      'x-gw-api-gateway': {
        info: { id, name: id, state: { active: true } },
        server: { listenPath: { value: `/${id}/`, strip: true } },
        upstream: { url: upstreamUrl },
      },
      ...more,
    };
    const created = await dashboard.app().ask('POST', '/api/apis/oas?wait=applied', { body: document });
    assert.equal(created.status, 200, JSON.stringify(created.body));
  };
  const read = async (id: string) => (await dashboard.app().ask('GET', `/api/apis/oas/${id}`)).body;
  const save = async (page: Page) => {
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  };

  test('an edited field changes its member only, is compared and saved, and undone by the message', async () => {
    await create('shop', { 'x-other-tool': { kept: ['as', 'it', 'is'] } });
    const stored = await read('shop');
    const page = await dashboard.openAs(admin, '/apis/shop/settings?section=server');
    await page.getByLabel('Path', { exact: true }).fill('/store/');
    await page.getByText('Unsaved changes: The definition is valid').waitFor();
    await page.getByRole('button', { name: 'Review and save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Review changes' });
    await dialog.getByText('/store/').waitFor();
    assert.equal(await dialog.locator('.cm-merge-b .cm-changedLine').count(), 1, 'the edited line only');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Discard' }).click();
    assert.equal(await page.getByLabel('Path', { exact: true }).inputValue(), '/shop/');
    await page.getByText('No changes', { exact: true }).waitFor();
    await page.getByLabel('Path', { exact: true }).fill('/store/');
    await page.getByText('Unsaved changes: The definition is valid').waitFor();
    await page.getByRole('button', { name: 'Review and save' }).click();
    await assertAccessible(page, 'review of changes');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('API shop saved. Live on all traffic threads').waitFor();
    stored['x-gw-api-gateway'].server.listenPath.value = '/store/';
    assert.deepEqual(await read('shop'), stored);
    const { gateway } = dashboard.app().url;
    assert.equal(await (await fetch(`${gateway}/store/x`)).text(), 'path /x');
    const isRestored = page.waitForResponse(it => it.url().includes('/oas/shop') && it.request().method() === 'PUT');
    await page.getByRole('button', { name: 'Undo' }).click();
    assert.equal((await isRestored).status(), 200);
    assert.equal(await (await fetch(`${gateway}/shop/x`)).text(), 'path /x');
  });

  test('a taken listen path and a missing name are shown at their fields and sections before the save', async () => {
    await create('first');
    await create('second');
    const page = await dashboard.openAs(admin, '/apis/second/settings?section=server');
    await page.getByLabel('Path', { exact: true }).fill('/first/');
    await page
      .getByText(/listen path.*first/i)
      .first()
      .waitFor();
    const sections = page.getByRole('navigation', { name: 'Sections' });
    await sections.getByRole('button', { name: 'Server 1 fault' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Review and save' }).isDisabled(), true);
    await page.getByRole('button', { name: 'Discard' }).click();
    await sections.getByRole('button', { name: 'Upstream' }).click();
    await page.getByLabel('Upstream URL').fill('');
    await sections.getByRole('button', { name: 'Upstream 1 fault' }).waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByText('No changes').waitFor();
  });

  test('a missing name, listen path and upstream mark their fields and sections, and the focus moves to the first', async () => {
    await create('faulty');
    const page = await dashboard.openAs(admin, '/apis/faulty/settings?section=upstream');
    const sections = page.getByRole('navigation', { name: 'Sections' });
    await page.getByLabel('Upstream URL').fill('');
    await sections.getByRole('button', { name: 'Server', exact: true }).click();
    await page.getByLabel('Path', { exact: true }).fill('');
    await sections.getByRole('button', { name: 'Info', exact: true }).click();
    await page.getByLabel('Name', { exact: true }).fill('');
    for (const name of ['Info', 'Server', 'Upstream'])
      await sections.getByRole('button', { name: `${name} 1 fault` }).waitFor();
    await sections.getByRole('button', { name: /^Upstream/ }).click();
    await page.getByLabel('Upstream URL').waitFor();
    await page.getByRole('button', { name: 'Go to the first fault' }).click();
    const first = page.getByLabel('Name', { exact: true });
    await first.waitFor();
    await page.locator('[aria-invalid]:focus').waitFor();
    assert.equal(await first.getAttribute('id'), await page.locator(':focus').getAttribute('id'));
    await page.goto(`${dashboard.app().url.dashboard}/apis/new`);
    await page.getByRole('button', { name: 'Create API' }).click();
    await page.locator('[aria-invalid]:focus').waitFor();
    assert.equal(await page.getByLabel('Name').getAttribute('id'), await page.locator(':focus').getAttribute('id'));
    assert.equal(await page.locator('[aria-invalid]').count(), 3);
  });

  test('edits of two sessions are merged on top of each other', async () => {
    await create('merged');
    const page = await dashboard.openAs(admin, '/apis/merged/settings?section=info');
    await page.getByLabel('Name', { exact: true }).fill('Mine');
    await page.getByText('The definition is valid').waitFor();
    const theirs = await read('merged');
    theirs['x-gw-api-gateway'].middleware = { global: { contextVariables: { enabled: true } } };
    await dashboard.app().ask('PUT', '/api/apis/oas/merged', { body: theirs });
    await save(page);
    await page.getByRole('button', { name: 'Apply mine on top' }).click();
    await page.getByRole('dialog', { name: 'Review changes' }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('API Mine saved').or(page.getByText('API merged saved')).waitFor();
    const gateway = (await read('merged'))['x-gw-api-gateway'];
    assert.equal(gateway.info.name, 'Mine');
    assert.equal(gateway.middleware.global.contextVariables.enabled, true);
  });

  test('completion offers members of the schema, a wrong type is marked before the save, form and code agree', async () => {
    await create('typed');
    const page = await dashboard.openAs(admin, '/apis/typed/code');
    const editor = page.getByRole('textbox', { name: 'Definition of typed' });
    const complete = async (typed: string, name: string) => {
      await page.keyboard.type(typed);
      await page.getByRole('option', { name, exact: false }).first().waitFor();
      if (name === 'gatewayTags') await assertAccessible(page, 'completion');
      await page.getByRole('option', { name, exact: false }).first().click();
    };
    await editor.getByText('"server"').click();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await complete('"gatewayT', 'gatewayTags');
    await complete('"ena', 'enabled');
    await page.keyboard.type('"yes"');
    await editor.locator('.cm-lintRange-error').first().waitFor();
    assert.equal(await page.getByRole('button', { name: 'Review and save' }).isDisabled(), true);
    for (const _character of '"yes"') await page.keyboard.press('Backspace');
    await complete('fa', 'false');
    await page.keyboard.type(', ');
    await complete('"ta', 'tags');
    await page.keyboard.type('"edge"');
    const saveValid = async () => {
      await page.getByText('Unsaved changes: The definition is valid').waitFor();
      await save(page);
      await page.getByText('API typed saved').first().waitFor();
    };
    await saveValid();
    assert.deepEqual((await read('typed'))['x-gw-api-gateway'].server.gatewayTags, { enabled: false, tags: ['edge'] });
    await page.goto(`${dashboard.app().url.dashboard}/apis/typed/settings?section=server`);
    const tags = page.getByLabel('Tags', { exact: true });
    assert.equal(await tags.inputValue(), 'edge');
    await tags.fill('edge\nlab');
    await saveValid();
    await page.goto(`${dashboard.app().url.dashboard}/apis/typed/code`);
    await editor.getByText('"lab"').waitFor();
  });

  test('completion offers members and values of the schema in YAML too, with the meaning of a name under the pointer', async () => {
    await create('noted');
    const page = await dashboard.openAs(admin, '/apis/noted/code');
    await page.getByLabel('Notation').selectOption('yaml');
    const editor = page.getByRole('textbox', { name: 'Definition of noted' });
    const complete = async (typed: string, name: string) => {
      await page.keyboard.type(typed);
      await page.getByRole('option', { name, exact: false }).first().click();
    };
    await editor.getByText('server:').click();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.keyboard.type('  ');
    await complete('gatewayT', 'gatewayTags');
    await complete('ena', 'enabled');
    await complete('fa', 'false');
    await page.keyboard.press('Enter');
    await complete('ta', 'tags');
    await page.keyboard.type('edge');
    await page.getByText('Unsaved changes: The definition is valid').waitFor();
    await editor.getByText('tags', { exact: true }).hover();
    await page.getByText('a gateway with one of them loads the API').waitFor();
    await save(page);
    await page.getByText('API noted saved').first().waitFor();
    assert.deepEqual((await read('noted'))['x-gw-api-gateway'].server.gatewayTags, { enabled: false, tags: ['edge'] });
  });

  test('an added authentication method refuses requests without its credential', async () => {
    await create('guarded');
    const page = await dashboard.openAs(admin, '/apis/guarded/settings?section=authentication');
    await page.getByRole('button', { name: 'Add method' }).click();
    await page.getByRole('menuitem', { name: 'Key' }).click();
    await page.getByRole('region', { name: 'authToken' }).waitFor();
    await page.getByText('The definition is valid').waitFor();
    await save(page);
    await page.getByText('API guarded saved. Live on all traffic threads').waitFor();
    assert.equal((await fetch(`${dashboard.app().url.gateway}/guarded/`)).status, 401);
  });

  test('a text of a list may contain commas, and lines separate texts', async () => {
    await create('listed');
    const page = await dashboard.openAs(admin, '/apis/listed/settings');
    await page.getByRole('searchbox', { name: 'Search settings' }).fill('allowed origins');
    await page.getByLabel('Allowed origins').fill('https://a.example/x,y\nhttps://b.example');
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog').getByText('"https://a.example/x,y"').first().waitFor();
  });

  test('the search finds settings of every section, and a reader cannot change them', async () => {
    await create('searched');
    const reader = await dashboard.addPerson({ user_permissions: { apis: 'read' } });
    const page = await dashboard.openAs(reader, '/apis/searched/settings');
    await page.getByRole('searchbox', { name: 'Search settings' }).fill('allowed origins');
    await page.getByRole('heading', { name: 'Traffic' }).waitFor();
    const field = page.getByLabel('Allowed origins');
    assert.equal(await field.isDisabled(), true);
    assert.equal(await page.getByRole('button', { name: 'Review and save' }).count(), 0);
    await page.getByText('Read only: changes need the permission apis:write.').waitFor();
  });
});

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { forEachCall } from '#analytics/batch.ts';
import { createUsageRollUp } from '#analytics/roll-up.ts';
import type { Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';
import { batchOf, someApi } from '../support/records.ts';

const admin = { user_permissions: { IsAdmin: 'admin' } };
const classic = (name: string, more: object = {}) => {
  const id = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const proxy = { listen_path: `/${id}/`, target_url: 'http://127.0.0.1:9', strip_listen_path: true };
  return { api_definition: { api_id: id, name, use_keyless: true, proxy, ...more } };
};
const names = (page: Page) => page.getByRole('table').locator('tbody tr').getByRole('link').allTextContents();

/** Columns that a list shows only to users who choose them. */
async function showOptionalColumns(page: Page) {
  await page.getByRole('columnheader', { name: 'Listen path' }).waitFor();
  for (const name of ['Categories', 'Owners']) {
    assert.equal(await page.getByRole('columnheader', { name }).count(), 0);
    await page.getByRole('button', { name: 'Columns' }).click();
    const stored = page.waitForResponse(
      response => response.url().endsWith('/api/preferences') && response.request().method() === 'PUT',
    );
    await page.getByRole('menuitemcheckbox', { name }).click();
    assert.equal((await stored).status(), 200);
    await page.keyboard.press('Escape');
    await page.getByRole('columnheader', { name }).waitFor();
  }
}

describe('List of APIs without APIs', () => {
  const dashboard = testDashboard();

  test('it shows cards to start with, the table with one API, and the cards again after its deletion', async () => {
    const page = await dashboard.openAs(await dashboard.addPerson(admin), '/apis');
    await page.getByRole('heading', { name: 'No APIs yet' }).waitFor();
    for (const card of ['Design an API', 'Import a description', 'Begin with an example', 'Be guided'])
      await page.getByRole('link', { name: card }).waitFor();
    await assertAccessible(page, 'list without APIs');
    await page.getByRole('link', { name: 'Design an API' }).click();
    await page.getByLabel('Name').fill('Only one');
    await page.getByLabel('Upstream URL').fill('http://127.0.0.1:9');
    await page.getByRole('button', { name: 'Create API' }).click();
    await page.getByText('API Only one created').waitFor();
    await page.getByRole('navigation', { name: 'Main navigation' }).getByRole('link', { name: 'All APIs' }).click();
    await page.getByRole('table').waitFor();
    assert.deepEqual(await names(page), ['Only one']);
    await page.getByRole('button', { name: 'Actions for Only one' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Delete Only one?' });
    assert.equal(await dialog.getByRole('button', { name: 'Delete API Only one' }).isDisabled(), true);
    await dialog.getByRole('checkbox').check();
    await dialog.getByRole('button', { name: 'Delete API Only one' }).click();
    await page.getByRole('heading', { name: 'No APIs yet' }).waitFor();
  });
});

describe('Filters of the list of APIs', () => {
  const dashboard = testDashboard({ settings: { 'management.page_size': '2' } });
  let person: Person;
  before(async () => {
    person = await dashboard.addPerson(admin);
    const jwt = { use_keyless: false, enable_jwt: true };
    const all = [
      ...['1', '2', '3'].map(it => classic(`Shop ${it} #eu`)),
      ...[classic('Shop 4'), classic('Shop 5 #eu', jwt), classic('Mail #eu')],
    ];
    for (const body of all) assert.equal((await dashboard.app().ask('POST', '/api/apis', { body })).status, 200);
  });

  test('selected APIs are deactivated together after a confirmation', async () => {
    const { ask } = dashboard.app();
    for (const name of ['Bulk one', 'Bulk two']) await ask('POST', '/api/apis', { body: classic(name) });
    const page = await dashboard.openAs(person, '/apis?q=bulk');
    for (const name of ['Bulk one', 'Bulk two']) await page.getByLabel(`Select ${name}`).check();
    await page.getByRole('button', { name: 'Deactivate 2 APIs' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Deactivate 2 APIs?' });
    await dialog.getByRole('button', { name: 'Deactivate 2 APIs' }).click();
    await page.getByText('2 APIs deactivated').waitFor();
    await page.getByRole('row', { name: /Bulk two.*Inactive/ }).waitFor();
    assert.equal((await ask('GET', '/api/apis/bulk-one')).body.api_definition.active, false);
    for (const name of ['Bulk one', 'Bulk two']) await page.getByLabel(`Select ${name}`).check();
    await ask('DELETE', '/api/apis/bulk-two');
    await page.getByRole('button', { name: 'Activate 2 APIs', exact: true }).click();
    const failures = page.getByRole('dialog', { name: '1 API failed' });
    await failures
      .getByRole('listitem')
      .getByText(/not found|not exist/i)
      .waitFor();
    await page.getByText('1 API activated').waitFor();
    await assertAccessible(page, 'failures of many APIs');
    await failures.getByRole('button', { name: 'Try failed ones again' }).click();
    await failures.getByRole('button', { name: 'Close' }).last().click();
    await ask('DELETE', '/api/apis/bulk-one');
  });

  test('search, category and authentication combine and survive order, pages, reload, back and another browser', async () => {
    const page = await dashboard.openAs(person, '/apis');
    await page.getByRole('searchbox').fill('shop');
    await page.waitForURL(/q=shop/);
    await page.getByLabel('Any category').selectOption('eu');
    await page.waitForURL(/category=eu/);
    await page.getByLabel('Any authentication').selectOption('keyless');
    await page.waitForURL(/auth_type=keyless/);
    await page.getByLabel('Any kind').selectOption('HTTP');
    await page.waitForURL(/api_type=rest/);
    await page.getByRole('button', { name: 'Name' }).click();
    await page.waitForURL(/sort=name/);
    const first = ['Shop 1 #eu', 'Shop 2 #eu'];
    const waitFor = async (at: Page, wanted: readonly string[]) => {
      await at.getByRole('link', { name: wanted[0]!, exact: true }).waitFor();
      await at.waitForFunction(`document.querySelectorAll('tbody tr').length === ${wanted.length}`);
      assert.deepEqual(await names(at), wanted);
    };
    await waitFor(page, first);
    await page.getByRole('button', { name: 'Next page' }).click();
    await waitFor(page, ['Shop 3 #eu']);
    await page.reload();
    await waitFor(page, ['Shop 3 #eu']);
    await page.goBack();
    await waitFor(page, first);
    const { pathname, search } = new URL(page.url());
    const other = await dashboard.openAs(person, pathname + search);
    await waitFor(other, first);
    assert.equal(await other.getByLabel('Any category').inputValue(), 'eu');
    await other.getByLabel('Any owner').selectOption('Owned by me');
    await other.getByText('No match').waitFor();
  });
});

describe('Base APIs in the list and their deletion', () => {
  const dashboard = testDashboard();

  const document = (id: string) => ({
    openapi: '3.0.3',
    info: { title: id, version: '1.0.0' },
    paths: {},
    'x-gw-api-gateway': {
      info: { id, name: id, state: { active: true } },
      server: { listenPath: { value: `/${id}/`, strip: true } },
      upstream: { url: 'http://127.0.0.1:9' },
    },
  });
  async function createBase(base: string): Promise<readonly string[]> {
    const { ask } = dashboard.app();
    assert.equal((await ask('POST', '/api/apis/oas', { body: document(base) })).status, 200);
    const versions = [`${base}-v2`, `${base}-v3`];
    for (const version of versions) {
      const query = `base_api_id=${base}&base_api_version_name=v1&new_version_name=${version.slice(-2)}`;
      const { status, text } = await ask('POST', `/api/apis/oas?${query}`, { body: document(version) });
      assert.equal(status, 200, text);
    }
    return versions;
  }
  const exists = async (id: string) => (await dashboard.app().ask('GET', `/api/apis/${id}`)).status === 200;
  const versionsOf = async (id: string) => {
    const { body } = await dashboard.app().ask('GET', `/api/apis/oas/${id}/versions`);
    return (body.apis as { id: string }[]).map(it => it.id).sort();
  };

  const choices = [
    { base: 'leaving', choice: 'Leave them independent', outcome: 'leaves its versions as APIs of their own' },
    { base: 'promoting', choice: 'Promote a version to base', outcome: 'makes a version the base of the others' },
    { base: 'purging', choice: 'Delete all versions', outcome: 'deletes its versions' },
  ];
  for (const { base, choice, outcome } of choices)
    test(`the dialog demands the name, and “${choice}” ${outcome}`, async () => {
      const [v2, v3] = await createBase(base);
      const page = await dashboard.openAs(await dashboard.addPerson(admin), `/apis/${base}`);
      await page.getByRole('button', { name: `Actions for ${base}` }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      const dialog = page.getByRole('alertdialog', { name: `Delete ${base}?` });
      await dialog.getByRole('radio', { name: choice }).check();
      if (base === 'promoting') await dialog.getByLabel('Next base').selectOption(v3!);
      await assertAccessible(page, `dialog: ${choice}`);
      const button = dialog.getByRole('button', { name: `Delete API ${base}` });
      assert.equal(await button.isDisabled(), true);
      await dialog.getByLabel(/to confirm/).fill(base);
      await button.click();
      await page.getByText(`API ${base} deleted`).waitFor();
      assert.equal(await exists(base), false);
      assert.deepEqual([await exists(v2!), await exists(v3!)], base === 'purging' ? [false, false] : [true, true]);
      if (base === 'promoting') assert.deepEqual(await versionsOf(v3!), [v2, v3]);
    });

  test('a row has its requests of 24 hours, errors, categories, owners and versions, and is exported alone or with others', async () => {
    const [v2, v3] = await createBase('counted');
    const { ask, application, credentials } = dashboard.app();
    const person = await dashboard.addPerson(admin);
    const owners = await ask('PUT', '/api/apis/counted/access', { body: { userIds: ['a', 'b'], userGroupIds: ['c'] } });
    assert.equal(owners.status, 200, owners.text);
    await ask('PUT', '/api/apis/oas/counted/categories', { body: { categories: ['shop', 'eu'] } });
    const rollUp = createUsageRollUp({ rowsPerMinute: 100, normalisePaths: false });
    const api = { ...someApi, id: 'counted', orgId: credentials.organisation_id };
    const calls = [200, 200, 200, 404].map(status => ({ atMs: Date.now(), api, status }));
    forEachCall(batchOf(calls), rollUp.add);
    await application.installation.services.usage.add(rollUp.drain(0));

    const page = await dashboard.openAs(person, '/apis?q=counted&sort=name');
    await showOptionalColumns(page);
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'counted', exact: true }) });
    await row.filter({ hasText: /4.*25%.*shop, eu.*2 users, 1 group/ }).waitFor();
    await page.getByRole('row', { name: new RegExp(`${v2}.*Active 0 `) }).waitFor();
    await row.getByText('2 versions').click();
    assert.equal(await row.getByRole('link', { name: 'v3', exact: true }).getAttribute('href'), `/apis/${v3}`);

    const save = async (press: () => Promise<void>) => {
      const [file] = await Promise.all([page.waitForEvent('download'), press()]);
      return { name: file.suggestedFilename(), value: JSON.parse(await readFile(await file.path(), 'utf8')) };
    };
    const openMenu = () => row.getByRole('button', { name: 'Actions for counted' }).click();
    const choose = (name: string) => () => page.getByRole('menuitem', { name, exact: true }).click();
    await openMenu();
    const whole = await save(choose('Export'));
    assert.equal(whole.value['x-gw-api-gateway'].info.id, 'counted');
    await openMenu();
    const plain = await save(choose('Export plain OpenAPI'));
    assert.deepEqual([plain.value.info.title, plain.value['x-gw-api-gateway']], ['counted', undefined]);
    for (const name of ['counted', v2]) await page.getByLabel(`Select ${name}`, { exact: true }).check();
    const both = await save(() => page.getByRole('button', { name: 'Export 2 APIs' }).click());
    assert.equal(both.name, 'apis.json');
    assert.deepEqual(
      both.value.apis.map((it: { api_definition: { api_id: string } }) => it.api_definition.api_id),
      ['counted', v2],
    );
  });

  test('the menu duplicates an API of each format with another id and path, and changes categories and owners', async () => {
    const { ask } = dashboard.app();
    const person = await dashboard.addPerson(admin);
    await createBase('source');
    await ask('POST', '/api/apis', { body: classic('Old one') });
    const streams = { streams: { events: { input: { http_server: { path: '/in' } }, output: { drop: {} } } } };
    const streaming = { ...document('flow'), 'x-gw-streaming': streams };
    const headers = { 'content-type': 'application/vnd.gw.streams.oas' };
    const created = await ask('POST', '/api/apis/streams', { body: streaming, headers });
    assert.equal(created.status, 200, created.text);
    const owned: readonly string[] = ['Old one', 'flow'];
    for (const id of ['old-one', created.body.ID])
      await ask('PUT', `/api/apis/${id}/access`, { body: { userIds: ['someone'], userGroupIds: [] } });
    const page = await dashboard.openAs(person, '/apis');
    await showOptionalColumns(page);
    const choose = async (name: string, item: string) => {
      await page.goto(`${dashboard.app().url.dashboard}/apis?q=${encodeURIComponent(name)}&sort=name`);
      await page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click();
      await page.getByRole('menuitem', { name: item, exact: true }).click();
    };
    for (const name of ['source', 'Old one', 'flow']) {
      await choose(name, 'Duplicate');
      const dialog = page.getByRole('dialog', { name: `Duplicate ${name}` });
      await assertAccessible(page, 'dialog: duplicate');
      if (name === 'source') {
        await dialog.getByLabel('Listen path').fill('/source/');
        await dialog.getByRole('button', { name: 'Create copy' }).click();
        await dialog
          .getByText(/listen path/i)
          .nth(1)
          .waitFor();
        await dialog.getByLabel('Listen path').fill('/source-copy/');
      }
      await dialog.getByRole('button', { name: 'Create copy' }).click();
      await page.getByRole('heading', { name: `${name} copy`, level: 1 }).waitFor();
      const copyId = new URL(page.url()).pathname.split('/').at(-1)!;
      const { body } = await ask('GET', `/api/apis/${copyId}`);
      const listenPath =
        body.oas?.['x-gw-api-gateway'].server.listenPath.value ?? body.api_definition.proxy.listen_path;
      assert.equal(listenPath, `/${name.toLowerCase().replace(' ', '-')}-copy/`);
      assert.equal(body.oas?.['x-gw-api-gateway'].info.versioning, undefined);
      assert.deepEqual(body.user_owners, owned.includes(name) ? ['someone'] : []);
    }
    await choose('source', 'Categories');
    await page.getByLabel('Categories', { exact: true }).fill('shop\neu');
    await page.getByRole('button', { name: 'Save categories' }).click();
    await page.getByRole('row', { name: /source .*shop, eu/ }).waitFor();
    await choose('source', 'Owners');
    await page.getByRole('checkbox', { name: person.username }).check();
    await assertAccessible(page, 'dialog: owners');
    await page.getByRole('button', { name: 'Save owners' }).click();
    await page.getByRole('row', { name: /source .*1 user/ }).waitFor();
    await choose('source', 'Owners');
    assert.equal(await page.getByRole('checkbox', { name: person.username }).isChecked(), true);
  });
});

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';

const admin = { user_permissions: { IsAdmin: 'admin' } };
const hostile = '<img src=x onerror=alert(1)>';

describe('System pages', () => {
  const dashboard = testDashboard();
  let person: Person;
  before(async () => {
    person = await dashboard.addPerson(admin);
  });

  test('the status page lists this process in step, and diagnostics without secrets are copied', async () => {
    const page = await dashboard.openAs(person, '/system');
    await page.getByRole('cell', { name: 'In step' }).waitFor();
    await page.getByText('Nothing needs attention').waitFor();
    await page.getByRole('button', { name: 'Copy diagnostics' }).click();
    await page.getByText('Diagnostics copied').waitFor();
    const copied = String(await page.evaluate('navigator.clipboard.readText()'));
    const { nodes } = JSON.parse(copied);
    assert.equal(nodes.nodes[0].pid, process.pid);
    const { credentials } = dashboard.app();
    for (const secret of Object.values(credentials)) assert.ok(!copied.includes(String(secret)));
  });

  test('audit filters combine in the address, a record opens by its link, and markup in it is text', async () => {
    const { ask } = dashboard.app();
    await ask('POST', '/api/assets', { body: { id: 'audited', name: hostile, data: {} } });
    await ask('DELETE', `/api/assets/${encodeURIComponent(hostile)}`);
    const page = await dashboard.openAs(person, '/audit?method=DELETE&status=404');
    await page.getByRole('button', { name: 'deleteAsset' }).waitFor();
    assert.equal(await page.getByRole('row').count(), 2);
    await page.getByRole('cell', { name: hostile, exact: true }).waitFor();
    assert.equal(await page.locator('img').count(), 0);
    await page.getByRole('button', { name: 'deleteAsset' }).click();
    await page.getByRole('dialog', { name: 'Audit record' }).getByText('Refused (404)').waitFor();
    const link = page.url();
    assert.ok(new URL(link).searchParams.has('open'));
    const other = await dashboard.openAs(person, new URL(link).pathname + new URL(link).search);
    const dialog = other.getByRole('dialog', { name: 'Audit record' });
    await dialog.getByText('Refused (404)').waitFor();
    await assertAccessible(other, 'audit record');
    await dialog.getByRole('button', { name: 'Records of this user' }).click();
    await other.waitForURL(/user=/);
    await other.keyboard.press('Escape');
    await other.getByLabel('Status code').fill('499');
    await other.getByRole('heading', { name: 'No match' }).waitFor();
  });

  test('the record of a changed policy opens the page of the policy', async () => {
    const { ask } = dashboard.app();
    const body = { id: 'recorded', name: 'Recorded', rate: 1, per: 1, access_rights: {} };
    await ask('POST', '/api/portal/policies', { body });
    const changed = await ask('PUT', '/api/portal/policies/recorded', { body: { ...body, rate: 2 } });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    const page = await dashboard.openAs(person, '/audit?method=PUT&q=recorded');
    await page.getByRole('button', { name: 'updatePolicy' }).click();
    await page.getByRole('dialog', { name: 'Audit record' }).getByRole('button', { name: 'Open' }).click();
    await page.getByRole('heading', { name: 'Recorded', level: 1 }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/policies/recorded');
  });

  test('a template is created from an API without its ids, changed with its entity tag, and deleted after a tick', async () => {
    const { ask } = dashboard.app();
    const document = {
      openapi: '3.0.3',
      info: { title: 'Source', version: '1' },
      paths: {},
      'x-gw-api-gateway': {
        info: { id: 'source', name: 'Source', state: { active: true } },
        server: { listenPath: { value: '/source/', strip: true } },
        upstream: { url: 'http://127.0.0.1:9' },
      },
    };
    await ask('POST', '/api/apis/oas?wait=applied', { body: document });
    const page = await dashboard.openAs(person, '/templates');
    await page.getByRole('link', { name: 'New template' }).first().click();
    await page.getByRole('checkbox', { name: 'Source' }).check();
    await page.getByText('"strip"').waitFor({ state: 'detached' });
    await page.getByText('"active"').waitFor();
    await page.getByRole('button', { name: 'Create template' }).click();
    await page.getByText('Enter a name').waitFor();
    await page.getByRole('textbox', { name: 'Name (required)' }).fill(hostile);
    await page.getByRole('button', { name: 'Create template' }).click();
    await page.getByRole('heading', { name: hostile, level: 1 }).waitFor();
    const { body: all } = await ask('GET', '/api/assets');
    const stored = all.find((it: { name: string; id: string }) => it.name === hostile && it.id !== 'audited');
    assert.deepEqual(stored.data['x-gw-api-gateway'].info, { state: { active: true } });
    await ask('PUT', `/api/assets/${stored.id}`, { body: { name: hostile, data: { changed: true } } });
    await page.getByLabel('Description').fill('Mine');
    await page.getByRole('button', { name: 'Save template' }).click();
    await page.getByText('was changed in the meantime').waitFor();
    await page.getByRole('button', { name: 'Discard mine and load the stored one' }).click();
    await page.getByText('"changed"').waitFor();
    await page.goto(`${dashboard.app().url.dashboard}/templates`);
    await page
      .getByRole('button', { name: `Actions for ${hostile}` })
      .last()
      .click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const confirm = page.getByRole('alertdialog').getByRole('button', { name: /^Delete template/ });
    assert.equal(await confirm.isDisabled(), true);
    await page.getByRole('checkbox').check();
    await confirm.click();
    await page.getByText(/^Template .* deleted$/).waitFor();
  });

  test('without permission to write templates the form is read-only', async () => {
    const reader = await dashboard.addPerson({ user_permissions: { api_assets: 'read' } });
    const page = await dashboard.openAs(reader, '/templates/audited');
    await page.getByText('needs the permission api_assets:write').waitFor();
    assert.equal(await page.getByLabel('Name').isDisabled(), true);
    assert.equal(await page.getByRole('button', { name: 'Save template' }).count(), 0);
  });

  test('hosts without uptime tests: the page says what they are, and the list of examples names its setting', async () => {
    const page = await dashboard.openAs(person, '/uptime');
    await page.getByRole('heading', { name: 'No uptime tests in this time' }).waitFor();
    await page.goto(`${dashboard.app().url.dashboard}/examples`);
    await page.getByText('apis.examples_index').waitFor();
  });
});

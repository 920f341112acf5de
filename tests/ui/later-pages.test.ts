import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Person } from '../support/browser.ts';
import { testDashboard } from '../support/dashboard-app.ts';

const upstream = 'http://127.0.0.1:9';

describe('Objects beyond the first page in the dashboard', () => {
  const dashboard = testDashboard({ settings: { 'management.page_size': '2' } });
  let admin: Person;
  const toDocument = (id: string, name: string, path = id) => ({
    openapi: '3.0.3',
    info: { title: name, version: '1.0.0' },
    paths: { '/x': { get: { operationId: 'readX', summary: 'Reads x', responses: { 200: { description: 'X' } } } } },
    'x-gw-api-gateway': {
      info: { id, name, state: { active: true } },
      server: { listenPath: { value: `/${path}/`, strip: true } },
      upstream: { url: upstream },
    },
  });
  before(async () => {
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    for (const name of ['Alpha', 'Beta', 'Gamma', 'Omega']) {
      const body = toDocument(name.toLowerCase(), name);
      const { status } = await dashboard.app().ask('POST', '/api/apis/oas?wait=applied', { body });
      assert.equal(status, 200);
    }
  });

  test('a revision of a later page is compared with the newest revision', async () => {
    for (const path of ['second', 'third', 'fourth'])
      await dashboard.app().ask('PUT', '/api/apis/oas/alpha', { body: toDocument('alpha', 'Alpha', path) });
    const page = await dashboard.openAs(admin, '/apis/alpha/history?p=2');
    await page.getByRole('button', { name: 'Actions for revision 2' }).click();
    await page.getByRole('menuitem', { name: 'Compare with the newest' }).click();
    await page.waitForURL(/from=2&to=4/);
  });

  test('a template begins from an API that the search finds', async () => {
    const page = await dashboard.openAs(admin, '/templates/new');
    await page.getByRole('searchbox', { name: 'Find APIs by name' }).fill('omega');
    await page.getByRole('checkbox', { name: 'Omega' }).check();
    await page.getByText('"readX"').waitFor();
    await page.getByRole('textbox', { name: 'Name (required)' }).fill('From Omega');
    await page.getByText('"readX"').waitFor();
  });

  test('an API of a later page is chosen as a filter by a part of its name, and a link with it shows the name', async () => {
    await dashboard.app().ask('POST', '/api/portal/policies', { body: { name: 'Buyers', rate: 5, per: 60 } });
    const page = await dashboard.openAs(admin, '/policies');
    const filter = page.getByRole('combobox', { name: 'API', exact: true });
    await filter.click();
    await page.getByText('There are more: type a part of the name.').waitFor();
    await filter.fill('MEG');
    await page.getByRole('option', { name: 'Omega' }).waitFor();
    await filter.press('Enter');
    await page.waitForURL(/api_id=omega/);
    await page.reload();
    await page.locator('[role=combobox][value="Omega"]').waitFor();
    await filter.click();
    await page.getByRole('option', { name: 'Any API' }).click();
    await page.waitForURL(url => !url.search.includes('api_id'));
  });

  test('members of a group beyond the first page are on its next page', async () => {
    const { ask } = dashboard.app();
    const body = { name: 'Support', user_permissions: { apis: 'read' } };
    const { Meta: group_id } = (await ask('POST', '/api/usergroups', { body })).body;
    for (const name of ['ann', 'bob', 'cid']) {
      const user = { first_name: name, last_name: 'X', email_address: `${name}@later.example`, active: true, group_id };
      const { status, text } = await ask('POST', '/api/users', {
        body: { ...user, user_permissions: { apis: 'read' } },
      });
      assert.equal(status, 200, text);
    }
    const page = await dashboard.openAs(admin, `/user-groups/${group_id}`);
    const members = page.getByRole('link', { name: /@later\.example$/ });
    await members.nth(1).waitFor();
    const first = await members.allTextContents();
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText('Page 2 of 2').waitFor();
    const last = ['ann', 'bob', 'cid'].map(name => `${name}@later.example`).find(it => !first.includes(it))!;
    await page.getByRole('link', { name: last }).waitFor();
  });

  test('an MCP proxy of an API that the search finds is announced by the name of the API', async () => {
    const page = await dashboard.openAs(admin, '/mcp-proxies/new');
    await page.getByRole('radio', { name: /In an API of this gateway/ }).check();
    await page.getByRole('searchbox', { name: 'Find APIs by name' }).fill('omega');
    await page.getByRole('checkbox', { name: 'Omega' }).check();
    await page.getByRole('button', { name: 'Create MCP proxy' }).click();
    await page.getByText('MCP proxy Omega created').waitFor();
  });
});

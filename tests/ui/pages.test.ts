import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Person } from '../support/browser.ts';
import { testDashboard } from '../support/dashboard-app.ts';
import { dashboardPages, publicPages } from '../support/dashboard-pages.ts';
import { checkPage, settlePage, testPages } from '../support/page-walk.ts';
import { eventually } from '../support/traffic.ts';

const api = {
  api_id: 'orders',
  name: 'Orders',
  use_keyless: true,
  proxy: { listen_path: '/orders/', target_url: 'http://127.0.0.1:9', strip_listen_path: true },
};

describe('Pages of the dashboard', () => {
  // An entry of the navigation opens the developer portal in another window.
  const dashboard = testDashboard({ allowsOrigin: origin => origin === dashboard.app().url.portal });
  let admin: Person;
  let logId: string;
  before(async () => {
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const { ask } = dashboard.app();
    await ask('POST', '/api/apis?wait=applied', { body: { api_definition: api } });
    const rights = { orders: { api_id: 'orders', api_name: 'Orders', versions: ['Default'] } };
    const policy = { name: 'Starter', state: 'active', rate: 100, per: 60, access_rights: rights };
    await ask('POST', '/api/portal/policies', { body: policy });
    await ask('POST', '/api/keys', { body: { alias: 'First client', access_rights: rights } });
    await fetch(`${dashboard.app().url.gateway}/orders/first`);
    logId = await eventually(async () => {
      const { data } = (await ask('GET', '/api/logs?start=0&end=9999999999')).body;
      assert.equal(data.length, 1);
      return data[0].id;
    });
  });

  testPages(dashboard, {
    pages: dashboardPages.first,
    person: () => admin,
    resolve: path => path.replace(':log', logId),
    depth: 'buttons',
  });

  test('each page before the sign-in passes axe, keyboard and width checks', async () => {
    const page = await dashboard.openAnonymous('/login');
    const faults: string[] = [];
    for (const [path, heading] of Object.entries(publicPages)) {
      await page.goto(dashboard.app().url.dashboard + path);
      await settlePage(page, heading);
      faults.push(...(await checkPage(page, path)));
    }
    assert.deepEqual(faults, []);
  });

  test('a page whose permission is missing names it, and its entry is absent', async () => {
    const reader = await dashboard.addPerson({ user_permissions: { apis: 'read' } });
    const page = await dashboard.openAs(reader, '/keys');
    await page.getByRole('heading', { name: 'This page needs the permission keys' }).first().waitFor();
    const navigation = page.getByRole('navigation', { name: 'Main navigation' });
    assert.equal(await navigation.getByRole('link', { name: 'Keys' }).count(), 0);
    assert.equal(await navigation.getByRole('link', { name: 'All APIs' }).count(), 1);
    await navigation.getByRole('link', { name: 'All APIs' }).click();
    await page.getByRole('link', { name: 'Orders' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'New API' }).count(), 0);
  });

  test('an unknown address keeps the navigation, and asks a visitor without a session to sign in first', async () => {
    const page = await dashboard.openAs(admin, '/apis/orders/no/such/page');
    await page.getByRole('heading', { name: 'There is no such page' }).first().waitFor();
    assert.equal(await page.getByRole('main').count(), 1);
    await page.getByRole('navigation', { name: 'Main navigation' }).getByRole('link', { name: 'All APIs' }).click();
    await page.getByRole('link', { name: 'Orders' }).waitFor();
    const visitor = await dashboard.openAnonymous('/no-such-page');
    await visitor.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    assert.equal(new URL(visitor.url()).searchParams.get('next'), '/no-such-page');
  });
});

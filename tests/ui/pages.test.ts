import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';

/** Every page of the dashboard with the heading that it has, opened by an administrator. */
const pages: Readonly<Record<string, RegExp>> = {
  '/': /^Home$/,
  '/welcome': /^Welcome to Gatewright$/,
  '/welcome?api=orders': /^Welcome to Gatewright$/,
  '/apis': /^APIs$/,
  '/apis/new': /^New API$/,
  '/apis/orders': /^Orders$/,
  '/apis/orders/code': /^Orders$/,
  '/keys': /^Keys$/,
  '/keys/new': /^New key$/,
  '/policies': /^Policies$/,
  '/analytics': /^Analytics$/,
  '/logs': /^Logs$/,
  '/users': /^Users$/,
  '/users/new': /^New user$/,
  '/no-such-page': /no such page/,
};
const publicPages: Readonly<Record<string, RegExp>> = {
  '/login': /^Sign in$/,
  '/login/forgotten': /^Set a new password$/,
};

const api = {
  api_id: 'orders',
  name: 'Orders',
  use_keyless: true,
  proxy: { listen_path: '/orders/', target_url: 'http://127.0.0.1:9', strip_listen_path: true },
};

describe('Pages of the dashboard', () => {
  const dashboard = testDashboard();
  /** Of every page at three widths, for eyes: `GW_UI_SCREENSHOTS=1` prints the directory. */
  const shots = process.env.GW_UI_SCREENSHOTS ? mkdtempSync(join(tmpdir(), 'gw-ui-')) : undefined;
  let admin: Person;
  before(async () => {
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const { ask } = dashboard.app();
    await ask('POST', '/api/apis?wait=applied', { body: { api_definition: api } });
    const rights = { orders: { api_id: 'orders', api_name: 'Orders', versions: ['Default'] } };
    const policy = { name: 'Starter', state: 'active', rate: 100, per: 60, access_rights: rights };
    await ask('POST', '/api/portal/policies', { body: policy });
    await ask('POST', '/api/keys', { body: { alias: 'First client', access_rights: rights } });
    if (shots) console.log(`Screenshots: ${shots}`);
  });

  const settle = async (page: Page, heading: RegExp) => {
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    await page.waitForLoadState('networkidle');
  };
  const photograph = async (page: Page, path: string, suffix: string) => {
    if (!shots) return;
    const name = path.replaceAll(/[/?]/g, '_');
    for (const width of [360, 1280, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({ path: join(shots, `${name}-${suffix}-${width}.png`) });
    }
  };

  for (const dark of [false, true])
    test(`each is accessible and fits a screen of 360 pixels, ${dark ? 'dark' : 'light'}`, async () => {
      const page = await dashboard.openAs(admin, '/', { dark });
      for (const [path, heading] of Object.entries(pages)) {
        await page.goto(dashboard.app().url.dashboard + path);
        await settle(page, heading);
        await assertAccessible(page, path);
        await page.setViewportSize({ width: 360, height: 900 });
        const width = await page.evaluate('document.documentElement.scrollWidth');
        assert.ok(Number(width) <= 360, `${path} is ${width} wide`);
        await photograph(page, path, dark ? 'dark' : 'light');
        await page.setViewportSize({ width: 1280, height: 900 });
      }
    });

  test('pages before the sign-in are accessible', async () => {
    const page = await dashboard.openAnonymous('/login');
    for (const [path, heading] of Object.entries(publicPages)) {
      await page.goto(dashboard.app().url.dashboard + path);
      await settle(page, heading);
      await assertAccessible(page, path);
      await photograph(page, path, 'light');
    }
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
});

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';

/** A page has fewer stops. */
const maxTabs = 80;

describe('Dashboard by keyboard alone', () => {
  const dashboard = testDashboard();
  const upstream = createServer((_request, response) => response.end('from the upstream'));
  let upstreamUrl = '';
  before(async () => {
    await new Promise<void>(resolve => upstream.listen(0, '127.0.0.1', resolve));
    upstream.unref();
    upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  });
  after(() => {
    upstream.close();
    upstream.closeAllConnections();
  });

  async function tabTo(page: Page, wanted: Locator, next = 'Tab'): Promise<void> {
    await wanted.waitFor();
    for (let tabs = 0; tabs < maxTabs; tabs++) {
      if ((await wanted.and(page.locator(':focus')).count()) > 0) return;
      await page.keyboard.press(next);
    }
    assert.fail(`not reached: ${wanted}`);
  }
  const press = async (page: Page, wanted: Locator, key = 'Enter', next = 'Tab') => {
    await tabTo(page, wanted, next);
    await page.keyboard.press(key);
  };
  const type = async (page: Page, label: string, text: string) => {
    await tabTo(page, page.getByLabel(label, { exact: false }).first());
    await page.keyboard.type(text);
  };

  test('an API is created, tried and deleted without a pointer, on accessible pages', async () => {
    const admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const page = await dashboard.openAs(admin, '/audit');
    await page.getByRole('heading', { name: 'Audit' }).waitFor();
    await page.keyboard.press('Control+K');
    await page.keyboard.type('All APIs');
    await page.getByRole('option', { name: 'All APIs' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No APIs yet' }).waitFor();
    await page.keyboard.press('n');
    await page.getByRole('heading', { name: 'New API' }).waitFor();
    await type(page, 'Name', 'Typed');
    await type(page, 'Upstream URL', upstreamUrl);
    await press(page, page.getByRole('switch', { name: 'Require a key' }), 'Space');
    await assertAccessible(page, 'new API');
    await press(page, page.getByRole('button', { name: 'Create API' }));
    await page.getByText('API Typed created. Live on all traffic threads').waitFor();
    await press(page, page.getByRole('navigation', { name: 'Typed' }).getByRole('link', { name: 'Try' }));
    await page.getByLabel('Path', { exact: true }).waitFor();
    await tabTo(page, page.getByLabel('Path', { exact: true }));
    await page.keyboard.press('Control+Enter');
    await page.getByText('Status 200').waitFor();
    await assertAccessible(page, 'tried API');
    await press(page, page.getByRole('navigation', { name: 'Typed' }).getByRole('link', { name: 'Overview' }));
    await press(page, page.getByRole('button', { name: 'Actions for Typed' }));
    await press(page, page.getByRole('menuitem', { name: 'Delete' }), 'Enter', 'ArrowDown');
    const dialog = page.getByRole('alertdialog', { name: 'Delete Typed?' });
    await press(page, dialog.getByRole('checkbox'), 'Space');
    await assertAccessible(page, 'deletion');
    await press(page, dialog.getByRole('button', { name: 'Delete API Typed' }));
    await page.getByRole('heading', { name: 'No APIs yet' }).waitFor();
  });
});

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Person } from '../support/browser.ts';
import { testDashboard } from '../support/dashboard-app.ts';
import { seedKeys } from '../support/many-objects.ts';

const keyCount = 100_000;
/** Rows of a list that are in the document at most: those of the screen and some around it. */
const maxRowsInDocument = 200;

describe('List of 100,000 keys', () => {
  const dashboard = testDashboard({ settings: { 'management.page_size': '1000', 'keys.at_rest': 'hashed' } });
  let person: Person;
  const countRows = (page: Page) => page.getByRole('row').count();

  before(async () => {
    person = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    await seedKeys(dashboard.app(), keyCount);
  });

  test('a long page keeps few rows in the document while it is scrolled to its end', async () => {
    const page = await dashboard.openAs(person, '/keys');
    await page.getByText('Page 1 of 100').waitFor();
    assert.ok((await countRows(page)) < maxRowsInDocument);
    const table = page.getByRole('table');
    assert.equal(await table.getAttribute('aria-rowcount'), '1001');
    await page.keyboard.press('End');
    await table.locator('tr[aria-rowindex="1001"]').waitFor();
    assert.ok((await countRows(page)) < maxRowsInDocument);
    assert.equal(await table.locator('tr[aria-rowindex="2"]').count(), 0);
  });

  test('the server finds one of them by a part of its alias', async () => {
    const page = await dashboard.openAs(person, '/keys');
    await page.getByRole('searchbox').fill('key-0421');
    await page.waitForURL(/q=key-0421/);
    await page.getByRole('link', { name: 'key-042117' }).waitFor();
    assert.equal(await page.getByRole('table').getAttribute('aria-rowcount'), '101', 'a head and a hundred keys');
  });
});

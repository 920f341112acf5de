import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Person } from '../support/browser.ts';
import { testDashboard } from '../support/dashboard-app.ts';
import { originalName, seedApis } from '../support/many-objects.ts';

const apiCount = 10_000;

describe('List of 10,000 APIs', () => {
  const dashboard = testDashboard();
  let person: Person;

  before(async () => {
    person = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    await seedApis(dashboard.app(), apiCount);
  });

  test('the first page opens with few rows, every page is reachable, and the search runs on the server', async () => {
    const page = await dashboard.openAs(person, '/apis?sort=name');
    await page.getByRole('link', { name: 'api-000001' }).waitFor();
    assert.ok((await page.getByRole('row').count()) < 100, 'rows of one page only');
    await page.getByText('Page 1 of 1000').waitFor();
    await page.goto(`${dashboard.app().url.dashboard}/apis?sort=name&p=1000`);
    await page.getByRole('link', { name: originalName }).waitFor();
    await page.getByRole('searchbox').fill('api-00421');
    await page.getByRole('link', { name: 'api-004219' }).waitFor();
    await page.waitForURL(/q=api-00421/);
    assert.equal(await page.getByRole('row').count(), 11, 'a head and ten rows');
  });

  test('the palette finds one of them by its name', async () => {
    const page = await dashboard.openAs(person, '/');
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.keyboard.press('Control+K');
    await page.keyboard.type('api-009876');
    await page.getByRole('option', { name: 'api-009876' }).waitFor();
  });
});

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';

describe('Columns and saved views of lists', () => {
  const dashboard = testDashboard({ settings: { 'management.page_size': '300' } });
  let person: Person;
  before(async () => {
    person = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const { ask } = dashboard.app();
    for (const id of ['alpha', 'beta']) {
      const proxy = { listen_path: `/${id}/`, target_url: 'http://127.0.0.1:9', strip_listen_path: true };
      const api_definition = { api_id: id, name: id, use_keyless: true, active: id === 'alpha', proxy };
      assert.equal((await ask('POST', '/api/apis?wait=applied', { body: { api_definition } })).status, 200);
    }
  });

  test('a hidden column stays hidden in another browser, and the column of the name cannot be hidden', async () => {
    const page = await dashboard.openAs(person, '/apis');
    await page.getByRole('columnheader', { name: 'Listen path' }).waitFor();
    await page.getByRole('button', { name: 'Columns' }).click();
    const stored = page.waitForResponse(
      response => response.url().endsWith('/api/preferences') && response.request().method() === 'PUT',
    );
    await page.getByRole('menuitemcheckbox', { name: 'Listen path' }).click();
    assert.equal((await stored).status(), 200);
    assert.equal(await page.getByRole('menuitemcheckbox', { name: 'Name' }).count(), 0);
    await page.keyboard.press('Escape');
    await page.getByRole('columnheader', { name: 'Listen path' }).waitFor({ state: 'detached' });
    const other = await dashboard.openAs(person, '/apis');
    await other.getByRole('columnheader', { name: 'Name' }).waitFor();
    assert.equal(await other.getByRole('columnheader', { name: 'Listen path' }).count(), 0);
  });

  test('a saved view opens its filters again, and can be deleted', async () => {
    const page = await dashboard.openAs(person, '/apis?state=inactive');
    await page.getByRole('link', { name: 'beta' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'alpha' }).count(), 0);
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByRole('menuitem', { name: 'Save this view…' }).click();
    await page.getByLabel('Name of the view').fill('Switched off');
    await assertAccessible(page, 'dialog of a view');
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByLabel('Name of the view').waitFor({ state: 'detached' });
    await page.goto(`${dashboard.app().url.dashboard}/apis`);
    await page.getByRole('link', { name: 'alpha' }).waitFor();
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Switched off' }).click();
    await page.waitForURL(/state=inactive/);
    await page.getByRole('link', { name: 'alpha' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByRole('menuitem', { name: 'Delete view Switched off' }).click();
    await page.getByRole('button', { name: 'Saved views' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Switched off' }).waitFor({ state: 'detached' });
  });

  test('a favourite is at the top of the navigation in another browser too, until it is removed', async () => {
    const page = await dashboard.openAs(person, '/apis/alpha');
    const waitForStore = () =>
      page.waitForResponse(it => it.url().endsWith('/api/preferences') && it.request().method() === 'PUT');
    const added = waitForStore();
    await page.getByRole('button', { name: 'Add to favourites' }).click();
    assert.equal((await added).status(), 200);
    const other = await dashboard.openAs(person, '/policies');
    const entry = other.getByRole('navigation', { name: 'Main navigation' }).getByRole('link', { name: 'alpha' });
    await entry.click();
    await other.getByRole('heading', { level: 1, name: 'alpha' }).waitFor();
    await assertAccessible(other, 'favourites');
    await other.getByRole('button', { name: 'Remove from favourites' }).click();
    await entry.waitFor({ state: 'detached' });
  });
});

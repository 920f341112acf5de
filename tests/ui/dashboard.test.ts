import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testDashboard } from '../support/dashboard-app.ts';

describe('Dashboard', () => {
  const dashboard = testDashboard();

  test('the right password leads to the page that was asked for, a wrong one to a neutral text', async () => {
    const { username, password } = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const page = await dashboard.openAnonymous('/apis?q=orders');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByLabel('E-mail address').fill(username);
    await page.getByLabel('Password', { exact: true }).fill('wrong');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').getByText('Wrong e-mail address, password or code').waitFor();
    assert.equal(await page.getByLabel('Password', { exact: true }).inputValue(), '');
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'APIs' }).waitFor();
    assert.equal(new URL(page.url()).search, '?q=orders');
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';

describe('User pages', () => {
  const dashboard = testDashboard();

  async function fillUser(page: Page, email: string, role: RegExp) {
    await page.getByLabel('First name').fill('Ada');
    await page.getByLabel('Last name').fill('<b>Byron</b>');
    await page.getByLabel('E-mail address').fill(email);
    const label = await page.getByRole('option', { name: role }).textContent();
    await page.getByLabel('Role').selectOption({ label: label! });
  }
  const findUser = async (email: string) => {
    const { body } = await dashboard.app().ask('POST', '/api/users/search', { body: { filters: { query: email } } });
    return body.users[0];
  };

  test('a new user gets a link that is shown once, and the role that was chosen', async () => {
    const permissions = { IsAdmin: 'admin', ResetPassword: 'admin' };
    const page = await dashboard.openAs(await dashboard.addPerson({ user_permissions: permissions }), '/users');
    await page.getByRole('link', { name: 'New user' }).click();
    await fillUser(page, 'lovelace@example.org', /^Reader/);
    await page.getByRole('button', { name: 'Create user' }).click();
    const dialog = page.getByRole('dialog', { name: 'Invitation for lovelace@example.org' });
    await dialog.getByText('Send this link to the person').waitFor();
    await dialog.getByText('works on this computer only. The setting dashboard.url').waitFor();
    const link = await dialog.getByText('/login/reset').textContent();
    const { pathname, search } = new URL(link!);
    assert.equal((await fetch(dashboard.app().url.dashboard + pathname + search)).status, 200);
    await assertAccessible(page, 'link of a new user');
    await dialog.getByRole('button', { name: 'I have copied the link' }).click();
    await page.getByRole('cell', { name: 'lovelace@example.org' }).waitFor();
    assert.equal(await page.getByText(link!).count(), 0);
    const { user_permissions, active } = await findUser('lovelace@example.org');
    assert.deepEqual([user_permissions.apis, user_permissions.IsAdmin, active], ['read', undefined, true]);
    await page.getByRole('cell', { name: 'Reader', exact: true }).waitFor();
  });

  test('the page of a user shows the role, and another role changes the permissions', async () => {
    const admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const role = { apis: 'write', keys: 'write', policies: 'write', analytics: 'read', log: 'read' };
    const editor = await dashboard.addPerson({ user_permissions: role });
    const page = await dashboard.openAs(admin, `/users/${editor.id}`);
    const choice = page.getByLabel('Role');
    await choice.getByText('Editor: changes APIs').waitFor({ state: 'attached' });
    assert.equal(await choice.inputValue(), 'editor');
    await choice.selectOption('reader');
    await page.getByRole('button', { name: 'Save user' }).click();
    await page.getByText(`User ${editor.username} saved`).waitFor();
    assert.equal((await findUser(editor.username)).user_permissions.apis, 'read');
    await page.getByRole('radio', { name: 'Certificates: Read' }).check();
    assert.equal(await choice.inputValue(), '', 'permissions of their own');
  });

  test('a search finds users of all pages, without the address of a person in a URL', async () => {
    const found = await dashboard.addPerson({ email_address: 'needle@example.org' });
    const page = await dashboard.openAs(await dashboard.addPerson({ user_permissions: { users: 'read' } }), '/users');
    const addresses: string[] = [];
    page.on('request', request => addresses.push(request.url()));
    await page.getByLabel('Search users by e-mail address').fill('needle');
    await page.getByRole('row').nth(2).waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: found.username }).waitFor();
    assert.deepEqual(
      [...addresses, page.url()].filter(url => url.includes('needle')),
      [],
    );
    assert.equal(await page.getByRole('link', { name: 'New user' }).count(), 0);
  });

  test('a user who is no administrator sets a password and is offered only roles below the own permissions', async () => {
    const held = { users: 'write', apis: 'read', keys: 'read', policies: 'read', analytics: 'read', log: 'read' };
    const page = await dashboard.openAs(await dashboard.addPerson({ user_permissions: held }), '/users/new');
    await page.getByLabel('Role').waitFor();
    assert.equal(await page.getByRole('option').count(), 1);
    await fillUser(page, 'hopper@example.org', /^Reader/);
    await page.getByLabel('Password').fill('short');
    await page.getByRole('button', { name: 'Create user' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Password').fill('Correct horse 71 battery');
    await page.getByRole('button', { name: 'Create user' }).click();
    await page.getByRole('cell', { name: 'hopper@example.org' }).waitFor();
    assert.equal((await findUser('hopper@example.org')).user_permissions.log, 'read');
  });

  test('an invalid, a duplicate and a short-password attempt show their fault, and a limited user sees only what is permitted', async () => {
    const taken = await dashboard.addPerson({ email_address: 'taken@example.org' });
    const held = { users: 'write', apis: 'read', keys: 'read', policies: 'read', analytics: 'read', log: 'read' };
    const page = await dashboard.openAs(await dashboard.addPerson({ user_permissions: held }), '/users/new');
    await fillUser(page, 'no address', /^Reader/);
    await page.getByLabel('Password').fill('Correct horse 71 battery');
    await page.getByRole('button', { name: 'Create user' }).click();
    await page.getByText('Enter an e-mail address').waitFor();
    await page.locator('[aria-invalid]:focus').waitFor();
    assert.equal(
      await page.getByLabel('E-mail address').getAttribute('id'),
      await page.locator(':focus').getAttribute('id'),
    );
    const attempt = async (email: string, password: string, fault: RegExp) => {
      await page.getByLabel('E-mail address').fill(email);
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Create user' }).click();
      await page.getByRole('alert').getByText(fault).waitFor();
    };
    await attempt(taken.username, 'Correct horse 71 battery', /exist|taken|in use/i);
    await attempt(`${'a'.repeat(250)}@example.org`, 'Correct horse 71 battery', /^E-mail address: /);
    await attempt('short@example.org', 'short', /character|short/i);
    await assertAccessible(page, 'faults of a user');
    const navigation = page.getByRole('navigation', { name: 'Main navigation' });
    await navigation.getByRole('link', { name: 'Users' }).waitFor();
    for (const absent of ['Certificates', 'Webhooks', 'Groups', 'Audit'])
      assert.equal(await navigation.getByRole('link', { name: absent }).count(), 0, absent);
    await page.goto(`${dashboard.app().url.dashboard}/certificates`);
    await page.getByRole('heading', { name: 'This page needs the permission certs' }).first().waitFor();
  });

  test('the buttons of a dialog with a long name fit a screen of 360 pixels', async () => {
    const email_address = `${'a-rather-long-address-'.repeat(2)}of-a-person@example.org`;
    const { id } = await dashboard.addPerson({ email_address });
    const admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const page = await dashboard.openAs(admin, `/users/${id}`, { width: 360 });
    await page.getByRole('button', { name: `Actions for ${email_address}` }).click();
    await page.getByRole('menuitem', { name: 'Revoke access' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.waitFor();
    for (const name of ['Cancel', `Revoke access of ${email_address}`]) {
      const { x, width } = (await dialog.getByRole('button', { name }).boundingBox())!;
      assert.ok(x >= 0 && x + width <= 360, `${name} is from ${x} to ${x + width}`);
    }
  });
});

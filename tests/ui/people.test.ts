import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createQrCode } from '#base/qr/qr-code.ts';
import { computeTotp, toTotpStep } from '#base/totp.ts';
import { openBrowser, type Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';

describe('Pages of groups, users and the profile', () => {
  const dashboard = testDashboard();
  let admin: Person;
  before(async () => {
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin', ResetPassword: 'admin' } });
  });

  test('a group is created with the permissions of the table, and a user gets it', async () => {
    const user = await dashboard.addPerson({ email_address: 'grace@example.org', user_permissions: { log: 'read' } });
    const page = await dashboard.openAs(admin, '/user-groups/new');
    await page.getByRole('button', { name: 'Create group' }).click();
    await page.getByText('Grant at least one permission.').waitFor();
    await page.getByRole('textbox', { name: /^Name/ }).fill('Support');
    await page.getByLabel('Keys: Write', { exact: true }).check();
    await page.getByLabel('APIs: Read', { exact: true }).check();
    await page.getByRole('button', { name: 'Create group' }).click();
    await page.getByText('Group Support created').waitFor();
    await page.getByRole('heading', { name: 'Support' }).waitFor();
    const groupId = new URL(page.url()).pathname.split('/').at(-1)!;
    const { ask } = dashboard.app();
    const { body: group } = await ask('GET', `/api/usergroups/${groupId}`);
    assert.deepEqual(group.user_permissions, { keys: 'write', apis: 'read' });

    await page.goto(`${dashboard.app().url.dashboard}/users/${user.id}`);
    await page.getByRole('combobox', { name: 'Group' }).selectOption({ label: 'Support' });
    await page.getByLabel('First name').fill('<i>Grace</i>');
    await page.getByRole('button', { name: 'Save user' }).click();
    await page.getByText('User grace@example.org saved').waitFor();
    const { body: stored } = await ask('GET', `/api/users/${user.id}`);
    assert.deepEqual([stored.group_id, stored.first_name], [groupId, '<i>Grace</i>']);

    await page.getByRole('button', { name: 'Actions for grace@example.org' }).click();
    await page.getByRole('menuitem', { name: 'Revoke access' }).click();
    await page.getByRole('button', { name: 'Revoke access of grace@example.org' }).click();
    await page.getByText('Access of grace@example.org revoked').waitFor();
    assert.equal((await ask('GET', `/api/users/${user.id}`)).body.active, false);
  });

  test('permissions that a user does not hold cannot be chosen', async () => {
    const held = { user_groups: 'write', keys: 'read' };
    const page = await dashboard.openAs(await dashboard.addPerson({ user_permissions: held }), '/user-groups/new');
    await page.getByLabel('Keys: Read', { exact: true }).waitFor();
    assert.equal(await page.getByLabel('Keys: Read', { exact: true }).isDisabled(), false);
    assert.equal(await page.getByLabel('Keys: Write', { exact: true }).isDisabled(), true);
    assert.equal(await page.getByLabel('APIs: Read', { exact: true }).isDisabled(), true);
  });

  test('an authenticator app is required after its first code, and a recovery code signs in without it', async () => {
    const person = await dashboard.addPerson({ user_permissions: { apis: 'read' } });
    const page = await dashboard.openAs(person, '/profile?tab=security');
    await page.getByRole('button', { name: 'Set up authenticator app' }).click();
    await page.getByRole('dialog').getByLabel('Current password').fill(person.password);
    await page.getByRole('button', { name: 'Continue' }).click();
    const secret = await page.getByRole('region', { name: 'Secret' }).locator('code').textContent();
    const uri = await page.getByRole('link', { name: 'Link' }).getAttribute('href');
    const path = await page.getByRole('img', { name: 'QR code of the secret' }).locator('path').getAttribute('d');
    const darkModules = createQrCode(uri!)!.flat().filter(Boolean);
    assert.equal(path?.match(/M/g)?.length, darkModules.length);
    await assertAccessible(page, 'set-up of an app');
    await page
      .getByLabel('Code', { exact: false })
      .last()
      .fill(computeTotp(secret!, toTotpStep(Date.now())));
    await page.getByRole('button', { name: 'Require codes from now on' }).click();
    const dialog = page.getByRole('dialog', { name: 'Recovery codes' });
    const code = await dialog.locator('code').first().textContent();
    await dialog.getByRole('button', { name: 'I have kept the codes' }).click();
    await page.getByText(/Sign-ins require a code\. 10 recovery codes/).waitFor();
    const signIn = (more: object) =>
      openBrowser(dashboard.app()).ask('POST', '/api/session', {
        body: { username: person.username, password: person.password, ...more },
      });
    assert.notEqual((await signIn({})).status, 200);
    assert.equal((await signIn({ otp: code })).status, 200);
    const list = await dashboard.openAs(await dashboard.addPerson({ user_permissions: { users: 'read' } }), '/users');
    await list.getByRole('row').filter({ hasText: person.username }).getByText('App', { exact: true }).waitFor();
    await list.getByRole('cell', { name: 'none', exact: true }).first().waitFor();
  });

  test('the access key is renewed in the profile, shown once, and the old one is refused', async () => {
    const person = await dashboard.addPerson({ user_permissions: { apis: 'read' } });
    const page = await dashboard.openAs(person, '/profile');
    await page.getByRole('button', { name: 'Renew access key' }).click();
    const confirmation = page.getByRole('alertdialog', { name: 'Renew the access key?' });
    await confirmation.getByRole('checkbox').check();
    await confirmation.getByRole('button', { name: 'Renew access key now' }).click();
    const dialog = page.getByRole('dialog', { name: 'The new access key' });
    const key = await dialog.locator('code').textContent();
    const list = (credential: string) => dashboard.app().ask('GET', '/api/apis', { credential });
    assert.deepEqual([(await list(key!)).status, (await list(person.accessKey)).status], [200, 401]);
    await dialog.getByRole('button', { name: 'I have kept the key' }).click();
    await dialog.waitFor({ state: 'hidden' });
    assert.ok(!(await page.content()).includes(key!));
  });
});

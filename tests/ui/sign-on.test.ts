import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';
import { type OidcProvider, oidcClient, startOidcProvider } from '../support/oidc.ts';
import { freePort } from '../support/services/server.ts';

/** The redirect URI names the address of the settings. */
const port = await freePort();
const url = `http://127.0.0.1:${port}`;

describe('Sign-on profile with an OpenID provider', () => {
  let provider: OidcProvider;
  after(() => provider?.close());
  const dashboard = testDashboard({
    settings: { 'dashboard.port': String(port), 'dashboard.url': url },
    allowsOrigin: origin => origin === provider.issuer,
  });
  let admin: Person;
  before(async () => {
    provider = await startOidcProvider();
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const group = { name: 'Developers', user_permissions: { apis: 'read' } };
    const { status, text } = await dashboard.app().ask('POST', '/api/usergroups', { body: group });
    assert.equal(status, 200, text);
  });

  const addUser = (id: string, groups: readonly string[]) => {
    provider.users.set(id, { email: `${id}@example.org`, email_verified: true, name: id, groups });
    provider.account = id;
  };

  test('a profile of the form signs users on: with the permissions of a mapped group, else with none', async () => {
    const page = await dashboard.openAs(admin, '/sign-on/new');
    await page.getByLabel('Name').fill('Company');
    await page.getByLabel('Discovery URL').fill(provider.discoverUrl);
    await page.getByLabel('Client id').fill(oidcClient.id);
    await page.getByLabel('Client secret').fill(oidcClient.secret);
    await page.getByLabel('Claim with the groups').fill('groups');
    await page.getByLabel('Groups', { exact: true }).fill('devs = Developers');
    await assertAccessible(page, 'new sign-on profile');
    await page.getByRole('button', { name: 'Create profile' }).click();
    await page.getByRole('heading', { level: 1, name: 'Company' }).waitFor();
    const redirect = page.getByText(/^http:.*callback/);
    provider.serve((await redirect.first().textContent())!);
    await page.getByRole('button', { name: 'Test provider' }).click();
    await page.getByRole('list', { name: 'Result of the test' }).getByText('Passed').first().waitFor();

    addUser('mapped', ['devs']);
    const opened = page.waitForEvent('popup');
    await page.getByRole('link', { name: 'Test with my account' }).click();
    const tested = await opened;
    await tested.getByText('mapped@example.org signs on without an account.').waitFor();
    await tested.getByText('User groups: Developers').waitFor();
    await tested.getByRole('row', { name: /^groups \["devs"\]/ }).waitFor();
    await tested.close();
    const mapped = await dashboard.openAnonymous('/login?next=%2Fapis');
    await mapped.getByRole('link', { name: /Company/ }).click();
    await mapped.getByRole('heading', { level: 1, name: 'APIs' }).waitFor();
    assert.equal(await mapped.getByRole('link', { name: 'New API' }).count(), 0);
    assert.equal(await mapped.getByRole('link', { name: 'Users' }).count(), 0);

    await page.reload();
    await page.locator('dt', { hasText: 'Last successful sign-on' }).locator('+ dd time').waitFor();
    await page.getByLabel('Edit as JSON').check();
    const editor = page.getByRole('textbox', { name: 'Profile as JSON' });
    await editor.getByText('"Company"').waitFor();
    await assertAccessible(page, 'sign-on profile as JSON');
    await editor.click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('[');
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText('{"Nam":"x"}');
    await page.getByText('A profile has no member Nam.').waitFor();
    await page.getByLabel('Edit as JSON').uncheck();
    assert.equal(await page.getByLabel('Name', { exact: false }).first().inputValue(), 'Company');

    addUser('stranger', ['cooks']);
    const other = await dashboard.openAnonymous('/login');
    await other.getByRole('link', { name: /Company/ }).click();
    await other.getByRole('heading', { name: 'You have no permissions' }).waitFor();
    await other
      .getByText(/stranger@example\.org/)
      .first()
      .waitFor();
    await assertAccessible(other, 'home without permissions');
    assert.equal(await other.getByRole('link', { name: 'All APIs' }).count(), 0);
  });
});

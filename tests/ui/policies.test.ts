import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';
import { addPlan } from '../support/portal.ts';

describe('Policy pages', () => {
  const dashboard = testDashboard();
  let admin: Person;
  before(async () => {
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const authentications = {
      Orders: { use_standard_auth: true, auth: { auth_header_name: 'Authorization' } },
      Billing: { use_basic_auth: true },
      Weather: { use_keyless: true },
    };
    for (const [name, authentication] of Object.entries(authentications)) {
      const proxy = { listen_path: `/${name}/`, target_url: 'http://127.0.0.1:9' };
      const definition = { api_id: name.toLowerCase(), name, use_keyless: false, proxy, ...authentication };
      await dashboard.app().ask('POST', '/api/apis?wait=applied', { body: { api_definition: definition } });
    }
  });
  const readPolicy = async (id: string) => (await dashboard.app().ask('GET', `/api/portal/policies/${id}`)).body;

  test('missing API, name and expiry mark their tabs, and a complete policy is stored as it was entered', async () => {
    const page = await dashboard.openAs(admin, '/policies/new');
    const name = page.getByRole('textbox', { name: 'Name (required)' });
    await name.waitFor();
    assert.equal(await page.getByText('Unsaved changes').count(), 0, 'nothing was typed');
    await page.getByRole('button', { name: 'Create policy' }).click();
    await page.getByRole('link', { name: 'Access 2' }).waitFor();
    await page.getByRole('link', { name: 'Details 1' }).waitFor();
    await assertAccessible(page, 'faults of a policy');
    await name.fill('<i>Gold</i>');
    await page.getByText('Unsaved changes').waitFor();
    await page.getByLabel('Orders').check();
    assert.equal(await page.getByLabel('Billing').isDisabled(), true, 'another kind of authentication');
    assert.equal(await page.getByLabel('Weather').isDisabled(), true, 'an open API');
    await page.locator('summary').getByText('Default').click();
    await page.getByLabel('Allowed paths').fill('GET,POST /orders/[a,b]\n/health');
    await page.getByRole('link', { name: 'Limits' }).click();
    await page.getByLabel('Requests', { exact: true }).fill('7');
    await page.getByLabel('Set a quota').check();
    await page.getByLabel('Requests in a period').fill('900');
    await page.getByRole('link', { name: 'Details 1' }).click();
    await page.getByLabel('New keys expire').selectOption({ label: 'Never' });
    await page.getByRole('button', { name: 'Create policy' }).click();
    await page.getByText('Policy <i>Gold</i> saved').waitFor();
    await page.getByRole('heading', { name: '<i>Gold</i>' }).waitFor();
    const stored = await readPolicy(new URL(page.url()).pathname.split('/').at(-1)!);
    assert.deepEqual([stored.rate, stored.per, stored.quota_max, stored.key_expires_in], [7, 60, 900, 0]);
    assert.deepEqual(stored.access_rights.orders.allowed_urls, [
      { url: '/orders/[a,b]', methods: ['GET', 'POST'] },
      { url: '/health', methods: [] },
    ]);
  });

  test('a save that changes keys asks with their number and limits them at once, and members without a field stay', async () => {
    const { ask, url } = dashboard.app();
    const rights = {
      orders: { api_id: 'orders', api_name: 'Orders', versions: ['Default'], disable_introspection: true },
    };
    const smoothing = { enabled: true, step: 2, threshold: 3, trigger: 0.5, delay: 30 };
    const body = { id: 'used', name: 'Used', rate: 10, per: 60, smoothing, access_rights: rights };
    await ask('POST', '/api/portal/policies', { body });
    const [key] = await Promise.all(
      ['One', 'Two'].map(alias => ask('POST', '/api/keys?wait=applied', { body: { alias, apply_policies: ['used'] } })),
    );
    const page = await dashboard.openAs(admin, '/policies/used?tab=limits');
    await page.getByLabel('Requests', { exact: true }).fill('4');
    await page.getByRole('button', { name: 'Save policy' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Save policy Used?' });
    await dialog.getByText('This changes 2 keys at once.').waitFor();
    await dialog.getByRole('button', { name: 'Save policy Used' }).click();
    await page.getByText('Policy Used saved').waitFor();
    const stored = await readPolicy('used');
    assert.deepEqual([stored.rate, stored.smoothing], [4, smoothing]);
    assert.equal(stored.access_rights.orders.disable_introspection, true);
    const statuses: number[] = [];
    for (let call = 0; call < 5; call++)
      statuses.push((await fetch(`${url.gateway}/Orders/`, { headers: { authorization: key!.body.key_id } })).status);
    // The upstream does not exist; smoothing may refuse earlier than the rate.
    assert.deepEqual([statuses[0], statuses[4]], [502, 429]);

    await page.getByRole('link', { name: 'Keys', exact: true }).last().click();
    await page.getByRole('link', { name: 'Two' }).waitFor();
    await page.getByRole('button', { name: 'Actions for Used' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const confirmation = page.getByRole('alertdialog', { name: 'Delete policy Used?' });
    await confirmation.getByText('2 objects depend on it:').waitFor();
    await confirmation.getByRole('checkbox').check();
    await confirmation.getByRole('button', { name: 'Delete policy Used' }).click();
    await page.getByText('Policy Used deleted').waitFor();
    assert.equal((await ask('GET', '/api/portal/policies/used')).status, 404);
  });

  test('a policy that the developer portal made is marked in the list and on its page', async () => {
    const plan = await addPlan(dashboard.app(), { Name: 'plan-free', DisplayName: 'Free' });
    const page = await dashboard.openAs(admin, '/policies?q=plan-free');
    await page
      .getByRole('row', { name: /plan-free/ })
      .getByText('Plan Free')
      .waitFor();
    await page.goto(`${dashboard.app().url.dashboard}/policies/${plan.ReferenceID}`);
    await page.getByRole('region', { name: 'Developer portal' }).getByText('It is changed there').waitFor();
    await assertAccessible(page, 'policy of a plan');
  });

  test('the list narrows to an authentication and has the time of the last change, and smoothing is drawn', async () => {
    const smoothing = { enabled: true, threshold: 10, step: 40, delay: 30, trigger: 0.5 };
    const rightsTo = (id: string) => ({ [id]: { api_id: id, versions: ['Default'] } });
    for (const [id, api, more] of [
      ['smooth', 'orders', { rate: 100, per: 60, smoothing }],
      ['sharp', 'billing', {}],
    ] as const)
      await dashboard.app().ask('POST', '/api/portal/policies', {
        body: { id, name: `Kind of ${id}`, access_rights: rightsTo(api), ...more },
      });
    const page = await dashboard.openAs(admin, '/policies?q=kind of');
    const row = (name: string) => page.getByRole('row', { name: new RegExp(`Kind of ${name}`) });
    await row('sharp').waitFor();
    await page.getByLabel('Any authentication').selectOption('Key');
    await row('sharp').waitFor({ state: 'detached' });
    await row('smooth').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('auth_type'), 'authToken');
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Updated' }).click();
    await page.keyboard.press('Escape');
    await row('smooth').locator('time').waitFor();
    await page.goto(`${dashboard.app().url.dashboard}/policies/smooth?tab=limits`);
    await page
      .getByRole('img', { name: /^Rate smoothing: Begins with 10 and rises by 40, .* after 3 steps/ })
      .waitFor();
    await assertAccessible(page, 'smoothing');
  });

  test('a change of another user in between is a conflict, and both states can be chosen', async () => {
    const { ask } = dashboard.app();
    const rights = { orders: { api_id: 'orders', api_name: 'Orders', versions: ['Default'] } };
    const body = { id: 'shared', name: 'Shared', rate: 10, per: 60, access_rights: rights };
    await ask('POST', '/api/portal/policies', { body });
    const page = await dashboard.openAs(admin, '/policies/shared?tab=limits');
    await page.getByLabel('Requests', { exact: true }).fill('11');
    await ask('PUT', '/api/portal/policies/shared', { body: { ...body, rate: 12 } });
    await page.getByRole('button', { name: 'Save policy' }).click();
    const dialog = page.getByRole('dialog', { name: 'It was changed in the meantime' });
    await dialog.getByRole('button', { name: 'Overwrite with mine' }).click();
    await page.getByText('Policy Shared saved').waitFor();
    assert.equal((await readPolicy('shared')).rate, 11);
  });

  test('the merge of two policies shows the values that a key of both gets', async () => {
    const { ask } = dashboard.app();
    const rights = { orders: { api_id: 'orders', api_name: 'Orders', versions: ['Default'] } };
    for (const [id, rate] of [
      ['slow', 2],
      ['fast', 20],
    ] as const)
      await ask('POST', '/api/portal/policies', { body: { id, name: id, rate, per: 60, access_rights: rights } });
    const page = await dashboard.openAs(admin, '/policies/slow?tab=merge');
    await page.getByLabel('fast').check();
    const row = page.getByRole('table', { name: 'What a key gets' }).getByRole('row', { name: /^Rate/ });
    await row.getByText('20 a minute').waitFor();
    assert.deepEqual(await row.getByRole('cell').allTextContents(), ['20 a minute', 'fast', '2 a minuteslow']);
  });
});

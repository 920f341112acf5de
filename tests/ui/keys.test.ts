import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';
import { eventually } from '../support/traffic.ts';

const rights = { orders: { api_id: 'orders', api_name: 'Orders', versions: ['Default'] } };

const usageRange = () => {
  const now = Math.floor(Date.now() / 1000);
  return `start=${now - 3600}&end=${now + 3600}`;
};

describe('Key pages', () => {
  const dashboard = testDashboard();
  const upstream = createServer((_request, response) => response.end('from the upstream'));
  let admin: Person;
  before(async () => {
    await new Promise<void>(resolve => upstream.listen(0, '127.0.0.1', resolve));
    upstream.unref();
    const { port } = upstream.address() as AddressInfo;
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const definition = {
      api_id: 'orders',
      name: 'Orders',
      use_standard_auth: true,
      auth: { auth_header_name: 'Authorization' },
      proxy: { listen_path: '/orders/', target_url: `http://127.0.0.1:${port}`, strip_listen_path: true },
    };
    const { ask } = dashboard.app();
    await ask('POST', '/api/apis?wait=applied', { body: { api_definition: definition } });
    for (const [id, name, rate] of [
      ['gold', 'Gold', 50],
      ['silver', 'Silver', 5],
    ] as const)
      await ask('POST', '/api/portal/policies', {
        body: { id, name, rate, per: 60, quota_max: rate * 10, quota_renewal_rate: 3600, access_rights: rights },
      });
  });
  after(() => {
    upstream.close();
    upstream.closeAllConnections();
  });

  const createKey = async (body: Record<string, unknown>) =>
    (await dashboard.app().ask('POST', '/api/keys?wait=applied', { body })).body as {
      key_id: string;
      key_hash: string;
    };
  const callWith = async (key: string) =>
    fetch(`${dashboard.app().url.gateway}/orders/`, { headers: { authorization: key } });

  test('the effective view names the policy of each limit, and counts the quota that the gateway counts', async () => {
    const key = await createKey({ alias: 'Two policies', apply_policies: ['silver', 'gold'] });
    for (let call = 0; call < 3; call++) assert.equal((await callWith(key.key_id)).status, 200);
    const page = await dashboard.openAs(admin, `/keys/${key.key_hash}`);
    const limits = page.getByRole('table', { name: 'Limits and where they come from', exact: true });
    const rate = limits.getByRole('row', { name: /^Rate/ });
    await rate.waitFor();
    const cells = await rate.getByRole('cell').allTextContents();
    assert.deepEqual(cells, ['50 a minute', 'Gold', '5 a minuteSilver']);
    await page.getByText('497', { exact: true }).waitFor();
    assert.ok(!(await page.content()).includes(key.key_id), 'the page does not contain the key');
    await page.getByRole('link', { name: 'Raw' }).click();
    await page.getByText('"apply_policies"').waitFor();
    assert.ok(!(await page.content()).includes(key.key_id), 'neither does the stored form');
  });

  test('a rotated key is shown once, and both keys are accepted until the old one is ended', async () => {
    const key = await createKey({ alias: 'Rotated', access_rights: rights });
    const page = await dashboard.openAs(admin, `/keys/${key.key_hash}`);
    await page.getByRole('button', { name: 'Rotate key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rotate key Rotated' });
    await dialog.getByLabel('The old key is accepted for').selectOption({ label: '1 hour' });
    await assertAccessible(page, 'rotation');
    await dialog.getByRole('button', { name: 'Rotate key' }).click();
    const shown = page.getByRole('dialog', { name: 'The new key' });
    const renewed = await shown.locator('code').textContent();
    assert.deepEqual([(await callWith(renewed!)).status, (await callWith(key.key_id)).status], [200, 200]);
    await shown.getByRole('button', { name: 'End the old key now' }).click();
    const confirmation = page.getByRole('alertdialog', { name: 'End the old key of Rotated?' });
    await confirmation.getByRole('checkbox').check();
    await confirmation.getByRole('button', { name: 'End the old key now' }).click();
    await shown.getByText('The old key has ended').waitFor();
    assert.deepEqual([(await callWith(renewed!)).status, (await callWith(key.key_id)).status], [200, 403]);
    await shown.getByRole('button', { name: 'I have saved the key' }).click();
    await page.getByRole('heading', { name: 'Rotated' }).waitFor();
    await page.waitForURL(url => !url.pathname.includes(key.key_hash));
    assert.ok(!(await page.content()).includes(renewed!));
  });

  test('a saved key keeps its quota, and a reset sets it to the start', async () => {
    const limits = { quota_max: 10, quota_renewal_rate: 3600 };
    const key = await createKey({ alias: 'Counted', access_rights: rights, ...limits });
    for (let call = 0; call < 4; call++) await callWith(key.key_id);
    const page = await dashboard.openAs(admin, `/keys/${key.key_hash}?tab=settings`);
    await page.getByLabel('Alias').fill('Counted twice');
    await page.getByLabel('Tags').fill('one\ntwo');
    await page.getByRole('button', { name: 'Save key' }).click();
    await page.getByText('Key Counted saved').waitFor();
    await page.getByRole('heading', { name: 'Counted twice' }).waitFor();
    await page.getByRole('link', { name: 'Effective' }).click();
    await page.getByText('6', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Actions for Counted twice' }).click();
    await page.getByRole('menuitem', { name: 'Reset quota' }).click();
    await page.getByRole('button', { name: 'Reset quota of Counted twice' }).click();
    await page.getByText('Quota of Counted twice reset').waitFor();
    const { body } = await dashboard.app().ask('GET', `/api/keys/${key.key_hash}?hashed=true`);
    assert.deepEqual([body.data.tags, body.data.quota_remaining], [['one', 'two'], 10]);
  });

  test('the list and the effective view name APIs whose names the key does not have', async () => {
    const key = await createKey({
      alias: 'Nameless',
      access_rights: { orders: { api_id: 'orders', versions: ['Default'] } },
    });
    const page = await dashboard.openAs(admin, '/keys?q=nameless');
    const row = page.getByRole('row', { name: /Nameless/ });
    await row.getByText('Orders', { exact: true }).waitFor();
    await page.goto(`${dashboard.app().url.dashboard}/keys/${key.key_hash}`);
    await page.locator('summary').getByText('Orders', { exact: true }).waitFor();
  });

  test('the list finds keys that expire soon, and its address keeps the filter', async () => {
    const nowSeconds = Math.floor(Date.now() / 1000);
    for (const [alias, days] of [
      ['Due soon', 3],
      ['Due later', 20],
    ] as const)
      await createKey({ alias, access_rights: rights, expires: nowSeconds + days * 86_400 });
    await createKey({ alias: 'Due never', access_rights: rights });
    const page = await dashboard.openAs(admin, '/keys?q=due');
    const row = (alias: string) => page.getByRole('row', { name: new RegExp(alias) });
    await row('Due never').waitFor();
    await page.getByLabel('Any expiry').selectOption('Expired, or within 7 days');
    await row('Due later').waitFor({ state: 'detached' });
    await row('Due soon').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('expires'), '7d');
    await page.goto(`${dashboard.app().url.dashboard}/keys?q=due&expires=30d`);
    await row('Due later').waitFor();
    assert.equal(await row('Due never').count(), 0);
    await assertAccessible(page, 'keys that expire soon');
  });

  test('the list narrows to a tag, and has last use and requests of 24 hours in chosen columns', async () => {
    const used = await createKey({ alias: 'Tagged used', access_rights: rights, tags: ['mobile'] });
    await createKey({ alias: 'Tagged unused', access_rights: rights, tags: ['mobile', 'old'] });
    await createKey({ alias: 'Tagged otherwise', access_rights: rights, tags: ['old'] });
    await callWith(used.key_id);
    await eventually(async () => {
      const { body } = await dashboard.app().ask('GET', `/api/usage?${usageRange()}&key=${used.key_hash}`);
      assert.equal(body.data[0]?.hits, 1);
    });
    const page = await dashboard.openAs(admin, '/keys');
    await page.getByLabel('Tag', { exact: true }).fill('mobile');
    const row = (alias: string) => page.getByRole('row', { name: new RegExp(alias) });
    await row('Tagged otherwise').waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).searchParams.get('tag'), 'mobile');
    for (const name of ['Last used', 'Requests, 24 h']) {
      await page.getByRole('button', { name: 'Columns' }).click();
      await page.getByRole('menuitemcheckbox', { name }).click();
      await page.keyboard.press('Escape');
    }
    await row('Tagged unused').getByText('not in 30 days').waitFor();
    await row('Tagged used').getByRole('cell', { name: '1', exact: true }).waitFor();
    await row('Tagged used')
      .getByText(/now|ago/)
      .waitFor();
  });

  test('chosen keys are deleted together after a tick, and are refused', async () => {
    const keys = await Promise.all(['Bulk a', 'Bulk b'].map(alias => createKey({ alias, access_rights: rights })));
    const page = await dashboard.openAs(admin, '/keys?q=bulk');
    for (const alias of ['Bulk a', 'Bulk b']) await page.getByLabel(`Select ${alias}`).check();
    await page.getByRole('button', { name: 'Delete 2 keys' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Delete 2 keys?' });
    await dialog.getByRole('checkbox').check();
    await dialog.getByRole('button', { name: 'Delete 2 keys' }).click();
    await page.getByText('2 keys deleted').waitFor();
    for (const { key_id } of keys) assert.equal((await callWith(key_id)).status, 403);
  });

  test('chosen keys get a policy and a later expiry with a result for each, and a refused one stays selected', async () => {
    const expires = Math.floor(Date.now() / 1000) + 86_400;
    const [one, gone] = [
      await createKey({ alias: 'Changed together 1', access_rights: rights, expires }),
      await createKey({ alias: 'Changed together 2', access_rights: rights, expires }),
    ];
    const page = await dashboard.openAs(admin, '/keys?q=changed together');
    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check();
    await page.getByRole('button', { name: 'Extend expiry …' }).click();
    const extension = page.getByRole('dialog', { name: 'Extend 2 keys' });
    await extension.getByLabel('New expiry').selectOption({ label: 'In 365 days' });
    await assertAccessible(page, 'extension of keys');
    await extension.getByRole('button', { name: 'Extend 2 keys' }).click();
    await extension.getByText('2 of 2 keys').waitFor();
    await extension.getByRole('button', { name: 'Close', exact: true }).last().click();
    await extension.waitFor({ state: 'detached' });
    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check();
    await dashboard.app().ask('DELETE', `/api/keys/${gone.key_id}`);
    await page.getByRole('button', { name: 'Policies …' }).click();
    const policies = page.getByRole('dialog', { name: 'Policies of 2 keys' });
    await policies.getByRole('checkbox', { name: 'Gold' }).check();
    await policies.getByRole('button', { name: 'Apply to 2 keys' }).click();
    const results = policies.getByRole('list', { name: 'Result of each key' }).getByRole('listitem');
    await results.filter({ hasText: 'Changed together 1' }).getByText('done').waitFor();
    await results.filter({ hasText: 'Could not retrieve key detail' }).getByText('failed').waitFor();
    await policies.getByRole('button', { name: 'Try 1 failed key again' }).waitFor();
    await assertAccessible(page, 'results of keys');
    await policies.getByRole('button', { name: 'Close', exact: true }).last().click();
    await page.getByText('1 selected').waitFor();
    const { data } = (await dashboard.app().ask('GET', `/api/keys/${one.key_id}`)).body;
    assert.deepEqual([data.apply_policies, data.expires > expires + 300 * 86_400], [['gold'], true]);
  });

  test('a user who may only read keys sees the settings without a way to save them', async () => {
    const key = await createKey({ alias: '<img src=x onerror=alert(1)>', access_rights: rights });
    const reader = await dashboard.addPerson({ user_permissions: { keys: 'read' } });
    const page = await dashboard.openAs(reader, `/keys/${key.key_hash}?tab=settings`);
    await page.getByRole('heading', { name: '<img src=x onerror=alert(1)>' }).waitFor();
    assert.equal(await page.getByLabel('Alias').isDisabled(), true);
    assert.equal(await page.getByRole('button', { name: 'Save key' }).count(), 0);
    assert.equal(await page.getByRole('button', { name: 'Rotate key' }).count(), 0);
  });
});

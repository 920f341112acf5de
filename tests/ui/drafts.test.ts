import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Person } from '../support/browser.ts';
import { readAgain, testDashboard } from '../support/dashboard-app.ts';

const rights = { orders: { api_id: 'orders', api_name: 'Orders', versions: ['Default'] } };
const upstream = 'http://127.0.0.1:9';

describe('Drafts and conflicts in the dashboard', () => {
  const dashboard = testDashboard();
  let admin: Person;
  before(async () => {
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const definition = {
      api_id: 'orders',
      name: 'Orders',
      use_standard_auth: true,
      auth: { auth_header_name: 'Authorization' },
      proxy: { listen_path: '/orders/', target_url: upstream },
    };
    await dashboard.app().ask('POST', '/api/apis?wait=applied', { body: { api_definition: definition } });
  });
  const conflictOf = (page: Page) => page.getByRole('dialog', { name: 'It was changed in the meantime' });
  const takeStored = async (page: Page) => {
    await conflictOf(page).getByRole('button', { name: 'Discard mine and load the stored one' }).click();
    await conflictOf(page).waitFor({ state: 'detached' });
  };

  test('after a conflict of a policy the stored state is loaded, and the next save succeeds', async () => {
    const { ask } = dashboard.app();
    const body = { id: 'shared', name: 'Shared', rate: 10, per: 60, access_rights: rights };
    await ask('POST', '/api/portal/policies', { body });
    const page = await dashboard.openAs(admin, '/policies/shared?tab=limits');
    const rate = page.getByLabel('Requests', { exact: true });
    await rate.fill('11');
    await ask('PUT', '/api/portal/policies/shared', { body: { ...body, rate: 12 } });
    await page.getByRole('button', { name: 'Save policy' }).click();
    await takeStored(page);
    assert.equal(await rate.inputValue(), '12');
    await rate.fill('13');
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.getByText('Policy Shared saved').waitFor();
    assert.equal((await ask('GET', '/api/portal/policies/shared')).body.rate, 13);
  });

  test('after a conflict of a webhook the stored state is loaded', async () => {
    const { ask } = dashboard.app();
    const body = { name: 'Alarms', method: 'POST', target_path: `${upstream}/alarms` };
    const id = (await ask('POST', '/api/hooks', { body })).body.ID;
    const page = await dashboard.openAs(admin, `/webhooks/${id}`);
    await page.getByLabel('Name').fill('Mine');
    await ask('PUT', `/api/hooks/${id}`, { body: { ...body, name: 'Theirs' } });
    await page.getByRole('button', { name: 'Save webhook' }).click();
    await takeStored(page);
    assert.equal(await page.getByLabel('Name').inputValue(), 'Theirs');
  });

  test('a save of a key with a quota reset also resets it when a conflict is overwritten', async () => {
    const { ask, url } = dashboard.app();
    const body = { alias: 'Counted', access_rights: rights, quota_max: 10, quota_renewal_rate: 3600 };
    const key = (await ask('POST', '/api/keys?wait=applied', { body })).body;
    const path = `/api/keys/${key.key_hash}?hashed=true`;
    for (let call = 0; call < 3; call++)
      await fetch(`${url.gateway}/orders/`, { headers: { authorization: key.key_id } });
    const page = await dashboard.openAs(admin, `/keys/${key.key_hash}?tab=settings`);
    await page.getByLabel('Alias').fill('Mine');
    await ask('PUT', `${path}&suppress_reset=1`, { body: { ...body, alias: 'Theirs' } });
    assert.equal((await ask('GET', path)).body.data.quota_remaining, 7);
    await page.getByRole('button', { name: 'Save and reset quota' }).click();
    await conflictOf(page).getByRole('button', { name: 'Overwrite with mine' }).click();
    await page.getByText('quota', { exact: false }).first().waitFor();
    await page.getByRole('heading', { name: 'Mine' }).waitFor();
    const { data } = (await ask('GET', path)).body;
    assert.deepEqual([data.alias, data.quota_remaining], ['Mine', 10]);
  });

  test('typed text of a template stays when a later read has another state, and a conflict loads that state', async () => {
    const { ask } = dashboard.app();
    await ask('POST', '/api/assets', { body: { id: 'drafted', name: 'Drafted', data: {} } });
    const page = await dashboard.openAs(admin, '/templates/drafted');
    await page.getByLabel('Description').fill('Mine');
    await ask('PUT', '/api/assets/drafted', { body: { name: 'Theirs', data: { changed: true } } });
    await readAgain(page);
    await page.getByRole('heading', { name: 'Theirs', level: 1 }).waitFor();
    assert.equal(await page.getByLabel('Description').inputValue(), 'Mine');
    await page.getByRole('button', { name: 'Save template' }).click();
    await takeStored(page);
    assert.equal(await page.getByLabel('Name').inputValue(), 'Theirs');
    assert.equal(await page.getByLabel('Description').inputValue(), '');
  });

  test('a typed definition of an MCP proxy stays when a later read has another state', async () => {
    const { ask } = dashboard.app();
    const document = (name: string) => ({
      openapi: '3.0.3',
      info: { title: name, version: '1.0.0' },
      paths: {},
      'x-gw-api-gateway': {
        info: { id: 'tools', name, state: { active: true } },
        server: { listenPath: { value: '/tools/', strip: true } },
        upstream: { url: upstream },
      },
    });
    const created = await ask('POST', '/api/mcps?wait=applied', { body: document('Tools') });
    assert.equal(created.status, 200, JSON.stringify(created.body));
    const page = await dashboard.openAs(admin, `/mcp-proxies/${created.body.ID}`);
    const editor = page.getByRole('textbox', { name: 'Definition of ' });
    await editor.click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('mine');
    await editor.getByText('mine').waitFor();
    const changed = await ask('PUT', `/api/mcps/${created.body.ID}?wait=applied`, { body: document('Theirs') });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    await readAgain(page);
    await page.getByRole('heading', { name: 'Theirs', level: 1 }).waitFor();
    await editor.getByText('mine').waitFor();
  });
});

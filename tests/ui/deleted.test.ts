import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';
import { eventually, openApi, publish } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

describe('Recently deleted', () => {
  const dashboard = testDashboard();
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream?.close());

  test('a deleted API is listed with its user, and is served again after it is restored', async () => {
    const definition = openApi(upstream, { api_id: 'parcels', name: 'Parcels', proxy: { listen_path: '/parcels/' } });
    const url = await publish(dashboard.app(), definition);
    const admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const page = await dashboard.openAs(admin, '/apis/parcels');
    await page.getByRole('button', { name: 'Actions for Parcels' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const deletion = page.getByRole('alertdialog', { name: 'Delete Parcels?' });
    await deletion.getByLabel('I understand. It can be restored later, under Recently deleted').check();
    await deletion.getByRole('button', { name: 'Delete API Parcels' }).click();
    await page.getByText('API Parcels deleted').waitFor();
    await page.getByRole('link', { name: 'Recently deleted' }).click();
    const row = page.getByRole('row', { name: /Parcels/ });
    await row.getByText(admin.username).waitFor();
    await assertAccessible(page, 'deleted objects');
    await row.getByRole('button', { name: 'Restore Parcels' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Restore Parcels?' });
    await dialog.getByRole('button', { name: 'Restore Parcels' }).click();
    await page.getByText('Parcels restored').waitFor();
    await page.getByRole('heading', { name: 'Nothing was deleted' }).waitFor();
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Parcels' }).waitFor();
    await page.getByText('Served', { exact: true }).waitFor();
    assert.equal((await fetch(`${url}/one`)).status, 200);
  });

  test('a user sees the kinds that the permissions allow, without a way to restore what they only read', async () => {
    const { ask } = dashboard.app();
    await ask('POST', '/api/portal/policies', { body: { id: 'bronze', name: 'Bronze' } });
    assert.equal((await ask('DELETE', '/api/portal/policies/bronze')).status, 200);
    const reader = await dashboard.addPerson({ user_permissions: { policies: 'read' } });
    const page = await dashboard.openAs(reader, '/');
    await page.getByRole('link', { name: 'Recently deleted' }).click();
    await page.getByRole('cell', { name: 'Bronze', exact: true }).waitFor();
    const tabs = page.getByRole('navigation', { name: 'Recently deleted' });
    assert.deepEqual(await tabs.getByRole('link').allTextContents(), ['Policies']);
    assert.equal(await page.getByRole('button', { name: 'Restore Bronze' }).count(), 0);
  });

  test('a page whose object was deleted elsewhere keeps its data, with the reason and the age', async () => {
    const { ask } = dashboard.app();
    const hook = { name: 'Alarms', method: 'POST', target_path: 'http://127.0.0.1:9/' };
    const { ID: id } = (await ask('POST', '/api/hooks', { body: hook })).body;
    const admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const page = await dashboard.openAs(admin, `/webhooks/${id}`);
    await page.getByRole('heading', { name: 'Alarms' }).waitFor();
    assert.equal((await ask('DELETE', `/api/hooks/${id}`)).status, 200);
    const banner = page.getByText(/^This page could not be updated: .*not found.* Its data is from/i);
    await eventually(async () => {
      await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`);
      await banner.waitFor({ timeout: 2000 });
    });
    await page.getByRole('heading', { name: 'Alarms' }).waitFor();
    await assertAccessible(page, 'page that could not be updated');
  });

  test('the history of a policy is compared, and an earlier revision is restored', async () => {
    const { ask } = dashboard.app();
    const body = { id: 'tiers', name: 'Tiers', rate: 5, per: 60 };
    await ask('POST', '/api/portal/policies', { body });
    await ask('PUT', '/api/portal/policies/tiers', { body: { ...body, rate: 9 } });
    const admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const page = await dashboard.openAs(admin, '/policies/tiers');
    await page.getByRole('link', { name: 'History', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'History of Tiers' }).waitFor();
    await page.getByRole('cell', { name: 'rate limit 5 → 9 a minute' }).waitFor();
    await page.getByRole('button', { name: 'Actions for revision 1' }).click();
    await page.getByRole('menuitem', { name: 'Restore' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Restore revision 1?' });
    await dialog.getByText('/rate').waitFor();
    await dialog.getByRole('button', { name: 'Restore revision 1' }).click();
    await page.getByText('Revision 1 restored. Live on all traffic threads').waitFor();
    assert.equal((await ask('GET', '/api/portal/policies/tiers')).body.rate, 5);
    await page.getByRole('button', { name: 'Back to Tiers' }).click();
    await page.getByRole('heading', { level: 1, name: 'Tiers' }).waitFor();
  });
});

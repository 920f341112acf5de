import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';
import { eventually, openApi, publish } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const run = promisify(execFile);

describe('Overview of an API', () => {
  const dashboard = testDashboard();
  let upstream: Upstream;
  let admin: Person;

  before(async () => {
    upstream = await startUpstream();
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
  });
  after(() => upstream?.close());

  test('the command calls the API once the key is filled in, and the chart shows the request', async () => {
    const auth = { auth_header_name: "X-It's-Key" };
    const more = { use_keyless: false, use_standard_auth: true, auth_configs: { authToken: auth }, auth };
    const definition = { api_id: 'orders', name: 'Orders', proxy: { listen_path: '/orders/' } };
    await publish(dashboard.app(), openApi(upstream, { ...definition, ...more }));
    const access_rights = { orders: { api_id: 'orders', api_name: 'Orders', versions: ['Default'] } };
    const key = await dashboard.app().ask('POST', '/api/keys', { body: { alias: 'client', access_rights } });
    const page = await dashboard.openAs(admin, '/apis/orders');
    await page.getByRole('button', { name: 'Copy command' }).click();
    const command = String(await page.evaluate('navigator.clipboard.readText()'));
    const { stdout } = await run('sh', [
      '-c',
      `${command.replace('YOUR-KEY', key.body.key_id)} -o /dev/null -w '%{http_code}'`,
    ]);
    assert.equal(stdout, '200', command);
    // The listener has any free port.
    assert.ok(command.includes(dashboard.app().url.gateway), command);
    await page.getByText('No requests in the last 24 hours.').waitFor();
    await eventually(async () => {
      await page.reload();
      await page.getByText('1 request, 0 errors').waitFor({ timeout: 2000 });
    });
    const endpoints = page.getByRole('region', { name: 'Top endpoints of the last 24 hours' });
    await endpoints.getByRole('row', { name: /^GET \/\S* 1 0%/ }).waitFor();
    await page.getByText('The API has no uptime tests, or none has run yet.').waitFor();
    await page.getByRole('link', { name: 'Analytics of this API' }).click();
    await page.waitForURL(/\/analytics\?.*api_id=orders/);
    await page.goBack();
    await page.getByRole('button', { name: 'Actions for Orders' }).click();
    await page.getByRole('menuitem', { name: 'Deactivate' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Deactivate Orders?' });
    await dialog.getByText('1 object depends on it:').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('link', { name: 'Requests of this API' }).click();
    await page.waitForURL(/\/logs\?.*api_id=orders/);
  });

  test('paths that clients called become endpoints with parameters in place of ids, and code is formatted', async () => {
    const { ask, url } = dashboard.app();
    const document = {
      openapi: '3.0.3',
      info: { title: 'Stock', version: '1.0.0' },
      paths: {},
      'x-gw-api-gateway': {
        info: { id: 'stock', name: 'Stock', state: { active: true } },
        server: { listenPath: { value: '/stock/', strip: true } },
        upstream: { url: upstream.url },
        middleware: { global: { trafficLogs: { enabled: true } } },
      },
    };
    await ask('POST', '/api/apis/oas?wait=applied', { body: document });
    for (const path of ['items/17', 'items/18', 'shelves']) assert.ok((await fetch(`${url.gateway}/stock/${path}`)).ok);
    await eventually(async () => {
      const end = Math.ceil(Date.now() / 1000) + 60;
      const usage = await ask('GET', `/api/usage?api_id=stock&start=${end - 3600}&end=${end}&group_by=path`);
      assert.equal(usage.body.data.length, 3, usage.text);
    });
    const page = await dashboard.openAs(admin, '/apis/stock/endpoints');
    await page.getByRole('link', { name: 'Import OpenAPI' }).waitFor();
    await page.getByRole('button', { name: 'Propose from logged paths' }).click();
    const dialog = page.getByRole('dialog', { name: 'Endpoints from logged paths' });
    await dialog.getByRole('checkbox', { name: 'GET /shelves' }).uncheck();
    assert.equal(await dialog.getByRole('checkbox').count(), 2);
    await assertAccessible(page, 'proposed endpoints');
    await dialog.getByRole('button', { name: 'Add 1 endpoint' }).click();
    await page.getByRole('heading', { name: '/items/{items_id}' }).waitFor();
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('API Stock saved').waitFor();
    const { body: stored } = await ask('GET', '/api/apis/oas/stock');
    assert.deepEqual(Object.keys(stored.paths), ['/items/{items_id}']);

    await page.getByRole('link', { name: 'Code', exact: true }).click();
    const editor = page.getByRole('textbox', { name: 'Definition of Stock' });
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(JSON.stringify(stored))})`);
    await editor.click();
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Control+V');
    await page.getByText('Unsaved changes').waitFor();
    await page.getByRole('button', { name: 'Format', exact: true }).click();
    await page.getByText('"/items/{items_id}": {').waitFor();
    await page.getByText('No changes').waitFor();
  });

  test('an API with an id that equals a path of the dashboard has pages of its own', async () => {
    for (const id of ['new', 'import']) {
      const definition = { api_id: id, name: `Named ${id}`, proxy: { listen_path: `/named-${id}/` } };
      await publish(dashboard.app(), openApi(upstream, definition));
      const page = await dashboard.openAs(admin, '/apis');
      await page.getByRole('link', { name: `Named ${id}` }).click();
      await page.getByRole('heading', { level: 1, name: `Named ${id}` }).waitFor();
      assert.equal(new URL(page.url()).pathname, `/apis/-/${id}`);
      await page.getByRole('link', { name: 'Code', exact: true }).click();
      await page.waitForURL(`**/apis/-/${id}/code`);
      await page.reload();
      await page.getByRole('heading', { level: 1, name: `Named ${id}` }).waitFor();
      await page.keyboard.press('Control+K');
      await page.keyboard.type(`Named ${id}`);
      await page.getByRole('option', { name: `Named ${id}` }).click();
      await page.waitForURL(`**/apis/-/${id}`);
      await page.getByRole('heading', { level: 1, name: `Named ${id}` }).waitFor();
      await page.goto(`${dashboard.app().url.dashboard}/apis/${id}`);
      await page.getByRole('heading', { level: 1, name: id === 'new' ? 'New API' : 'Import API' }).waitFor();
    }
  });
});

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { Person } from '../support/browser.ts';
import { testDashboard } from '../support/dashboard-app.ts';
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
    await page.getByRole('link', { name: 'Analytics of this API' }).click();
    await page.waitForURL(/\/analytics\?.*api_id=orders/);
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

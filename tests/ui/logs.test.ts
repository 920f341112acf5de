import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';
import { eventually, openApi, publish } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

describe('Logs page', () => {
  const dashboard = testDashboard();
  let upstream: Upstream;
  let reader: Person;
  const send = (path: string) => fetch(dashboard.app().url.gateway + path);
  const linkOf = (page: Page, path: string) => page.getByRole('button', { name: `Details of GET ${path}` });

  before(async () => {
    upstream = await startUpstream();
    reader = await dashboard.addPerson({ user_permissions: { log: 'read' } });
    const named = (name: string, more = {}) =>
      openApi(upstream, { api_id: name, name, proxy: { listen_path: `/${name}/` }, ...more });
    await publish(dashboard.app(), named('recorded', { enable_detailed_recording: true }));
    await publish(dashboard.app(), named('plain'));
    await publish(dashboard.app(), named('limited', { use_keyless: false, use_standard_auth: true }));
    await send('/recorded/%3Cimg%20src=x%3E');
    await send('/plain/first');
    await eventually(async () => {
      const now = Math.floor(Date.now() / 1000);
      const { body } = await dashboard.app().ask('GET', `/api/logs?start=${now - 600}&end=${now + 600}`);
      assert.equal(body.data.length, 2);
    });
  });
  after(() => upstream?.close());

  test('filters are in the address, and a link with them shows the same requests', async () => {
    const page = await dashboard.openAs(reader, '/logs');
    await linkOf(page, '/plain/first').waitFor();
    await linkOf(page, '/recorded/%3Cimg%20src=x%3E').click();
    const dialog = page.getByRole('dialog', { name: 'Request' });
    await dialog.getByRole('region', { name: 'Recorded request' }).getByText('GET /', { exact: false }).waitFor();
    await dialog
      .getByRole('region', { name: 'Recorded response' })
      .getByText('HTTP/1.1 200', { exact: false })
      .waitFor();
    await assertAccessible(page, 'details');
    await dialog.getByRole('link', { name: 'Open on its own page' }).click();
    await page.getByRole('link', { name: 'All requests' }).waitFor();
    assert.match(new URL(page.url()).pathname, /^\/logs\/\d+-[0-9a-f]{32}$/);
    await page.reload();
    await page.getByRole('region', { name: 'Recorded request' }).getByText('GET /', { exact: false }).waitFor();
    const command = page.getByRole('region', { name: 'As curl' });
    await command.getByText(/^curl -sS .*'http:.*\/recorded\/%3Cimg%20src=x%3E'$/).waitFor();
    await assertAccessible(page, 'page of a request');
    await page.getByRole('link', { name: 'All requests' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export NDJSON' }).click();
    const exported = await readFile(await (await download).path(), 'utf8');
    assert.deepEqual(
      exported
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line).api_id)
        .sort(),
      ['plain', 'recorded'],
    );
    await linkOf(page, '/recorded/%3Cimg%20src=x%3E').click();
    await dialog.getByRole('button', { name: 'Requests to this API' }).click();
    await linkOf(page, '/plain/first').waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).searchParams.get('api_id'), 'recorded');
    await page.goto(`${dashboard.app().url.dashboard}/logs?api_id=plain&errors=only`);
    await page.getByRole('heading', { name: 'No match' }).waitFor();
    await page.getByLabel('Outcome').selectOption('Any outcome');
    await linkOf(page, '/plain/first').click();
    await page.getByText('Headers and bodies were not recorded').waitFor();
  });

  test('a request whose upstream refuses connections leads to the upstream settings of its API', async () => {
    const proxy = { listen_path: '/closed/', target_url: 'http://127.0.0.1:9/' };
    await publish(dashboard.app(), openApi(upstream, { api_id: 'closed', name: 'closed', proxy }));
    assert.equal((await fetch(`${dashboard.app().url.gateway}/closed/`)).status, 502);
    const admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const page = await dashboard.openAs(admin, '/logs?api_id=closed&errors=only');
    await eventually(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click();
      assert.equal(await linkOf(page, '/closed/').count(), 1);
    });
    await linkOf(page, '/closed/').click();
    await page.getByRole('link', { name: 'Check or change the upstream of the API' }).click();
    await page.waitForURL(/\/apis\/closed\/settings\?section=upstream/);
  });

  test('a refused request says why in words, with the limit that its key has', async () => {
    const rights = { limited: { api_id: 'limited', api_name: 'limited', versions: ['Default'] } };
    const { ask, url } = dashboard.app();
    const policy = { id: 'slow', name: 'Slow', rate: 1, per: 3600, access_rights: rights };
    await ask('POST', '/api/portal/policies', { body: policy });
    const key = (await ask('POST', '/api/keys?wait=applied', { body: { alias: 'Busy', apply_policies: ['slow'] } }))
      .body;
    const call = () => fetch(`${url.gateway}/limited/twice`, { headers: { authorization: key.key_id } });
    await call();
    assert.equal((await call()).status, 429);
    const admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const page = await dashboard.openAs(admin, '/logs?api_id=limited&errors=only');
    await eventually(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click();
      assert.equal(await linkOf(page, '/limited/twice').count(), 1);
    });
    await page.getByLabel('Key', { exact: true }).fill('Idle');
    await page.getByRole('heading', { name: 'No match' }).waitFor();
    const addresses: string[] = [];
    page.on('request', it => addresses.push(it.url()));
    await page.getByLabel('Key', { exact: true }).fill(key.key_id);
    await page.waitForURL(new RegExp(`key=${key.key_hash}`));
    await linkOf(page, '/limited/twice').waitFor();
    await page.getByLabel('Key', { exact: true }).fill(`${key.key_id}0`);
    await page.getByText('No key that you may read has this text').waitFor();
    assert.ok(page.url().includes(key.key_hash));
    assert.ok(addresses.every(it => !decodeURIComponent(it).includes(key.key_id)));
    await page.getByLabel('Key', { exact: true }).fill('usy');
    await linkOf(page, '/limited/twice').click();
    const why = page.getByRole('dialog', { name: 'Request' }).getByRole('region', { name: 'Why it was refused' });
    await why.getByText('The rate limit of the key, or of the key at the endpoint, is exceeded.').waitFor();
    await why.getByRole('row', { name: /^Rate 1 an hour Slow/ }).waitFor();
    await why.getByText('Refused by the rate limit of policy Slow: 1 an hour.').waitFor();
    await page.getByRole('region', { name: 'As curl' }).getByText(`'${url.gateway}/limited/twice'`).waitFor();
    await assertAccessible(page, 'refused request');
    await why.getByRole('link', { name: 'Open key' }).click();
    await page.getByRole('heading', { name: 'Busy' }).waitFor();
  });

  test('a paused live tail counts requests and shows them when it is resumed', async () => {
    const page = await dashboard.openAs(reader, '/logs?live=on&api_id=plain');
    await page.getByRole('status').getByText('Live', { exact: true }).waitFor();
    await send('/recorded/other');
    await send('/plain/followed');
    await linkOf(page, '/plain/followed').waitFor();
    assert.equal(await linkOf(page, '/recorded/other').count(), 0);
    await assertAccessible(page, 'live tail');
    await page.getByRole('button', { name: 'Pause' }).click();
    await send('/plain/held');
    await page.getByText('1 new while paused').waitFor();
    assert.equal(await linkOf(page, '/plain/held').count(), 0);
    await page.getByRole('button', { name: 'Resume' }).click();
    await linkOf(page, '/plain/held').waitFor();
    await linkOf(page, '/plain/held').click();
    await page.getByText('The live tail has no headers and bodies').waitFor();
  });
});

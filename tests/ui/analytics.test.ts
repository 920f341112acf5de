import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Person } from '../support/browser.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';
import { eventually, openApi, publish } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const rangeQuery = () => {
  const now = Math.floor(Date.now() / 1000);
  return `start=${now - 600}&end=${now + 600}`;
};

describe('Analytics page', () => {
  const dashboard = testDashboard();
  let upstream: Upstream;
  let reader: Person;

  before(async () => {
    upstream = await startUpstream();
    reader = await dashboard.addPerson({ user_permissions: { analytics: 'read', log: 'read' } });
    const named = (name: string, more = {}) =>
      openApi(upstream, { api_id: name, name, proxy: { listen_path: `/${name}/` }, ...more });
    await publish(dashboard.app(), named('open', { tag_headers: ['x-team'] }));
    await publish(dashboard.app(), named('guarded', { use_keyless: false }));
    const headers = { 'x-team': 'red' };
    await fetch(`${dashboard.app().url.gateway}/open/1`, { headers });
    for (const path of ['/open/2', '/guarded/refused']) await fetch(dashboard.app().url.gateway + path);
    await eventually(async () => {
      const { body } = await dashboard.app().ask('GET', `/api/usage?${rangeQuery()}`);
      assert.equal(body.data[0]?.hits, 3);
    });
  });
  after(() => upstream?.close());

  test('an API or a tag narrows all counts, and its errors lead to the requests in the logs', async () => {
    const page = await dashboard.openAs(reader, '/analytics?range=1h');
    const reasons = page.getByRole('region', { name: 'Errors by reason' });
    await reasons.getByText('Authentication field missing').waitFor();
    await reasons.getByText('The request has no key.').waitFor();
    await page.getByText('3 requests, 1 error').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export CSV' }).first().click(),
    ]);
    const [head = '', ...rows] = readFileSync(await download.path(), 'utf8')
      .trim()
      .split(/\r?\n/);
    const columns = head.split(',');
    const sumOf = (name: string) => rows.reduce((sum, row) => sum + Number(row.split(',')[columns.indexOf(name)]), 0);
    assert.deepEqual([sumOf('hits'), sumOf('error')], [3, 1], head);
    const [image] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as PNG' }).first().click(),
    ]);
    assert.equal(image.suggestedFilename(), 'requests.png');
    assert.equal(
      readFileSync(await image.path())
        .subarray(1, 4)
        .toString(),
      'PNG',
    );
    await page.getByRole('button', { name: 'Show as table' }).first().click();
    await page.getByRole('columnheader', { name: 'Time' }).waitFor();
    await page.waitForLoadState('networkidle');
    await assertAccessible(page, 'analytics with data');
    await page.getByRole('button', { name: 'open', exact: true }).click();
    await page.getByText('2 requests, 0 errors').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('api_id'), 'open');
    await page.getByText('No errors in this time.').waitFor();
    await page.getByRole('button', { name: 'x-team-red', exact: true }).click();
    await page.getByText('1 request, 0 errors').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('tags'), 'x-team-red');
    await page.getByLabel('Tags (a, b)').fill('');
    await page.getByText('2 requests, 0 errors').waitFor();
    await page.goto(`${dashboard.app().url.dashboard}/analytics?range=1h`);
    await reasons.getByRole('link', { name: 'See errors in the logs: 1' }).click();
    await page.getByRole('heading', { level: 1, name: 'Logs' }).waitFor();
    await page.getByRole('button', { name: 'Details of GET /guarded/refused' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /^Details of/ }).count(), 1);
  });

  test('an error in the table of the chart leads to the requests of its time in the logs', async () => {
    const page = await dashboard.openAs(reader, '/analytics?range=1h');
    const chart = page.getByRole('figure').first();
    await chart.getByRole('button', { name: 'Show as table' }).click();
    const chosen = chart.getByRole('button', { name: /^Errors, .*: 1$/ });
    await chosen.waitFor();
    await chosen.click();
    await page.getByRole('heading', { level: 1, name: 'Logs' }).waitFor();
    await page.getByRole('button', { name: 'Details of GET /guarded/refused' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /^Details of/ }).count(), 1);
    assert.equal(new URL(page.url()).searchParams.get('errors'), 'only');
  });

  test('a click on a point of the chart opens its requests', async () => {
    const now = Math.floor(Date.now() / 60_000) * 60;
    // The requests are in the middle of the plot, and its edges do not move while the test runs.
    const page = await dashboard.openAs(reader, `/analytics?start=${now - 1200}&end=${now + 1200}`);
    const chart = page.getByRole('figure').first();
    await chart.getByRole('button', { name: 'Show as table' }).click();
    await chart.getByRole('columnheader', { name: 'Errors' }).waitFor();
    const cells = await chart.locator('td:nth-child(3)').allTextContents();
    const place = cells.indexOf('1');
    const hits = (await chart.locator('td:nth-child(2)').allTextContents()).map(Number);
    await chart.getByRole('button', { name: 'Show as chart' }).click();
    const plot = chart.locator('.u-over');
    await plot.waitFor();
    await page.waitForLoadState('networkidle');
    const { width, height } = (await plot.boundingBox())!;
    const x = (width * place) / (cells.length - 1);
    await plot.click({ position: { x, y: height * (1 - 1 / Math.max(...hits)) + 1 } });
    await page.getByRole('heading', { level: 1, name: 'Logs' }).waitFor();
    await page.getByRole('button', { name: 'Details of GET /guarded/refused' }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('errors'), 'only');
  });

  test('the previous period is a line and a change of each figure, and its values open its requests', async () => {
    const start = Math.floor(Date.now() / 60_000) * 60 + 120;
    const page = await dashboard.openAs(reader, `/analytics?start=${start}&end=${start + 3600}`);
    await page.getByText('No requests in this time').waitFor();
    await page.getByRole('switch', { name: 'Compare with the previous period' }).check();
    await page.getByText('-100% compared with 3 before').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('compare'), 'previous');
    const chart = page.getByRole('figure').first();
    await chart.getByRole('button', { name: 'Show as table' }).click();
    await chart
      .getByRole('button', { name: /^Requests before, / })
      .first()
      .click();
    await page.getByRole('button', { name: 'Details of GET /open/1' }).waitFor();
  });

  test('views list endpoints and versions, and changes of configuration are marked for readers of the audit', async () => {
    const auditor = await dashboard.addPerson({
      user_permissions: { analytics: 'read', audit_logs: 'read' },
    });
    const page = await dashboard.openAs(auditor, '/analytics?range=1h');
    await page.getByText(/^\d+ configuration changes in this time, marked on the chart$/).click();
    await page.getByRole('link', { name: 'Audit record: Create API' }).first().waitFor();
    await assertAccessible(page, 'analytics with changes');
    await page.getByRole('link', { name: 'Endpoints', exact: true }).click();
    const endpoints = page.getByRole('table', { name: 'Requests by endpoint' });
    await endpoints.getByRole('row', { name: 'GET /refused guarded 1 1 (100%)' }).waitFor();
    await endpoints.getByRole('button', { name: 'Requests' }).click();
    assert.equal(new URL(page.url()).searchParams.get('tab'), 'endpoints');
    await assertAccessible(page, 'analytics by endpoint');
    await page.getByRole('link', { name: 'Versions', exact: true }).click();
    const versions = page.getByRole('table', { name: 'Requests by version' });
    await versions.getByRole('row', { name: /open 2 0 \(0%\)/ }).waitFor();
    await versions.getByRole('button', { name: 'open', exact: true }).click();
    await versions.getByRole('row', { name: /guarded/ }).waitFor({ state: 'detached' });
    await page.goto(`${dashboard.app().url.dashboard}/analytics?range=1h&tab=hours`);
    const week = page.getByRole('region', { name: 'Requests by weekday and hour' });
    await week.getByRole('columnheader', { name: '23', exact: true }).waitFor();
    const numbers = (await week.getByRole('cell').allTextContents()).map(Number);
    assert.deepEqual([numbers.length, numbers.reduce((total, hits) => total + hits)], [7 * 24, 3]);
    await assertAccessible(page, 'requests by weekday and hour');
    const plain = await dashboard.openAs(reader, '/analytics?range=1h');
    await plain.getByText('3 requests, 1 error').waitFor();
    await plain.waitForLoadState('networkidle');
    assert.equal(await plain.getByText('configuration change').count(), 0);
  });

  test('a user with owned_analytics gets no counts by key, and no refused read', async () => {
    const owner = await dashboard.addPerson({ user_permissions: { analytics: 'read', owned_analytics: 'read' } });
    await dashboard.app().ask('PUT', '/api/apis/open/access', { body: { userIds: [owner.id], userGroupIds: [] } });
    const page = await dashboard.openAs(owner, '/analytics?range=1h');
    await page.getByText('2 requests, 0 errors').waitFor();
    await page.waitForLoadState('networkidle');
    assert.equal(await page.getByText('Busiest keys').count(), 0);
    assert.equal(await page.getByText('Busiest tags').count(), 0);
    assert.equal(await page.getByRole('alert').count(), 0);
  });
});

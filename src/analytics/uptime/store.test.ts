import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withRecords } from '../../../tests/lifecycle/databases.ts';
import { noon } from '../../../tests/support/records.ts';
import { createUptimeRollUp } from './roll-up.ts';
import { createUptimeStore, type UptimeQuery } from './store.ts';
import type { UptimeResult } from './uptime-result.ts';
import { toHostUptime } from './views.ts';

const hour = 3_600_000;
const day = 24 * hour;
const everything = { page: -1, size: 10 };

const round = (orgId: string, more: Partial<UptimeResult> = {}): UptimeResult => ({
  apiId: `api of ${orgId}`,
  orgId,
  apiName: 'Orders',
  tags: [],
  host: '10.0.0.1:80',
  atMs: noon,
  up: true,
  url: 'http://10.0.0.1/health',
  status: 200,
  latencyMs: 4,
  failure: '',
  tests: 1,
  passed: 1,
  passedMs: 4,
  retentionSeconds: 0,
  ...more,
});
const down = { up: false, status: 0, latencyMs: 30, failure: 'it took too long', passed: 0, passedMs: 0 };

withRecords('results of uptime tests', given => {
  const createQuery = (orgId: string, more: Partial<UptimeQuery> = {}): UptimeQuery => ({
    orgId,
    from: 0,
    to: noon + day,
    now: noon,
    ...more,
  });
  /** Each list is one write of a process that has just begun. */
  async function writeResults(...writes: UptimeResult[][]) {
    const store = createUptimeStore(given());
    for (const hosts of writes) {
      const rolled = createUptimeRollUp({ staleMs: hour });
      rolled.add({ hosts, dropped: 0 });
      await store.add(rolled.drain(noon));
    }
    const views = async (orgId: string, more: Partial<UptimeQuery> = {}) =>
      (await store.page(createQuery(orgId, more), everything)).items.map(it => toHostUptime(it, more.from ?? 0));
    return { store, views };
  }
  const at = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z');

  test('a host is returned with state, since, uptime ratio, latency and changes', async () => {
    const { views } = await writeResults(
      [round('one'), round('one', { atMs: noon + 1000, passedMs: 8 })],
      [round('one', { atMs: noon + 2000 }), round('one', { atMs: noon + hour, ...down })],
    );
    const gone = {
      at: at(noon + hour),
      up: false,
      url: 'http://10.0.0.1/health',
      response_code: 0,
      latency: 30,
      error: 'it took too long',
    };
    const first = { at: at(noon), up: true, url: gone.url, response_code: 200, latency: 4, error: '' };
    assert.deepEqual(await views('one'), [
      {
        api_id: 'api of one',
        api_name: 'Orders',
        host: '10.0.0.1:80',
        up: false,
        since: at(noon + hour),
        uptime: 0.75,
        latency: 5.3,
        tests: 4,
        failed: 1,
        availability: { day: 0, week: 0.75, month: 0.75 },
        checks: ['up', 'up', 'up', 'down'],
        last: gone,
        results: [gone, first],
      },
    ]);
    const [earlier] = await views('one', { to: noon + hour - 1 });
    assert.deepEqual([earlier?.up, earlier?.since, earlier?.uptime], [true, at(noon), 1]);
    const [later] = await views('one', { from: noon + hour });
    assert.deepEqual([later?.tests, later?.results], [1, [gone]]);
    assert.deepEqual(await views('another'), []);
  });

  test('a host has the newest 90 checks of a day and its availability of a day, a week and a month', async () => {
    const failed = { passed: 0 };
    const { views } = await writeResults(
      Array.from({ length: 100 }, (_, n) => round('strip', { atMs: noon - 8 * day + n })),
      [round('strip', { atMs: noon - 3 * day, ...down })],
      Array.from({ length: 60 }, (_, n) => round('strip', { atMs: noon - hour + n })),
      Array.from({ length: 50 }, (_, n) => round('strip', { atMs: noon + n, ...(n === 0 ? down : failed) })),
    );
    const [host] = await views('strip', { to: noon + hour });
    const rows: [number, string][] = [
      [40, 'up'],
      [1, 'down'],
      [49, 'failed'],
    ];
    assert.deepEqual(
      host?.checks,
      rows.flatMap(([count, outcome]) => Array.from({ length: count }, () => outcome)),
    );
    const { day: ofDay, week, month } = host.availability;
    assert.deepEqual([ofDay, week, month], [0.9909, 0.982, 0.9905]);
    const [old] = await views('strip', { to: noon - 4 * day });
    assert.deepEqual(old?.availability, { day: null, week: 1, month: 1 });
    assert.equal(old?.checks.length, 90);
  });

  test('a restarted process does not write a change without a state change', async () => {
    const { views } = await writeResults([round('again')], [round('again', { atMs: noon + 10 })]);
    const [host] = await views('again');
    assert.deepEqual([host?.results.length, host?.tests, host?.since], [1, 2, at(noon)]);
  });

  test('an older result that arrives late does not replace the newest', async () => {
    const { views } = await writeResults([round('late', { atMs: noon + 10 })], [round('late', down)]);
    const [host] = await views('late');
    assert.deepEqual([host?.up, host?.last.at, host?.uptime], [true, at(noon + 10), 0.5]);
  });

  test('hosts have pages and can be filtered by API', async () => {
    const hosts = Array.from({ length: 5 }, (_, n) => round('paged', { apiId: `p${n % 2}`, host: `h${n}:80` }));
    const { store } = await writeResults(hosts);
    const listPage = async (more: Partial<UptimeQuery>, page: number) => {
      const found = await store.page(createQuery('paged', more), { page, size: 2 });
      return [found.pages, ...found.items.map(({ host, changes }) => `${host} ${changes.length}`)];
    };
    assert.deepEqual(await listPage({}, 1), [3, 'h0:80 1', 'h2:80 1']);
    assert.deepEqual(await listPage({}, 3), [3, 'h3:80 1']);
    assert.deepEqual(await listPage({}, 4), [3]);
    assert.deepEqual(await listPage({ apiId: 'p1' }, 1), [1, 'h1:80 1', 'h3:80 1']);
  });

  test('results expire by the retention of their API and of the settings', async () => {
    const brief = { retentionSeconds: 60 };
    const { store, views } = await writeResults(
      [round('kept', { host: 'a:80', ...brief }), round('kept', { host: 'b:80' })],
      [round('kept', { host: 'a:80', atMs: noon + 30_000, ...brief })],
    );
    const listHosts = async (now: number) => (await views('kept', { now })).map(it => [it.host, it.results.length]);
    const both = [
      ['a:80', 1],
      ['b:80', 1],
    ];
    assert.deepEqual(await listHosts(noon + 59_999), both);
    // The change is older than the newest result, which keeps its hour.
    assert.deepEqual(await listHosts(noon + 60_000), [
      ['a:80', 0],
      ['b:80', 1],
    ]);
    assert.deepEqual(await listHosts(noon + 90_000), [['b:80', 1]]);
    assert.equal(await store.prune(0, noon + 60_000, 100), 1);
    assert.equal(await store.prune(0, noon + 90_000, 100), 1);
    assert.deepEqual(await listHosts(noon), [['b:80', 1]]);
    await store.prune(noon + 2 * hour, noon, 100);
    assert.deepEqual(await listHosts(noon), []);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createLog } from '#base/log.ts';
import { readSettings, type SettingName } from '#base/settings.ts';
import type { Records } from '#storage/records.ts';
import { withRecords } from '../../tests/lifecycle/databases.ts';
import { batchOf, type GivenCall, noon, someApi } from '../../tests/support/records.ts';
import { eventually } from '../../tests/support/upstream.ts';
import { forEachCall } from './batch.ts';
import { startIngest } from './ingest.ts';
import { createLogStore, type LogEntry } from './log-store.ts';
import { toLogEntry } from './logged-call.ts';
import { createUsageRollUp } from './roll-up.ts';
import { createUptimeStore } from './uptime/store.ts';
import { createUsageStore } from './usage-store.ts';
import type { UsageQuery } from './usage-sums-store.ts';

const day = 86_400_000;

/** Everything the main thread does with records, with time that stands still. */
function recordingOn(records: Records, settings: Partial<Record<SettingName, string>> = {}, now = noon) {
  const lines: string[] = [];
  const parts = {
    records,
    usage: createUsageStore(records),
    logs: createLogStore(records),
    uptime: createUptimeStore(records),
  };
  const recording = startIngest({
    ...parts,
    settings: readSettings({ flags: settings }),
    clock: { now: () => now },
    log: createLog({ level: 'info', format: 'json', write: line => lines.push(line) }),
  });
  return { ...parts, recording, lines };
}

const createQuery = (orgId: string, more: Partial<UsageQuery> = {}): UsageQuery => ({
  orgId,
  from: noon - 40 * day,
  to: noon + day,
  groups: ['api_id'],
  order: 'hits',
  ascending: false,
  ...more,
});

const everything = { page: -1, size: 10 };
const of = (orgId: string, calls: readonly GivenCall[] = [{}]) =>
  batchOf(calls.map(call => ({ ...call, api: { ...someApi, ...call.api, orgId } })));

async function hits(store: ReturnType<typeof createUsageStore>, orgId: string, more: Partial<UsageQuery> = {}) {
  const { items } = await store.page(createQuery(orgId, more), everything);
  return items.reduce((sum, item) => sum + Number(item.hits), 0);
}

async function countLogRows(store: ReturnType<typeof createLogStore>, orgId: string) {
  return (await store.page({ orgId, from: 0, to: noon + day, failed: false }, everything)).total;
}

async function countFromPage(store: ReturnType<typeof createLogStore>, orgId: string) {
  return (await store.page({ orgId, from: 0, to: noon + day, failed: false }, { page: 1, size: 1 })).total;
}

withRecords('recording', (given, engine) => {
  test('counts of several writes and processes are summed', async () => {
    const one = recordingOn(given());
    const two = recordingOn(given());
    one.recording.addBatch(of('sum', [{ totalMs: 4, upstreamMs: 0, status: 204 }, { totalMs: 4 }]));
    await one.recording.flush();
    two.recording.addBatch(of('sum', [{ totalMs: 2, upstreamMs: 1, status: 204 }]));
    one.recording.addBatch(of('sum', [{ totalMs: 8, upstreamMs: 7, status: 204, atMs: noon + 5 }]));
    await Promise.all([one.recording.close(), two.recording.close()]);
    const { items } = await one.usage.page(createQuery('sum', { groups: ['code'] }), everything);
    const { hits, total_us, min_us, max_us, ...rest } = items.find(item => Number(item.code) === 204)!;
    assert.deepEqual([hits, total_us, min_us, max_us].map(Number), [3, 14_000, 2000, 8000]);
    assert.deepEqual(
      [rest.upstream_hits, rest.upstream_us, rest.min_upstream_us, rest.max_upstream_us, rest.last_hit].map(Number),
      [2, 8000, 1000, 7000, noon + 5],
    );
  });

  test('close writes pending rows', async () => {
    const { recording, usage, logs } = recordingOn(given());
    recording.addBatch(of('end'));
    await recording.close();
    assert.equal(await hits(usage, 'end'), 1);
    assert.equal(await countLogRows(logs, 'end'), 1);
  });

  test('a failed write is logged once and retried until it succeeds', async () => {
    const { recording, usage, logs, lines } = recordingOn(given());
    await sql`alter table usage rename to unavailable_usage`.execute(given().db);
    recording.addBatch(of('unwritten'));
    recording.addDropped(2);
    await recording.flush();
    recording.addBatch(of('unwritten'));
    await recording.flush();
    assert.equal(recording.countWaiting(), 1 + 2);
    await sql`alter table unavailable_usage rename to usage`.execute(given().db);
    await recording.flush();
    assert.equal(recording.countWaiting(), 0);
    assert.equal(await hits(usage, 'unwritten'), 2);
    assert.equal(await countLogRows(logs, 'unwritten'), 2);
    assert.deepEqual(
      lines.map(line => JSON.parse(line).msg),
      ['usage write failed, retrying', 'usage writes resumed'],
    );
    assert.equal(await usage.countLosses(noon, noon + 60_000), 2);
    await recording.close();
  });

  test('a burst is counted completely while logged calls are bounded', async () => {
    const { recording, usage, logs } = recordingOn(given());
    recording.addBatch(
      of(
        'burst',
        Array.from({ length: 1500 }, () => ({})),
      ),
    );
    await recording.close();
    assert.equal(await hits(usage, 'burst'), 1500);
    assert.equal(recording.totals().unlogged, 1000);
    const found = await logs.page({ orgId: 'burst', from: 0, to: noon, failed: false }, { page: 1, size: 10 });
    assert.equal(found.total, 500);
  });

  test('analytics.max_tags_per_hour: further tags of an API are counted as other', async () => {
    const { recording, usage } = recordingOn(given(), { 'analytics.max_tags_per_hour': '1' });
    recording.addBatch(
      of(
        'tagged',
        ['a', 'b', 'c', 'a'].map(tags => ({ tags })),
      ),
    );
    await recording.close();
    const counts = ['a', 'b', 'other'].map(tag => hits(usage, 'tagged', { tags: [tag] }));
    assert.deepEqual(await Promise.all(counts), [2, 0, 2]);
  });

  test('without the raw log only counts are stored', async () => {
    const { recording, usage, logs } = recordingOn(given(), { 'analytics.raw_log': 'false' });
    recording.addBatch(of('quiet'));
    await recording.close();
    assert.equal(await hits(usage, 'quiet'), 1);
    assert.equal(await countLogRows(logs, 'quiet'), 0);
  });

  test('rows past the retention are pruned, those of APIs with a shorter retention sooner', async () => {
    const { recording, usage, logs } = recordingOn(given());
    const short = { ...someApi, id: 'short', retentionSeconds: 3600 };
    recording.addBatch(
      of('kept', [{ atMs: noon - 31 * day }, { atMs: noon - day }, { atMs: noon - day, api: short }, {}]),
    );
    await recording.close();
    await usage.prune(noon - 30 * day, noon, 2000);
    await logs.prune(noon - 30 * day, noon, 100_000, 2000);
    assert.equal(await hits(usage, 'kept'), 2);
    assert.equal(await countLogRows(logs, 'kept'), 2);
  });

  test('pruning removes a bounded number of rows per step', async () => {
    const { recording, usage, logs } = recordingOn(given());
    const calls = Array.from({ length: 30 }, (_, n) => ({ atMs: noon - 400 * day, path: `/${n}` }));
    recording.addBatch(of('steps', calls));
    await recording.close();
    const before = noon - 399 * day;
    assert.deepEqual([await usage.prune(before, 0, 20), await usage.prune(before, 0, 20)], [20, 10]);
    assert.deepEqual(
      [await logs.prune(before, 0, 1_000_000, 20), await logs.prune(before, 0, 1_000_000, 20)],
      [20, 10],
    );
  });

  test('the log keeps the newest calls up to its row limit', async () => {
    const { recording, logs } = recordingOn(given());
    recording.addBatch(
      of(
        'rows',
        Array.from({ length: 30 }, (_, n) => ({ atMs: noon + n })),
      ),
    );
    await recording.close();
    await logs.prune(0, 0, 10, 2000);
    const { items } = await logs.page({ orgId: 'rows', from: 0, to: noon + day, failed: false }, everything);
    assert.equal(items.length, 10);
    assert.equal(Date.parse(items[0]!.call.timestamp), noon + 29);
  });

  test('expired rows are pruned in the background, step by step', async t => {
    const first = recordingOn(given());
    for (let n = 0; n < 5; n++) {
      const calls = Array.from({ length: 500 }, () => ({ atMs: noon - 2 * day }));
      first.recording.addBatch(of('turns', calls));
      await first.recording.flush();
    }
    first.recording.addBatch(of('turns', [{ atMs: noon }]));
    await first.recording.close();
    assert.equal(await countFromPage(first.logs, 'turns'), 2501);
    const sized = recordingOn(given(), { 'analytics.max_log_rows': '11' });
    t.after(sized.recording.close);
    await eventually(async () => assert.equal(await countFromPage(sized.logs, 'turns'), 11));
    assert.equal(await hits(sized.usage, 'turns'), 2501);
    const brief = recordingOn(given(), { 'analytics.retention_days': '1' });
    t.after(brief.recording.close);
    await eventually(async () => {
      assert.equal(await countFromPage(brief.logs, 'turns'), 1);
      assert.equal(await hits(brief.usage, 'turns'), 1);
    });
  });

  test('every query uses an index', async () => {
    const usage = createUsageStore(given());
    const logs = createLogStore(given());
    await fill(given());
    const reads = {
      sqlite: /^SCAN (?!\w+ USING)(usage|logs|latency|usage_tags)\b/m,
      postgres: /Seq Scan on (usage|logs|usage_latencies)\b/,
    }[engine];
    const narrow = { from: noon, to: noon + 60_000 };
    const filters: Partial<UsageQuery>[] = [
      {},
      { apiId: 'a7' },
      { keyHashes: ['k7'] },
      { keyHashes: ['k7', 'k8'] },
      { oauthId: 'c7' },
      { version: 'v' },
      { tags: ['t7'] },
      { groups: ['tag'] },
    ];
    for (const more of filters) {
      const usageQuery = createQuery('o7', { ...narrow, ...more });
      for (const query of [usage.buildSums(usageQuery), usage.buildHistograms(usageQuery)]) {
        const plan = await given().explain(query.compile());
        assert.doesNotMatch(plan, reads, `${JSON.stringify(more)}\n${plan}`);
      }
    }
    const calls = { orgId: 'o7', from: noon, to: noon + 60_000, failed: false };
    for (const more of [{}, { apiId: 'a7' }, { keyHash: 'k7' }, { failed: true }, { status: 500 }]) {
      const plan = await given().explain(
        logs
          .buildListing({ ...calls, ...more })
          .limit(10)
          .compile(),
      );
      assert.doesNotMatch(plan, reads, `${JSON.stringify(more)}\n${plan}`);
    }
  });
});

/** Enough rows that reading all of them would be the wrong plan. */
async function fill(records: Records): Promise<void> {
  const usage = createUsageStore(records);
  const logs = createLogStore(records);
  const made = createUsageRollUp({ rowsPerMinute: 100_000, normalisePaths: false });
  const calls = Array.from(
    { length: 8000 },
    (_, n): GivenCall => ({
      atMs: noon + Math.floor(n / 20) * 60_000,
      api: { ...someApi, orgId: `o${n % 20}`, id: `a${n % 20}` },
      keyHash: `k${n % 97}`,
      tags: `t${n % 97}`,
      oauthId: n % 10 === 7 ? `c${n % 97}` : '',
      status: n % 50 === 0 ? 500 : 200,
      path: `/${n}`,
    }),
  );
  const entries: LogEntry[] = [];
  forEachCall(batchOf(calls), record => {
    made.add(record);
    entries.push(toLogEntry(record, 0));
  });
  await records.write(async () => {
    await usage.add(made.drain(noon));
    await logs.add(entries);
  });
  await sql`analyze`.execute(records.db);
}

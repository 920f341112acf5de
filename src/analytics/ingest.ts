import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { Records } from '#storage/records.ts';
import { type CallBatch, forEachCall } from './batch.ts';
import type { LogEntry, LogStore } from './log-store.ts';
import { toLogEntry } from './logged-call.ts';
import { createUsageRollUp } from './roll-up.ts';
import { createUptimeRollUp } from './uptime/roll-up.ts';
import type { UptimeStore } from './uptime/store.ts';
import { minuteMs } from './usage-rows.ts';
import type { UsageStore } from './usage-store.ts';

export interface IngestOptions {
  readonly records: Records;
  readonly usage: UsageStore;
  readonly logs: LogStore;
  readonly uptime: UptimeStore;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
}

const writeIntervalMs = 500;
/** Single calls logged between two writes; more are counted, not logged. */
const maxLoggedCallsPerWrite = 500;
/** Rows of each table removed at a time, so that nobody waits long for the database. */
const maxPrunedRows = 2000;
const writesBetweenPrunes = 20;
const dayMs = 86_400_000;
/** Longer than a round of tests may take before another thread makes it. */
const uptimeRoundTimeoutMs = 60_000;

/** Takes what traffic threads wrote down, adds it up, and writes it to the records twice a second and at the end. */
export function startIngest({ records, usage, logs, uptime, settings, clock, log }: IngestOptions) {
  const usageRollUp = createUsageRollUp({
    rowsPerMinute: settings['analytics.max_rows_per_minute'],
    normalisePaths: settings['analytics.normalise_paths'],
  });
  const uptimeHosts = createUptimeRollUp({ staleMs: 3 * settings['uptime.interval_ms'] + uptimeRoundTimeoutMs });
  const retentionMs = settings['analytics.retention_days'] * dayMs;
  const logsCalls = settings['analytics.raw_log'] && settings['analytics.max_log_rows'] > 0;
  let entries: LogEntry[] = [];
  let unlogged = 0;
  let dropped = 0;
  let lostBefore = 0;
  let losses = 0;
  let writes = 0;
  let failing = false;
  let writing: Promise<void> | undefined;

  function addBatch(batch: CallBatch): void {
    forEachCall(batch, record => {
      usageRollUp.add(record);
      if (!logsCalls) return;
      if (entries.length < maxLoggedCallsPerWrite) entries.push(toLogEntry(record, retentionMs));
      else unlogged++;
    });
  }

  /** All of it or nothing: what could not be written is kept for the next time, within bounds. */
  async function write(): Promise<void> {
    const rows = usageRollUp.drain(clock.now());
    const calls = entries;
    const uptimeRows = uptimeHosts.drain(clock.now());
    const lost = losses + usageRollUp.totals.lost - lostBefore;
    entries = [];
    losses = 0;
    lostBefore = usageRollUp.totals.lost;
    if (rows.length + calls.length + lost + uptimeRows.hours.length + uptimeRows.changes.length === 0) return;
    try {
      await records.write(async () => {
        await usage.add(rows);
        await logs.add(calls);
        await uptime.add(uptimeRows);
        if (lost > 0) await usage.addLosses(clock.now() - (clock.now() % minuteMs), lost);
      });
      if (failing) log.info('usage is written again');
      failing = false;
    } catch (error) {
      usageRollUp.restore(rows);
      uptimeHosts.restore(uptimeRows);
      losses += lost;
      entries = [...calls, ...entries].slice(0, maxLoggedCallsPerWrite);
      if (!failing) log.warn({ reason: (error as Error).message }, 'usage could not be written; it is kept for now');
      failing = true;
    }
  }

  async function prune(): Promise<void> {
    const now = clock.now();
    const before = retentionMs === 0 ? 0 : now - retentionMs;
    const usageRows = await usage.prune(before, now, maxPrunedRows);
    const logRows = await logs.prune(before, now, settings['analytics.max_log_rows'], maxPrunedRows);
    const uptimeRows = await uptime.prune(before, now, maxPrunedRows);
    // As long as there is more to do, the next write is followed by the next step.
    if ([usageRows, logRows, uptimeRows].some(count => count >= maxPrunedRows)) writes = 0;
  }

  async function flush(): Promise<void> {
    await writing;
    writing = write();
    await writing;
    writing = undefined;
  }

  async function writeAndPrune(): Promise<void> {
    await flush();
    if (writes++ % writesBetweenPrunes !== 0 || failing) return;
    try {
      await prune();
    } catch (error) {
      log.warn({ reason: (error as Error).message }, 'old usage could not be removed');
    }
  }

  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= writeAndPrune().finally(() => {
      running = undefined;
    });
  }, writeIntervalMs);

  return {
    take: addBatch,
    /** Results of tests of upstream hosts. */
    addUptimeResults: uptimeHosts.add,
    hosts: () => ({ states: uptimeHosts.states(clock.now()), totals: uptimeHosts.totals }),
    /** Calls that a traffic thread had no room for. */
    addDropped(count: number): void {
      dropped += count;
      losses += count;
    },
    totals: () => ({ ...usageRollUp.totals, dropped, unlogged }),
    flush,
    async close(): Promise<void> {
      clearInterval(timer);
      await running;
      await flush();
    },
  };
}

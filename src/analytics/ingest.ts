import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { Records } from '#storage/records.ts';
import { type Batch, eachRecord } from './batch.ts';
import type { LogEntry, LogStore } from './log-store.ts';
import { logEntry } from './logged-call.ts';
import { rollUp } from './roll-up.ts';
import { uptimeRollUp } from './uptime/roll-up.ts';
import type { UptimeStore } from './uptime/store.ts';
import { minuteMs } from './usage-rows.ts';
import type { UsageStore } from './usage-store.ts';

export interface RecordingOptions {
  readonly records: Records;
  readonly usage: UsageStore;
  readonly logs: LogStore;
  readonly uptime: UptimeStore;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
}

const writeEveryMs = 500;
/** Single calls logged between two writes; more are counted, not logged. */
const callsLoggedAtOnce = 500;
/** Rows of each table removed at a time, so that nobody waits long for the database. */
const rowsPrunedAtOnce = 2000;
const writesBetweenPrunes = 20;
const dayMs = 86_400_000;
/** Longer than a round of tests may take before another thread makes it. */
const testedWithinMs = 60_000;

/** Takes what traffic threads wrote down, adds it up, and writes it to the records twice a second and at the end. */
export function startRecording({ records, usage, logs, uptime, settings, clock, log }: RecordingOptions) {
  const counted = rollUp({
    rowsPerMinute: settings['analytics.rows_per_minute'],
    normalisePaths: settings['analytics.normalise_paths'],
  });
  const hosts = uptimeRollUp({ staleMs: 3 * settings['uptime.interval_ms'] + testedWithinMs });
  const retentionMs = settings['analytics.retention_days'] * dayMs;
  const keepsLog = settings['analytics.raw_log'] && settings['analytics.log_rows'] > 0;
  let entries: LogEntry[] = [];
  let unlogged = 0;
  let dropped = 0;
  let lostBefore = 0;
  let losses = 0;
  let writes = 0;
  let failing = false;
  let underway: Promise<void> | undefined;

  function take(batch: Batch): void {
    eachRecord(batch, record => {
      counted.add(record);
      if (!keepsLog) return;
      if (entries.length < callsLoggedAtOnce) entries.push(logEntry(record, retentionMs));
      else unlogged++;
    });
  }

  /** All of it or nothing: what could not be written is kept for the next time, within bounds. */
  async function write(): Promise<void> {
    const rows = counted.take(clock.now());
    const calls = entries;
    const tested = hosts.take(clock.now());
    const missing = losses + counted.totals.lost - lostBefore;
    entries = [];
    losses = 0;
    lostBefore = counted.totals.lost;
    if (rows.length + calls.length + missing + tested.hours.length + tested.changes.length === 0) return;
    try {
      await records.write(async () => {
        await usage.add(rows);
        await logs.add(calls);
        await uptime.add(tested);
        if (missing > 0) await usage.addLosses(clock.now() - (clock.now() % minuteMs), missing);
      });
      if (failing) log.info('usage is written again');
      failing = false;
    } catch (error) {
      counted.putBack(rows);
      hosts.putBack(tested);
      losses += missing;
      entries = [...calls, ...entries].slice(0, callsLoggedAtOnce);
      if (!failing) log.warn({ reason: (error as Error).message }, 'usage could not be written; it is kept for now');
      failing = true;
    }
  }

  async function prune(): Promise<void> {
    const now = clock.now();
    const before = retentionMs === 0 ? 0 : now - retentionMs;
    const pruned = await usage.prune(before, now, rowsPrunedAtOnce);
    const cut = await logs.prune(before, now, settings['analytics.log_rows'], rowsPrunedAtOnce);
    const aged = await uptime.prune(before, now, rowsPrunedAtOnce);
    // As long as there is more to do, the next write is followed by the next step.
    if ([pruned, cut, aged].some(count => count >= rowsPrunedAtOnce)) writes = 0;
  }

  async function flush(): Promise<void> {
    await underway;
    underway = write();
    await underway;
    underway = undefined;
  }

  async function turn(): Promise<void> {
    await flush();
    if (writes++ % writesBetweenPrunes !== 0 || failing) return;
    try {
      await prune();
    } catch (error) {
      log.warn({ reason: (error as Error).message }, 'old usage could not be removed');
    }
  }

  let turning: Promise<void> | undefined;
  const timer = setInterval(() => {
    turning ??= turn().finally(() => {
      turning = undefined;
    });
  }, writeEveryMs);

  return {
    take,
    /** Results of tests of upstream hosts. */
    takeTested: hosts.add,
    hosts: () => ({ states: hosts.states(clock.now()), totals: hosts.totals }),
    /** Calls that a traffic thread had no room for. */
    drop(count: number): void {
      dropped += count;
      losses += count;
    },
    totals: () => ({ ...counted.totals, dropped, unlogged }),
    flush,
    async close(): Promise<void> {
      clearInterval(timer);
      await turning;
      await flush();
    },
  };
}

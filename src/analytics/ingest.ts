import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { every } from '#base/repeat.ts';
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
/** Bound of logged calls between two writes; further calls are counted, not logged. */
const maxLoggedCallsPerWrite = 500;
/** Rows per table and prune: keeps transactions short. */
const maxPrunedRows = 2000;
const writesBetweenPrunes = 20;
const dayMs = 86_400_000;
/** Longer than a round of uptime checks may take before another thread takes over. */
const uptimeRoundTimeoutMs = 60_000;

/** Ingests batches of traffic threads: rolls them up and writes twice a second and on close. */
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

  /** Writes in one transaction; on failure the rows are restored for the next write, within bounds. */
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
      if (failing) log.info('usage writes resumed');
      failing = false;
    } catch (error) {
      usageRollUp.restore(rows);
      uptimeHosts.restore(uptimeRows);
      losses += lost;
      entries = [...calls, ...entries].slice(0, maxLoggedCallsPerWrite);
      if (!failing) log.warn({ reason: (error as Error).message }, 'usage write failed, retrying');
      failing = true;
    }
  }

  async function prune(): Promise<void> {
    const now = clock.now();
    const before = retentionMs === 0 ? 0 : now - retentionMs;
    const usageRows = await usage.prune(before, now, maxPrunedRows);
    const logRows = await logs.prune(before, now, settings['analytics.max_log_rows'], maxPrunedRows);
    const uptimeRows = await uptime.prune(before, now, maxPrunedRows);
    // More to prune: prune again after the next write.
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
      log.warn({ reason: (error as Error).message }, 'usage pruning failed, retrying');
    }
  }

  const writer = every(writeIntervalMs, writeAndPrune, {
    onError: error => log.error({ err: error }, 'usage write failed, retrying'),
  });

  return {
    addBatch: addBatch,
    /** Results of uptime checks. */
    addUptimeResults: uptimeHosts.add,
    hosts: () => ({ states: uptimeHosts.states(clock.now()), totals: uptimeHosts.totals }),
    /** Calls dropped by a traffic thread. */
    addDropped(count: number): void {
      dropped += count;
      losses += count;
    },
    totals: () => ({ ...usageRollUp.totals, dropped, unlogged }),
    flush,
    async close(): Promise<void> {
      await writer.close();
      await flush();
    },
  };
}

import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { every } from '#base/repeat.ts';
import type { Settings } from '#base/settings.ts';
import type { Records } from '#storage/records.ts';
import { type CallBatch, forEachCall } from './batch.ts';
import { fillCountries } from './geo/fill-countries.ts';
import type { GeoDatabase } from './geo/geo-database.ts';
import type { LogEntry, LogStore } from './log-store.ts';
import { toLogEntry } from './logged-call.ts';
import { createUsageRollUp, type DrainedUsage } from './roll-up.ts';
import { createUptimeRollUp, type UptimeRows } from './uptime/roll-up.ts';
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
  /** Places of clients; absent without a database of the operator. */
  readonly geo?: GeoDatabase | undefined;
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

/** Writes pending rows; on failure they are restored for the next write, within bounds. */
function createPendingWriter(options: IngestOptions, pending: ReturnType<typeof createPendingRows>) {
  const { log } = options;
  const state = { isFailing: false, rowsInWrite: 0 };
  async function write(): Promise<void> {
    const batch = pending.drain();
    if (!batch) return;
    state.rowsInWrite = batch.usage.rows.length + batch.calls.length;
    try {
      await writeBatch(options, batch);
      if (state.isFailing) log.info('usage writes resumed');
      state.isFailing = false;
    } catch (error) {
      pending.restore(batch);
      if (!state.isFailing) log.warn({ reason: (error as Error).message }, 'usage write failed, retrying');
      state.isFailing = true;
    } finally {
      state.rowsInWrite = 0;
    }
  }
  return { write, state };
}

/** Ingests batches of traffic threads: rolls them up and writes twice a second and on close. */
export function startIngest(options: IngestOptions) {
  const { clock, log } = options;
  const pending = createPendingRows(options);
  const { write, state } = createPendingWriter(options, pending);
  let writes = 0;
  let writing: Promise<void> | undefined;

  async function flush(): Promise<void> {
    await writing;
    writing = write();
    await writing;
    writing = undefined;
  }

  async function writeAndPrune(): Promise<void> {
    await flush();
    if (writes++ % writesBetweenPrunes !== 0 || state.isFailing) return;
    try {
      // More to prune: prune again after the next write.
      if (!(await prune(options))) writes = 0;
    } catch (error) {
      log.warn({ reason: (error as Error).message }, 'usage pruning failed, retrying');
    }
  }

  const onError = (error: Error) => log.error({ err: error }, 'usage write failed, retrying');
  const writer = every(writeIntervalMs, writeAndPrune, { onError });

  return {
    addBatch: pending.addBatch,
    /** Results of uptime checks. */
    addUptimeResults: pending.uptimeHosts.add,
    hosts: () => ({ states: pending.uptimeHosts.states(clock.now()), totals: pending.uptimeHosts.totals }),
    /** Calls dropped by a traffic thread. */
    addDropped: pending.addDropped,
    totals: pending.totals,
    /** Rows of usage and logged calls that are not written yet. */
    countWaiting: () => pending.countWaiting() + state.rowsInWrite,
    flush,
    async close(): Promise<void> {
      await writer.close();
      await flush();
    },
  };
}

/** Rows of one write. */
interface IngestBatch {
  readonly usage: DrainedUsage;
  readonly calls: readonly LogEntry[];
  readonly uptimeRows: UptimeRows;
  readonly lost: number;
}

const toRetentionMs = (settings: Settings) => settings['analytics.retention_days'] * dayMs;

/** Rows between two writes. */
function createPendingRows({ settings, clock, geo }: IngestOptions) {
  const usageRollUp = createUsageRollUp({
    rowsPerMinute: settings['analytics.max_rows_per_minute'],
    normalisePaths: settings['analytics.normalise_paths'],
    maxTagsPerHour: settings['analytics.max_tags_per_hour'],
  });
  const uptimeHosts = createUptimeRollUp({ staleMs: 3 * settings['uptime.interval_ms'] + uptimeRoundTimeoutMs });
  const retentionMs = toRetentionMs(settings);
  const logsCalls = settings['analytics.raw_log'] && settings['analytics.max_log_rows'] > 0;
  let entries: LogEntry[] = [];
  let unlogged = 0;
  let dropped = 0;
  let lostBefore = 0;
  let losses = 0;

  return {
    uptimeHosts,
    addBatch(batch: CallBatch): void {
      forEachCall(geo ? fillCountries(batch, geo) : batch, record => {
        usageRollUp.add(record);
        if (!logsCalls) return;
        if (entries.length < maxLoggedCallsPerWrite)
          entries.push(toLogEntry(record, retentionMs, geo?.locate(record.word('address'))));
        else unlogged++;
      });
    },
    addDropped(count: number): void {
      dropped += count;
      losses += count;
    },
    /** Undefined where there is nothing to write. */
    drain(): IngestBatch | undefined {
      const usage = usageRollUp.drain(clock.now());
      const calls = entries;
      const uptimeRows = uptimeHosts.drain(clock.now());
      const lost = losses + usageRollUp.totals.lost - lostBefore;
      entries = [];
      losses = 0;
      lostBefore = usageRollUp.totals.lost;
      const count = usage.rows.length + calls.length + lost + uptimeRows.hours.length + uptimeRows.changes.length;
      return count === 0 ? undefined : { usage, calls, uptimeRows, lost };
    },
    restore({ usage, calls, uptimeRows, lost }: IngestBatch): void {
      usageRollUp.restore(usage);
      uptimeHosts.restore(uptimeRows);
      losses += lost;
      entries = [...calls, ...entries].slice(0, maxLoggedCallsPerWrite);
    },
    totals: () => ({ ...usageRollUp.totals, dropped, unlogged }),
    countWaiting: () => usageRollUp.countPending() + entries.length,
  };
}

/** Writes in one transaction. */
async function writeBatch({ records, usage, logs, uptime, clock }: IngestOptions, batch: IngestBatch): Promise<void> {
  await records.write(async () => {
    await usage.add(batch.usage);
    await logs.add(batch.calls);
    await uptime.add(batch.uptimeRows);
    if (batch.lost > 0) await usage.addLosses(clock.now() - (clock.now() % minuteMs), batch.lost);
  });
}

/** Removes a bounded number of expired rows; false where there may be more. */
async function prune({ usage, logs, uptime, settings, clock }: IngestOptions): Promise<boolean> {
  const now = clock.now();
  const retentionMs = toRetentionMs(settings);
  const before = retentionMs === 0 ? 0 : now - retentionMs;
  const usageRows = await usage.prune(before, now, maxPrunedRows);
  const logRows = await logs.prune(before, now, settings['analytics.max_log_rows'], maxPrunedRows);
  const uptimeRows = await uptime.prune(before, now, maxPrunedRows);
  return [usageRows, logRows, uptimeRows].every(count => count < maxPrunedRows);
}

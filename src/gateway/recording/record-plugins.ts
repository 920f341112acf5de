import type { Log } from '#base/log.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { PluginError } from '../plugins/plugin-runner.ts';
import type { ApiRecordHook } from '../plugins/record-contract.ts';
import type { ApiAnalytics } from './api-analytics.ts';
import { applyHookRecord, type CapturedRecord, clearRecord, toHookRecord } from './record-members.ts';

export interface RecordPluginOptions {
  readonly log: Log;
  /** Stores a record after its plugin. */
  readonly store: (record: CapturedRecord) => void;
  /** Monotonic. */
  readonly nowMs: () => number;
}

/** Analytics records that wait for the plugins of their APIs. */
export interface RecordPlugins {
  /** Characters of requests and responses that wait. */
  readonly waitingCharacters: number;
  /** False where the queue of the organisation is full. */
  add(record: CapturedRecord): boolean;
  /** Starts the plugins of waiting records. */
  run(): void;
  /** Waits for the plugins, for a bounded time. */
  close(): MaybePromise<void>;
}

/** Records of one organisation that wait; further ones are dropped. */
const maxWaitingPerOrganisation = 2000;
/** Records, and their characters, in one call of a plugin. */
const maxRecordsPerCall = 100;
const maxCharactersPerCall = 262_144;
const closeTimeoutMs = 3000;
/** Failures of the plugin of an API are logged once in this time, with their number. */
const reportIntervalMs = 10_000;

/** Records of one API, in order; those of the call in progress are the first. */
interface RecordQueue {
  readonly records: CapturedRecord[];
  running: Promise<void> | undefined;
}

/**
 * Plugins of analytics records: they run after the response, for many records at once, and one call of each API at a
 * time. A record whose plugin failed is stored without the texts that the plugin could have removed.
 */
export function createRecordPlugins({ log, store, nowMs }: RecordPluginOptions): RecordPlugins {
  const queues = new Map<ApiAnalytics, RecordQueue>();
  const waiting = createWaitingCount();
  const report = createFailureReport(log, nowMs);
  let isClosed = false;

  async function drain(api: ApiAnalytics, { records }: RecordQueue): Promise<void> {
    while (records.length > 0) {
      const batch = takeBatch(records);
      const returned = await runHook(api, batch, log);
      if (isClosed) return;
      waiting.remove(batch);
      records.splice(0, batch.length);
      const faults = batch.flatMap((record, at) => applyReturn(record, returned[at]!));
      if (faults.length > 0) report(api, faults);
      for (const record of batch) store(record);
    }
    queues.delete(api);
  }

  function run(): void {
    for (const [api, queue] of queues) queue.running ??= drain(api, queue).catch(createDrainHandler(log, api, queue));
  }

  /** Stores what still waits; results that come later are ignored. */
  function end(): void {
    isClosed = true;
    for (const [api, { records }] of queues) {
      report(
        api,
        records.map(() => 'the gateway stopped before the plugin ended'),
      );
      for (const record of records) {
        clearRecord(record);
        store(record);
      }
    }
    queues.clear();
  }

  return {
    get waitingCharacters() {
      return waiting.characters();
    },
    add(record) {
      if (!waiting.add(record)) return false;
      const queue = queues.get(record.api) ?? { records: [], running: undefined };
      queue.records.push(record);
      queues.set(record.api, queue);
      return true;
    },
    run,
    close() {
      run();
      if (queues.size === 0) return end();
      const timeout = new Promise<void>(resolve => void setTimeout(resolve, closeTimeoutMs).unref());
      return Promise.race([Promise.all([...queues.values()].map(({ running }) => running)), timeout]).then(end);
    },
  };
}

/** A bug: the records that still wait are taken by the next run. */
const createDrainHandler = (log: Log, api: ApiAnalytics, queue: RecordQueue) => (error: unknown) => {
  log.error({ err: error, api: api.facts.id }, 'records of a plugin not stored');
  queue.running = undefined;
};

/** Records that wait by organisation, and their characters. */
function createWaitingCount() {
  const byOrganisation = new Map<string, number>();
  let characters = 0;
  return {
    characters: () => characters,
    /** False where the organisation has as many as it may. */
    add({ api, rawCharacters }: CapturedRecord): boolean {
      const { orgId } = api.facts;
      const count = byOrganisation.get(orgId) ?? 0;
      if (count >= maxWaitingPerOrganisation) return false;
      byOrganisation.set(orgId, count + 1);
      characters += rawCharacters;
      return true;
    },
    remove(records: readonly CapturedRecord[]): void {
      for (const { api, rawCharacters } of records) {
        characters -= rawCharacters;
        const { orgId } = api.facts;
        const count = byOrganisation.get(orgId)! - 1;
        if (count === 0) byOrganisation.delete(orgId);
        else byOrganisation.set(orgId, count);
      }
    },
  };
}

function takeBatch(records: readonly CapturedRecord[]): CapturedRecord[] {
  const batch: CapturedRecord[] = [];
  let characters = 0;
  for (const record of records) {
    characters += record.rawCharacters;
    if (batch.length >= maxRecordsPerCall || (batch.length > 0 && characters > maxCharactersPerCall)) break;
    batch.push(record);
  }
  return batch;
}

type Return = Awaited<ReturnType<ApiRecordHook['run']>>['returns'][number];

/** Results of the plugin for every record. */
async function runHook(api: ApiAnalytics, batch: readonly CapturedRecord[], log: Log): Promise<readonly Return[]> {
  try {
    const { returns, logs } = await api.recordHook!.run(batch.map(toHookRecord));
    for (const text of logs) log.info({ api: api.facts.id, text }, 'plugin message');
    return returns;
  } catch (error) {
    // A bug must not lose records either.
    if (!(error instanceof PluginError)) log.error({ err: error, api: api.facts.id }, 'plugin of records not run');
    const { message: fault } = error as Error;
    return batch.map(() => ({ fault }));
  }
}

/** The fault, or nothing where the record was changed. */
function applyReturn(record: CapturedRecord, returned: Return): string[] {
  const fault = 'fault' in returned ? returned.fault : applyHookRecord(record, returned.record);
  if (fault === '') return [];
  clearRecord(record);
  return [fault];
}

function createFailureReport(log: Log, nowMs: () => number) {
  const states = new WeakMap<ApiAnalytics, { failed: number; nextMs: number }>();
  return (api: ApiAnalytics, faults: readonly string[]): void => {
    const state = states.get(api) ?? { failed: 0, nextMs: 0 };
    states.set(api, state);
    state.failed += faults.length;
    if (nowMs() < state.nextMs) return;
    const { id, orgId } = api.facts;
    log.warn({ api: id, org: orgId, records: state.failed, reason: faults[0] }, 'plugin of analytics records failed');
    state.failed = 0;
    state.nextMs = nowMs() + reportIntervalMs;
  };
}

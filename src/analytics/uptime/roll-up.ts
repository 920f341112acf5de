import type { UptimeChange, UptimeHourRow } from '#storage/analytics-tables.ts';
import { toTagColumn } from '../tag-column-store.ts';
import { cutChecks, toCheckMark } from './checks.ts';
import type { UptimeResult, UptimeResults } from './uptime-result.ts';

const hourMs = 3_600_000;
/** Bound of unwritten rows. */
const defaultMaxPendingRows = 10_000;
/** Bound of changes per write; a dropped change is detected again with the next result. */
const maxPendingChanges = 1000;
/** Bound of hosts whose state is tracked in memory; for others the store compares. */
const maxTrackedHosts = 5000;

export interface UptimeRows {
  readonly hours: readonly UptimeHourRow[];
  readonly changes: readonly UptimeChange[];
}

export interface UptimeRollUpOptions {
  /** Hosts without a result for this long are dropped from the state. */
  readonly staleMs: number;
  readonly maxPendingRows?: number;
}

export interface HostState {
  readonly apiId: string;
  readonly host: string;
  readonly up: boolean;
  readonly atMs: number;
}

/** Rolls up results by host and hour and detects state changes. Holds only unwritten rows. */
export function createUptimeRollUp({ staleMs, maxPendingRows = defaultMaxPendingRows }: UptimeRollUpOptions) {
  let hours = new Map<string, UptimeHourRow>();
  let changes: UptimeChange[] = [];
  const states = new Map<string, HostState>();
  const totals = { dropped: 0, lost: 0 };

  function add(result: UptimeResult): void {
    addHour(toHourRow(result));
    trackState(result);
  }

  function addHour(row: UptimeHourRow): void {
    const name = hourNameOf(row);
    const existing = hours.get(name);
    if (existing) mergeHour(existing, row);
    else if (hours.size < maxPendingRows) hours.set(name, row);
    else totals.lost += row.rounds;
  }

  function trackState(result: UptimeResult): void {
    const { apiId, host, up, atMs } = result;
    const name = stateName(apiId, host);
    const existing = states.get(name);
    // Reports of threads may arrive out of order: late results do not change the state.
    if (existing && existing.atMs > atMs) return;
    if (existing?.up !== up) {
      if (changes.length >= maxPendingChanges) return;
      changes.push(toChange(result));
    }
    if (existing || states.size < maxTrackedHosts) states.set(name, { apiId, host, up, atMs });
  }

  return {
    totals,
    add({ hosts, dropped }: UptimeResults): void {
      totals.dropped += dropped;
      for (const host of hosts) add(host);
    },
    /** Hosts with a recent result. */
    states(nowMs: number): readonly HostState[] {
      return [...states.values()].filter(({ atMs }) => atMs >= nowMs - staleMs);
    },
    /** Drains unwritten rows, sorted: a common lock order prevents deadlocks between processes. */
    drain(nowMs: number): UptimeRows {
      for (const [name, { atMs }] of states) if (atMs < nowMs - staleMs) states.delete(name);
      const drained = { hours: [...hours].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row), changes };
      hours = new Map();
      changes = [];
      return drained;
    },
    /** Restores rows after a failed write. */
    restore(unwritten: UptimeRows): void {
      const newer = hours.values();
      hours = new Map(unwritten.hours.map(row => [hourNameOf(row), row]));
      for (const row of newer) addHour(row);
      changes = [...unwritten.changes, ...changes];
      for (const { api_id, host } of changes.splice(maxPendingChanges)) states.delete(stateName(api_id, host));
    },
  };
}

const stateName = (apiId: string, host: string) => `${apiId}\n${host}`;
const hourNameOf = ({ org_id, api_id, host, hour }: UptimeHourRow) => `${org_id}\n${stateName(api_id, host)}\n${hour}`;

/** Result columns of a row. */
const toResultColumns = ({ up, url, status, latencyMs, failure, atMs, retentionSeconds }: UptimeResult) => ({
  up: Number(up),
  url,
  status,
  latency_ms: latencyMs,
  failure,
  expires_at: retentionSeconds > 0 ? atMs + retentionSeconds * 1000 : 0,
});

const toChange = (result: UptimeResult): UptimeChange => ({
  org_id: result.orgId,
  api_id: result.apiId,
  host: result.host,
  at: result.atMs,
  ...toResultColumns(result),
});

const toHourRow = (result: UptimeResult): UptimeHourRow => ({
  org_id: result.orgId,
  api_id: result.apiId,
  host: result.host,
  hour: result.atMs - (result.atMs % hourMs),
  api_name: result.apiName,
  tags: toTagColumn([`org-${result.orgId}`, `api-${result.apiId}`, ...result.tags]),
  rounds: 1,
  rounds_up: Number(result.up),
  tests: result.tests,
  passed: result.passed,
  passed_ms: result.passedMs,
  first_at: result.atMs,
  last_at: result.atMs,
  checks: toCheckMark(result),
  ...toResultColumns(result),
});

/** Adds a later row of the same host and hour. */
function mergeHour(into: UptimeHourRow, row: UptimeHourRow): void {
  const { first_at, last_at } = into;
  const [rounds, up, tests] = [into.rounds + row.rounds, into.rounds_up + row.rounds_up, into.tests + row.tests];
  const [passed, passedMs] = [into.passed + row.passed, into.passed_ms + row.passed_ms];
  const checks = cutChecks(into.checks + row.checks);
  if (row.last_at >= last_at) Object.assign(into, row);
  Object.assign(into, { checks, rounds, rounds_up: up, tests, passed, passed_ms: passedMs });
  into.first_at = Math.min(first_at, row.first_at);
}

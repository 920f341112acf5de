import type { UptimeChange, UptimeHourRow } from '#storage/analytics-tables.ts';
import type { TestedHost, TestedHosts } from './tested-host.ts';

const hourMs = 3_600_000;
/** Hours of hosts held while they cannot be written. */
const rowsHeldUnlessSaid = 10_000;
/** Changes one write takes; a host whose change finds no room is noticed again with its next result. */
const changesHeld = 1000;
/** Hosts whose state is remembered; of others the records are asked. */
const hostsRemembered = 5000;

export interface UptimeWritten {
  readonly hours: readonly UptimeHourRow[];
  readonly changes: readonly UptimeChange[];
}

export interface UptimeRollUpOptions {
  /** A host nobody has tested for this long is no longer one that is tested. */
  readonly staleMs: number;
  readonly rowsHeld?: number;
}

export interface HostState {
  readonly apiId: string;
  readonly host: string;
  readonly up: boolean;
  readonly atMs: number;
}

export type UptimeRollUp = ReturnType<typeof uptimeRollUp>;

/** Adds results up by host and hour, and notices hosts that go or come back. What it holds is what was not written yet. */
export function uptimeRollUp({ staleMs, rowsHeld = rowsHeldUnlessSaid }: UptimeRollUpOptions) {
  let hours = new Map<string, UptimeHourRow>();
  let changes: UptimeChange[] = [];
  const states = new Map<string, HostState>();
  const totals = { dropped: 0, lost: 0 };

  function add(result: TestedHost): void {
    const row = hourOf(result);
    const known = hours.get(nameOf(row));
    if (known) merge(known, row);
    else if (hours.size < rowsHeld) hours.set(nameOf(row), row);
    else totals.lost++;
    notice(result);
  }

  function notice(result: TestedHost): void {
    const { apiId, host, up, atMs } = result;
    const name = stateName(apiId, host);
    const known = states.get(name);
    // Threads take turns with rounds and report each at its own time: what is late changes nothing any more.
    if (known && known.atMs > atMs) return;
    if (known?.up !== up) {
      if (changes.length >= changesHeld) return;
      changes.push(changeOf(result));
    }
    if (known || states.size < hostsRemembered) states.set(name, { apiId, host, up, atMs });
  }

  return {
    totals,
    add({ hosts, dropped }: TestedHosts): void {
      totals.dropped += dropped;
      for (const host of hosts) add(host);
    },
    /** The hosts that are tested now. */
    states(nowMs: number): readonly HostState[] {
      return [...states.values()].filter(({ atMs }) => atMs >= nowMs - staleMs);
    },
    /** What came in since the last time, in the same order everywhere: two that write the same rows take turns. */
    take(nowMs: number): UptimeWritten {
      for (const [name, { atMs }] of states) if (atMs < nowMs - staleMs) states.delete(name);
      const taken = { hours: [...hours].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row), changes };
      hours = new Map();
      changes = [];
      return taken;
    },
    /** Takes back what could not be written. */
    putBack(taken: UptimeWritten): void {
      const newer = hours;
      hours = new Map(taken.hours.map(row => [nameOf(row), row]));
      for (const [name, row] of newer) {
        const known = hours.get(name);
        if (known) merge(known, row);
        else if (hours.size < rowsHeld) hours.set(name, row);
        else totals.lost += row.rounds;
      }
      changes = [...taken.changes, ...changes];
      for (const { api_id, host } of changes.splice(changesHeld)) states.delete(stateName(api_id, host));
    },
  };
}

const stateName = (apiId: string, host: string) => `${apiId}\n${host}`;
const nameOf = ({ org_id, api_id, host, hour }: UptimeHourRow) => `${org_id}\n${stateName(api_id, host)}\n${hour}`;

/** What is kept of the result itself. */
const resultOf = ({ up, url, status, latencyMs, failure, atMs, retentionSeconds }: TestedHost) => ({
  up: Number(up),
  url,
  status,
  latency_ms: latencyMs,
  failure,
  expires_at: retentionSeconds > 0 ? atMs + retentionSeconds * 1000 : 0,
});

const changeOf = (result: TestedHost): UptimeChange => ({
  org_id: result.orgId,
  api_id: result.apiId,
  host: result.host,
  at: result.atMs,
  ...resultOf(result),
});

const hourOf = (result: TestedHost): UptimeHourRow => ({
  org_id: result.orgId,
  api_id: result.apiId,
  host: result.host,
  hour: result.atMs - (result.atMs % hourMs),
  api_name: result.apiName,
  rounds: 1,
  rounds_up: Number(result.up),
  tests: result.tests,
  passed: result.passed,
  passed_ms: result.passedMs,
  first_at: result.atMs,
  last_at: result.atMs,
  ...resultOf(result),
});

/** Adds a later row of the same host and hour. */
function merge(into: UptimeHourRow, row: UptimeHourRow): void {
  const { first_at, last_at } = into;
  const [rounds, up, tests] = [into.rounds + row.rounds, into.rounds_up + row.rounds_up, into.tests + row.tests];
  const [passed, passedMs] = [into.passed + row.passed, into.passed_ms + row.passed_ms];
  if (row.last_at >= last_at) Object.assign(into, row);
  Object.assign(into, { rounds, rounds_up: up, tests, passed, passed_ms: passedMs });
  into.first_at = Math.min(first_at, row.first_at);
}

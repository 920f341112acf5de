import { formatIsoTime } from '#base/clock.ts';
import type { UptimeChange } from '#storage/analytics-tables.ts';
import { parseChecks } from './checks.ts';
import type { RecentUptime } from './recent-store.ts';
import type { HostUptime, ResultView } from './schema.ts';
import type { HostRecord } from './store.ts';

type Result = Pick<UptimeChange, 'up' | 'url' | 'status' | 'latency_ms' | 'failure'>;

const toResultView = (at: number, { up, url, status, latency_ms, failure }: Result): ResultView => ({
  at: formatIsoTime(Number(at)),
  up: Number(up) === 1,
  url,
  response_code: Number(status),
  latency: Number(latency_ms),
  error: failure,
});

/** Ratio with four decimals. */
const share = (part: number, whole: number) => (whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000);
const average = (sum: number, count: number) => (count === 0 ? 0 : Math.round((sum / count) * 10) / 10);

const toAvailability = (recent: RecentUptime | undefined): HostUptime['availability'] => {
  const of = ([up, all]: readonly [number, number] = [0, 0]) => (all === 0 ? null : share(up, all));
  return { day: of(recent?.rounds.day), week: of(recent?.rounds.week), month: of(recent?.rounds.month) };
};

/** Response form of a host; `from` is the start of the requested range. */
export function toHostUptime(host: HostRecord, from: number): HostUptime {
  const [latest] = host.changes;
  // The change to this state may have expired, or another process may not have written it yet.
  const since = latest && latest.up === host.up ? latest.at : host.first_at;
  return {
    api_id: host.api_id,
    api_name: host.api_name,
    host: host.host,
    up: Number(host.up) === 1,
    since: formatIsoTime(Number(since)),
    uptime: share(Number(host.rounds_up), Number(host.rounds)),
    latency: average(Number(host.passed_ms), Number(host.passed)),
    tests: Number(host.tests),
    failed: Number(host.tests) - Number(host.passed),
    availability: toAvailability(host.recent),
    checks: parseChecks(host.recent?.checks ?? ''),
    last: toResultView(host.last_at, host),
    results: host.changes.filter(({ at }) => Number(at) >= from).map(change => toResultView(change.at, change)),
  };
}

import type { ApiStats } from '#apis/api/data-plane.ts';
import type { Clock } from '#base/clock.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refusals } from '../pipeline/refusals.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import { findRecordedApi, type RecordedApiInfo } from './api-analytics.ts';

const columns = ['calls', 'rateRefused', 'quotaRefused', 'keyRefused', 'upstreamCalls', 'upstreamMs'] as const;
type Column = (typeof columns)[number];
/** Column offset in a row; column 0 is the slot number. */
const columnOf = Object.fromEntries(columns.map((name, at) => [name, at + 1])) as Record<Column, number>;

const refusalColumns: Readonly<Record<string, Column>> = {
  RatelimitExceeded: 'rateRefused',
  OrgRateLimitExceeded: 'rateRefused',
  QuotaExceeded: 'quotaRefused',
  OrgQuotaExceeded: 'quotaRefused',
  AuthFailure: 'keyRefused',
  KeyExpired: 'keyRefused',
};
const columnOfRefusal = new Map<string, Column>(
  (Object.keys(refusals) as RefusalCode[]).flatMap(code => {
    const column = refusalColumns[refusals[code].event ?? ''];
    return column ? [[code, column]] : [];
  }),
);

/** Rolling minute in slots of ten seconds; the current slot counts up to now. */
const slotCount = 6;
const slotMs = 10_000;
/** APIs tracked by one thread. Beyond that the table restarts empty, at the loss of one minute. */
const maxTrackedApis = 100_000;
const initialRows = 64;

/** Slot number and sums, padded to 64 bytes: one cache line. */
const rowLength = 8;

/** Counters of all APIs, one typed array per slot: concurrent requests touch adjacent memory. */
class SlotTable {
  readonly rowById = new Map<string, number>();
  readonly slots = Array.from({ length: slotCount }, () => new Float64Array(initialRows * rowLength));

  assignRow(id: string): number {
    const known = this.rowById.get(id);
    if (known !== undefined) return known;
    const place = this.rowById.size;
    this.rowById.set(id, place);
    if (place * rowLength >= this.slots[0]!.length) {
      for (const [at, rows] of this.slots.entries()) {
        this.slots[at] = new Float64Array(rows.length * 2);
        this.slots[at].set(rows);
      }
    }
    return place;
  }
}

export function createRecentStats(clock: Clock, maxApis = maxTrackedApis) {
  let table = new SlotTable();

  /** By id: a changed API keeps its row. */
  function assignStatsRow({ id, analytics }: RecordedApiInfo): number {
    if (table.rowById.size >= maxApis && !table.rowById.has(id)) table = new SlotTable();
    analytics.statsTable = table;
    analytics.statsRow = table.assignRow(id);
    return analytics.statsRow;
  }

  return {
    count(call: Pick<Exchange, 'api' | 'errorCode' | 'upstreamMs'>): void {
      const { errorCode, upstreamMs } = call;
      const api = findRecordedApi(call);
      if (!api) return;
      const { analytics } = api;
      const place = analytics.statsTable === table ? analytics.statsRow : assignStatsRow(api);
      const number = Math.floor(clock.now() / slotMs);
      const row = place * rowLength;
      const rows = table.slots[number % slotCount]!;
      if (rows[row] !== number) {
        rows.fill(0, row, row + rowLength);
        rows[row] = number;
      }
      rows[row + columnOf.calls]! += 1;
      const refused = errorCode === '' ? undefined : columnOfRefusal.get(errorCode);
      if (refused) rows[row + columnOf[refused]]! += 1;
      if (upstreamMs > 0) {
        rows[row + columnOf.upstreamCalls]! += 1;
        rows[row + columnOf.upstreamMs]! += upstreamMs;
      }
    },

    of(apiId: string): ApiStats {
      const now = clock.now();
      const last = Math.floor(now / slotMs);
      const row = (table.rowById.get(apiId) ?? -1) * rowLength;
      const sum = (column: Column) => {
        let total = 0;
        for (const rows of row < 0 ? [] : table.slots)
          if (rows[row]! > last - slotCount) total += rows[row + columnOf[column]]!;
        return total;
      };
      const sums = Object.fromEntries(columns.map(name => [name, sum(name)])) as Record<Column, number>;
      return { ...sums, seconds: ((slotCount - 1) * slotMs + (now % slotMs)) / 1000 };
    },
  };
}

/** Sums the stats of several threads, which report for the same minute. */
export function sumStats(all: readonly ApiStats[]): ApiStats {
  const sum = (column: Column) => all.reduce((total, it) => total + it[column], 0);
  const sums = Object.fromEntries(columns.map(name => [name, sum(name)])) as Record<Column, number>;
  return { ...sums, seconds: all[0]?.seconds ?? 1 };
}

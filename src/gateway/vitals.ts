import type { Clock } from '#base/clock.ts';
import { Lru } from '#base/lru.ts';
import type { Api } from './api.ts';
import type { Exchange } from './exchange.ts';
import { type RefusalCode, refusals } from './refusals.ts';

/** What happened to the calls of an API in the time just past. */
export interface Vitals {
  readonly seconds: number;
  readonly calls: number;
  /** Refused because a rate, or a quota, was used up. */
  readonly rateRefused: number;
  readonly quotaRefused: number;
  /** Refused because the caller was not known, or no longer. */
  readonly keyRefused: number;
  readonly upstreamCalls: number;
  readonly upstreamMs: number;
}

const columns = ['calls', 'rateRefused', 'quotaRefused', 'keyRefused', 'upstreamCalls', 'upstreamMs'] as const;
type Column = (typeof columns)[number];
/** Its place in a row, after the number of the slot. */
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

/** The last minute, in steps of ten seconds; the one under way counts as far as it has come. */
const slots = 6;
const slotMs = 10_000;
/** APIs watched at once; of more, those that were first called longest ago are forgotten. Well above what one gateway serves. */
const apisKept = 100_000;

/** A row for each slot: which slot of all time it holds, then its sums. */
type Ring = number[];
const rowLength = columns.length + 1;

export function vitalsOf(clock: Clock) {
  const rings = new Lru<string, Ring>(apisKept);

  /** An API that was changed goes on where it was. */
  function ringOf({ id, recorded }: Api): Ring {
    recorded.vitals = rings.get(id) ?? new Array<number>(slots * rowLength).fill(0);
    rings.set(id, recorded.vitals);
    return recorded.vitals;
  }

  return {
    count({ api, refusal, upstreamMs }: Pick<Exchange, 'api' | 'refusal' | 'upstreamMs'>): void {
      if (!api) return;
      const ring = api.recorded.vitals ?? ringOf(api);
      const number = Math.floor(clock.now() / slotMs);
      const row = (number % slots) * rowLength;
      if (ring[row] !== number) {
        ring.fill(0, row, row + rowLength);
        ring[row] = number;
      }
      ring[row + columnOf.calls]! += 1;
      const refused = refusal === '' ? undefined : columnOfRefusal.get(refusal);
      if (refused) ring[row + columnOf[refused]]! += 1;
      if (upstreamMs > 0) {
        ring[row + columnOf.upstreamCalls]! += 1;
        ring[row + columnOf.upstreamMs]! += upstreamMs;
      }
    },

    of(apiId: string): Vitals {
      const now = clock.now();
      const last = Math.floor(now / slotMs);
      const ring = rings.get(apiId);
      const sum = (column: Column) => {
        let total = 0;
        for (let row = 0; ring && row < ring.length; row += rowLength)
          if (ring[row]! > last - slots) total += ring[row + columnOf[column]]!;
        return total;
      };
      const sums = Object.fromEntries(columns.map(name => [name, sum(name)])) as Record<Column, number>;
      return { ...sums, seconds: ((slots - 1) * slotMs + (now % slotMs)) / 1000 };
    },
  };
}

/** What several threads saw, as one. They look at the same time, give or take nothing that matters here. */
export function together(all: readonly Vitals[]): Vitals {
  const sum = (column: Column) => all.reduce((total, it) => total + it[column], 0);
  const sums = Object.fromEntries(columns.map(name => [name, sum(name)])) as Record<Column, number>;
  return { ...sums, seconds: all[0]?.seconds ?? 1 };
}

import type { Clock } from '#base/clock.ts';
import { Lru } from '#base/lru.ts';
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
const columnOf = Object.fromEntries(columns.map((name, at) => [name, at])) as Record<Column, number>;

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
/** APIs watched at once; of more, those that nobody calls are forgotten. Well above what one gateway serves. */
const apisKept = 100_000;

interface Ring {
  readonly sums: Float64Array;
  /** Which slot of all time each one holds. */
  readonly numbers: Float64Array;
}

export function vitalsOf(clock: Clock) {
  const rings = new Lru<string, Ring>(apisKept);

  function ringOf(id: string): Ring {
    const known = rings.get(id);
    if (known) return known;
    const made = { sums: new Float64Array(slots * columns.length), numbers: new Float64Array(slots) };
    rings.set(id, made);
    return made;
  }

  return {
    count({ api, refusal, upstreamMs }: Pick<Exchange, 'api' | 'refusal' | 'upstreamMs'>): void {
      if (!api) return;
      const { sums, numbers } = ringOf(api.id);
      const number = Math.floor(clock.now() / slotMs);
      const slot = number % slots;
      const from = slot * columns.length;
      if (numbers[slot] !== number) {
        numbers[slot] = number;
        sums.fill(0, from, from + columns.length);
      }
      sums[from]! += 1;
      const refused = columnOfRefusal.get(refusal);
      if (refused) sums[from + columnOf[refused]]! += 1;
      if (upstreamMs > 0) {
        sums[from + columnOf.upstreamCalls]! += 1;
        sums[from + columnOf.upstreamMs]! += upstreamMs;
      }
    },

    of(apiId: string): Vitals {
      const now = clock.now();
      const last = Math.floor(now / slotMs);
      const ring = rings.get(apiId);
      const sum = (column: Column) => {
        let total = 0;
        for (let slot = 0; ring && slot < slots; slot++)
          if (ring.numbers[slot]! > last - slots) total += ring.sums[slot * columns.length + columnOf[column]]!;
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

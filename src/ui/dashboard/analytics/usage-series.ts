import type { UsageCount, UsageScope } from './usage-filters.ts';

/** Counts of each step of the scope: no requests are 0, and a gap in latencies. */
export function buildUsageSeries(items: readonly UsageCount[], { start, end, stepSeconds }: UsageScope) {
  const byTime = new Map(items.map(item => [Math.floor(Date.parse(item.id.start) / 1000), item]));
  const times = Array.from({ length: Math.max(0, (end - start) / stepSeconds) }, (_, i) => start + i * stepSeconds);
  const counts = (member: 'hits' | 'error') => times.map(time => byTime.get(time)?.[member] ?? 0);
  const latencies = (member: 'p50' | 'p95' | 'p99') =>
    times.map(time => byTime.get(time)?.percentiles?.[member] ?? null);
  return {
    times,
    hits: counts('hits'),
    errors: counts('error'),
    p50: latencies('p50'),
    p95: latencies('p95'),
    p99: latencies('p99'),
  };
}

export interface UsageTotals {
  readonly requests: number;
  readonly failures: number;
  /** Undefined without requests. */
  readonly meanMs: number | undefined;
}

export function sumUsage(items: readonly UsageCount[]): UsageTotals {
  const requests = items.reduce((total, { hits }) => total + hits, 0);
  const failures = items.reduce((total, { error }) => total + error, 0);
  const totalMs = items.reduce((total, { latency, hits }) => total + latency * hits, 0);
  return { requests, failures, meanMs: requests === 0 ? undefined : totalMs / requests };
}

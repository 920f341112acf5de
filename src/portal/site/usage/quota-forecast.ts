import { dayMs } from '#analytics/time-buckets.ts';
import type { QuotaUse } from '../../quota-notices/quota-notices.ts';

/** Part of a period that has to pass before its rate says something about the rest. */
const minObservedShare = 0.05;

export type QuotaForecast =
  | { readonly state: 'used-up' | 'lasts' | 'unused' | 'unknown' }
  | { readonly state: 'ends'; readonly atMs: number };

/**
 * Linear forecast: calls go on at the mean rate of the current period, which began `periodMs` before it renews. A quota
 * that does not renew (`periodMs` 0) is counted from the creation of its key.
 */
export function forecastQuota(
  { used, max, renewsAtMs }: QuotaUse,
  periodMs: number,
  createdAtMs: number,
  nowMs: number,
): QuotaForecast {
  if (used >= max) return { state: 'used-up' };
  if (used <= 0) return { state: 'unused' };
  const renews = periodMs > 0 && renewsAtMs > 0;
  const observedMs = nowMs - (renews ? renewsAtMs - periodMs : createdAtMs);
  const minObservedMs = renews ? Math.min(dayMs, periodMs * minObservedShare) : dayMs;
  // The gateway starts the next period with the next call: the times of one that is over say nothing.
  if (observedMs < minObservedMs || (renews && nowMs >= renewsAtMs)) return { state: 'unknown' };
  const atMs = nowMs + ((max - used) * observedMs) / used;
  return renews && atMs >= renewsAtMs ? { state: 'lasts' } : { state: 'ends', atMs };
}

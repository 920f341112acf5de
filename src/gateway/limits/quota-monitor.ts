import type { CounterResult, Window } from '#storage/shared/shared.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { LimitServices } from './services.ts';

export interface MonitoredQuota {
  readonly orgId: string;
  /** The key hash that event handlers see. */
  readonly key: string;
  /** Thresholds of the key; the first that is reached is reported. */
  readonly percents: readonly number[];
}

/** Emits `TriggerExceeded` where a request reaches a threshold of quota usage, so once per threshold and period. */
export function createQuotaMonitor({ settings, emitEvent }: Pick<LimitServices, 'settings' | 'emitEvent'>) {
  const defaultPercent = settings['limits.monitor_percent'];
  return (
    call: Exchange,
    { orgId, key, percents }: MonitoredQuota,
    { limit }: Window,
    { used }: CounterResult,
  ): void => {
    const before = ((used - 1) / limit) * 100;
    const usage = (used / limit) * 100;
    const isReached = (percent: number) => percent > before && percent <= usage;
    const reached =
      defaultPercent > 0 && isReached(defaultPercent)
        ? defaultPercent
        : percents.find(percent => percent !== defaultPercent && isReached(percent));
    if (reached === undefined) return;
    emitEvent('TriggerExceeded', call, 'Quota trigger reached', {
      org_id: orgId,
      key,
      trigger_limit: reached,
      usage_percentage: usage,
    });
  };
}

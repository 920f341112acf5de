import type { CounterResult, Window } from '#storage/shared/shared.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { StepServices } from '../pipeline/step-services.ts';

export interface MonitoredQuota {
  readonly orgId: string;
  /** What handlers may see of the key. */
  readonly key: string;
  /** Shares of the quota, in percent, that its owner wants to hear of; the first that fits is told. */
  readonly percents: readonly number[];
}

/** Tells handlers when a quota is used up to a share: once for each, by the call that gets there. */
export function createQuotaMonitor({ settings, emitEvent }: Pick<StepServices, 'settings' | 'emitEvent'>) {
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

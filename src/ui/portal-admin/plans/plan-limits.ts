import { formatNumber } from '../../kit/format.ts';
import { adminTexts } from '../../texts/admin-texts.ts';

const own = adminTexts.plans;

interface PlanLimits {
  readonly RateLimit: number;
  readonly Quota: number;
}

/** Limits in words: -1 and 0 are no limit. */
export const describePlanLimits = ({ RateLimit, Quota }: PlanLimits): string =>
  [
    RateLimit > 0 ? own.rateOf(formatNumber(RateLimit)) : own.noRate,
    Quota > 0 ? own.quotaOf(formatNumber(Quota)) : own.noQuota,
  ].join(', ');

import { formatNumber } from '../../kit/format.ts';
import { adminTexts } from '../../texts/admin-texts.ts';

const own = adminTexts.plans;

interface PlanLimits {
  readonly UnlimitedRateLimit: boolean;
  readonly RateLimit: number;
  readonly Per: number;
  readonly UnlimitedQuota: boolean;
  readonly Quota: number;
  readonly QuotaRenewalRate: number;
}

const units = [86_400, 3600, 60, 1] as const;

/** `3600` is `an hour`, `7200` is `2 hours`. */
function describePeriod(seconds: number): string {
  const unit = units.find(it => seconds >= it && seconds % it === 0) ?? 1;
  return own.periodOf(unit, seconds / unit);
}

/** Limits in words. */
export const describePlanLimits = (plan: PlanLimits): string =>
  [
    plan.UnlimitedRateLimit ? own.noRate : own.rateOf(formatNumber(plan.RateLimit), describePeriod(plan.Per)),
    plan.UnlimitedQuota
      ? own.noQuota
      : plan.QuotaRenewalRate > 0
        ? own.quotaOf(formatNumber(plan.Quota), describePeriod(plan.QuotaRenewalRate))
        : own.quotaInAll(formatNumber(plan.Quota)),
  ].join(', ');

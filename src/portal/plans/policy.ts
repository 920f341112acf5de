import { type Policy, policyIdOf } from '#access/policies/schema.ts';
import { defaultPlan, type StoredPlan } from './schema.ts';

/** Mapping between a plan and the limits policy of its provider. */

const planParts = { acl: false, complexity: false, per_api: false, quota: true, rate_limit: true };

/** True for a policy that sets limits and grants no access. */
export const isPlanPolicy = ({ partitions }: Policy): boolean =>
  !partitions?.acl && !partitions?.per_api && (partitions?.quota === true || partitions?.rate_limit === true);

type PlanLimits = Omit<StoredPlan, 'ID' | 'ReferenceID'>;

const toPolicyLimits = (plan: PlanLimits): Policy => ({
  name: plan.Name,
  rate: plan.UnlimitedRateLimit ? -1 : plan.RateLimit,
  per: plan.UnlimitedRateLimit ? -1 : plan.Per,
  quota_max: plan.UnlimitedQuota ? -1 : plan.Quota,
  quota_renewal_rate: plan.UnlimitedQuota || plan.QuotaRenewalRate <= 0 ? -1 : plan.QuotaRenewalRate,
  key_expires_in: plan.KeyExpiresIn,
  meta_data: plan.MetaData,
});

export const createPlanPolicy = (plan: PlanLimits, tags: readonly string[]): Policy => ({
  ...toPolicyLimits(plan),
  state: 'active',
  partitions: planParts,
  access_rights: {},
  throttle_interval: -1,
  throttle_retry_limit: -1,
  tags: [...tags],
});

/** Updates the policy's limits and the plan's meta data; everything else in the policy is kept. */
export const updatePlanPolicy =
  (plan: PlanLimits, before: PlanLimits) =>
  (policy: Policy): Policy => {
    const otherMetaData = Object.entries(policy.meta_data ?? {}).filter(([name]) => !(name in before.MetaData));
    return {
      ...policy,
      ...toPolicyLimits(plan),
      meta_data: { ...Object.fromEntries(otherMetaData), ...plan.MetaData },
    };
  };

const whole = (value: number | undefined) => Math.round(value ?? 0);

/** Plan members from a stored policy. */
export const fromPlanPolicy = (policy: Policy) => {
  const rate = whole(policy.rate);
  const quota = whole(policy.quota_max);
  return {
    Name: policy.name ?? '',
    ReferenceID: policyIdOf(policy),
    RateLimit: rate,
    Per: whole(policy.per) > 0 ? whole(policy.per) : defaultPlan.Per,
    UnlimitedRateLimit: rate <= 0,
    Quota: quota,
    UnlimitedQuota: quota <= 0,
    QuotaRenewalRate: whole(policy.quota_renewal_rate),
    KeyExpiresIn: Math.max(0, whole(policy.key_expires_in)),
    MetaData: Object.fromEntries(
      Object.entries(policy.meta_data ?? {}).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    ),
  };
};

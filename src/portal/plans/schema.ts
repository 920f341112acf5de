import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import {
  chosenCid,
  formatOptionalTime,
  intBetween,
  lenientBool,
  lenientInt,
  nonEmptyText,
  optionalMember,
  replaceableReferences,
  textUpTo,
} from '../shapes.ts';

/** Plan: the limits of access to products; one limits policy of its provider. */
const amount = intBetween(-1, 1_000_000_000_000);
const seconds = intBetween(-1, 10_000_000_000);

const writable = {
  DisplayName: optionalMember(textUpTo()),
  Description: optionalMember(z.string().max(100_000)),
  AutoApproveAccessRequests: optionalMember(lenientBool),
  Catalogues: replaceableReferences,
  JWTScope: optionalMember(textUpTo(1000)).describe('Scope of tokens of OAuth clients that selects the limits'),
  KeyExpiresIn: optionalMember(intBetween(0, 10_000_000_000)),
  MetaData: optionalMember(
    z.record(z.string().min(1).max(255), z.union([z.string().max(10_000), z.number(), z.boolean()])),
  ),
  RateLimit: optionalMember(amount),
  Per: optionalMember(seconds),
  Quota: optionalMember(amount),
  QuotaRenewalRate: optionalMember(seconds),
  UnlimitedRateLimit: optionalMember(lenientBool),
  UnlimitedQuota: optionalMember(lenientBool),
  PlanQuota: optionalMember(intBetween(0, 1_000_000_000)),
  PlanQuotaRenewalRate: optionalMember(intBetween(0, 10_000_000_000)),
};
const readOnly = ['ID', 'ReferenceID', 'Hidden', 'CreatedAt', 'UpdatedAt'];
export const PlanWrite = readOnlyMembers(
  z.object({ ...writable, CID: optionalMember(chosenCid), Name: nonEmptyText(), ProviderID: lenientInt }),
  readOnly,
);
export const PlanChange = readOnlyMembers(
  z.object({ ...writable, Name: optionalMember(nonEmptyText()), ProviderID: optionalMember(lenientInt) }),
  [...readOnly, 'CID'],
);
export type PlanChange = z.output<typeof PlanChange>;

export interface StoredPlan {
  ID: number;
  CID: string;
  Name: string;
  ProviderID: number;
  /** The limits policy. */
  ReferenceID: string;
  DisplayName: string;
  Description: string;
  AutoApproveAccessRequests: boolean;
  JWTScope: string;
  /** Seconds; 0 is never. */
  KeyExpiresIn: number;
  /** Copied to every key issued under the plan. */
  MetaData: Record<string, string>;
  RateLimit: number;
  /** Seconds of the rate window. */
  Per: number;
  Quota: number;
  /** Seconds of the quota period; 0 and less never renew. */
  QuotaRenewalRate: number;
  UnlimitedRateLimit: boolean;
  UnlimitedQuota: boolean;
  /** Access requests per user and period; 0 is unlimited. */
  PlanQuota: number;
  /** Seconds of that period; 0 is for ever. */
  PlanQuotaRenewalRate: number;
  Hidden: boolean;
  CreatedAt: number;
  UpdatedAt: number;
}

/** Default rate window. */
const defaultPerSeconds = 60;

export const defaultPlan = {
  DisplayName: '',
  Description: '',
  AutoApproveAccessRequests: false,
  JWTScope: '',
  KeyExpiresIn: 0,
  MetaData: {},
  RateLimit: 0,
  Per: defaultPerSeconds,
  Quota: 0,
  QuotaRenewalRate: 0,
  UnlimitedRateLimit: true,
  UnlimitedQuota: true,
  PlanQuota: 0,
  PlanQuotaRenewalRate: 0,
  Hidden: false,
};

const toTexts = (map: Record<string, string | number | boolean>) =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name, String(value)]));

/** Applies a body to a plan. Setting a limit clears its Unlimited flag, unless the body sets that too. */
export function applyPlanChange<P extends Omit<StoredPlan, 'ID'>>(plan: P, change: PlanChange): P {
  const { ProviderID: _provider, Catalogues: _catalogues, MetaData, ...rest } = change;
  const sent = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as Partial<P>;
  const next = { ...plan, ...sent, ...(MetaData && { MetaData: toTexts(MetaData) }) };
  const isUnlimited = (flag: boolean | undefined, value: number | undefined, before: boolean) =>
    flag ?? (value === undefined ? before : value <= 0);
  next.UnlimitedRateLimit = isUnlimited(change.UnlimitedRateLimit, change.RateLimit, plan.UnlimitedRateLimit);
  next.UnlimitedQuota = isUnlimited(change.UnlimitedQuota, change.Quota, plan.UnlimitedQuota);
  if (next.RateLimit <= 0) next.UnlimitedRateLimit = true;
  if (next.Quota <= 0) next.UnlimitedQuota = true;
  if (next.Per <= 0) next.Per = defaultPerSeconds;
  return next;
}

export const PlanRow = z.object({
  ID: z.int(),
  CID: z.string(),
  Name: z.string(),
  DisplayName: z.string(),
  AutoApproveAccessRequests: z.boolean(),
  RateLimit: z.int(),
  Per: z.int(),
  Quota: z.int(),
  QuotaRenewalRate: z.int(),
  UnlimitedRateLimit: z.boolean(),
  UnlimitedQuota: z.boolean(),
});
/** Row of a list of plans, with the ids of their catalogues. */
export const PlanListRow = PlanRow.extend({ Catalogues: z.array(z.int()) });
export const PortalPlan = PlanListRow.extend({
  ProviderID: z.int(),
  ReferenceID: z.string(),
  Description: z.string(),
  JWTScope: z.string(),
  KeyExpiresIn: z.int(),
  MetaData: z.record(z.string(), z.string()),
  PlanQuota: z.int(),
  PlanQuotaRenewalRate: z.int(),
  Hidden: z.boolean(),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});

export const toPlanRow = (plan: StoredPlan): z.output<typeof PlanRow> => ({
  ID: plan.ID,
  CID: plan.CID,
  Name: plan.Name,
  DisplayName: plan.DisplayName,
  AutoApproveAccessRequests: plan.AutoApproveAccessRequests,
  RateLimit: plan.RateLimit,
  Per: plan.Per,
  Quota: plan.Quota,
  QuotaRenewalRate: plan.QuotaRenewalRate,
  UnlimitedRateLimit: plan.UnlimitedRateLimit,
  UnlimitedQuota: plan.UnlimitedQuota,
});

export const toPlanView = (plan: StoredPlan, catalogues: readonly number[]): z.output<typeof PortalPlan> => ({
  ...plan,
  Catalogues: [...catalogues],
  CreatedAt: formatOptionalTime(plan.CreatedAt),
  UpdatedAt: formatOptionalTime(plan.UpdatedAt),
});

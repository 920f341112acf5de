import type { StoredPlan } from '../plans/schema.ts';
import type { StoredProduct } from '../products/schema.ts';

/** Values as pages show them. */

export const displayName = ({ DisplayName, Name }: { DisplayName: string; Name: string }): string =>
  DisplayName || Name;

const count = new Intl.NumberFormat('en');
const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' });

export const formatCount = (value: number): string => count.format(value);
const moment = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

export const formatMoment = (ms: number): string => `${moment.format(ms)} UTC`;
export const formatDay = (ms: number): string => day.format(ms);

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** `90` is `90 seconds`, `3600` is `hour`, `7200` is `2 hours`. */
export function formatPeriod(seconds: number): string {
  const [name, size] = units.find(([, it]) => seconds >= it && seconds % it === 0) ?? units[3];
  const number = seconds / size;
  return number === 1 ? name : `${formatCount(number)} ${name}s`;
}

const article = (period: string) =>
  /^\d/.test(period) ? `per ${period}` : `${/^hour/.test(period) ? 'an' : 'a'} ${period}`;

export const formatCalls = (count: number) => (count === 1 ? '1 call' : `${formatCount(count)} calls`);

export const formatRate = ({ UnlimitedRateLimit, RateLimit, Per }: StoredPlan): string =>
  UnlimitedRateLimit ? 'No rate limit' : `${formatCalls(RateLimit)} ${article(formatPeriod(Per))}`;

export function formatQuota({ UnlimitedQuota, Quota, QuotaRenewalRate }: StoredPlan): string {
  if (UnlimitedQuota) return 'No quota';
  if (QuotaRenewalRate <= 0) return `${formatCalls(Quota)} in all`;
  return `${formatCalls(Quota)} ${article(formatPeriod(QuotaRenewalRate))}`;
}

/** Name and limits of a plan; the name that it had where it is deleted. */
export const describePlan = (plan: StoredPlan | undefined, name: string): string =>
  plan ? `${displayName(plan)}: ${formatRate(plan)}, ${formatQuota(plan).toLowerCase()}` : `${name} (deleted)`;

export const formatKeyLifetime = ({ KeyExpiresIn }: StoredPlan): string =>
  KeyExpiresIn > 0 ? `Keys last ${formatPeriod(KeyExpiresIn).replace(/^([a-z])/, '1 $1')}` : 'Keys do not expire';

const kindNames: Readonly<Record<string, string>> = { graphql: 'GraphQL', streams: 'Events', tcp: 'TCP', mcp: 'MCP' };

/** Kinds of the APIs of a product: REST, GraphQL, … */
export const listKinds = ({ APIDetails }: StoredProduct): string[] => [
  ...new Set(APIDetails.map(({ APIType }) => kindNames[APIType.toLowerCase()] ?? (APIType.toUpperCase() || 'REST'))),
];

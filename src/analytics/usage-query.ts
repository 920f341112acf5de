import { z } from 'zod';
import { type FindApi, resolvePublicApiId } from '#access/api-lookup.ts';
import { intersectIds } from '#apis/owners/intersect-ids.ts';
import type { Ownership } from '#apis/owners/store.ts';
import type { Clock } from '#base/clock.ts';
import type { Settings } from '#base/settings.ts';
import { findTimeZone, type TimeSpan, utcZone } from '#base/time-zone.ts';
import type { Actor } from '#operations/actor.ts';
import { csvListMembers, queryFlag, toCsvPageRequest } from '#operations/shapes.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { findAnalyticsScope, rejectNarrowedActor, rejectUnownedApi } from './analytics-scope.ts';
import { problem } from './problems.ts';
import { isWithinDays } from './range.ts';
import { tagFilter } from './tag-filter.ts';
import { createTimeBuckets, dayMs, type Resolution, resolutions } from './time-buckets.ts';
import type { UsageStore } from './usage-store.ts';
import { type UsageGroup, type UsageQuery, usageGroups, usageOrders } from './usage-sums-store.ts';
import { toUsageItem } from './usage-views.ts';

export interface UsageServices {
  usage: UsageStore;
  settings: Settings;
  clock: Clock;
  findApi: FindApi;
  ownership: Ownership;
}

/** A primitive is identified by its type and its name. */
const primitiveGroups = ['mcp_primitive_type', 'mcp_primitive_name'] as const;
const toGroupWords = (word: string) => (word === 'mcp_primitive' ? primitiveGroups : [word]);

const groupWords = z
  .string()
  .max(200)
  .transform(text => [...new Set(text.split(',').flatMap(word => toGroupWords(word.trim())))].filter(Boolean))
  .pipe(z.array(z.enum([...usageGroups, ...resolutions])));

const order = z
  .string()
  .max(50)
  .transform(text => text.toLowerCase())
  .pipe(z.enum(usageOrders));

const capitalize = (name: string) => name[0]!.toUpperCase() + name.slice(1);

const timeZone = z
  .string()
  .max(64)
  .transform((name, context) => {
    const zone = findTimeZone(name);
    if (zone) return zone;
    context.addIssue('must be a time zone such as Europe/Berlin, or an offset such as %2B05:30');
    return z.NEVER;
  });

/** Query parameters of every usage operation. */
export const usageQueryMembers = {
  by: order.default('hits').describe(`Member to sort by: ${usageOrders.map(capitalize).join(', ')}`),
  sort: z.enum(['1', '-1']).default('-1').describe('1 for ascending, -1 for descending'),
  api_id: z.string().max(1000).optional().describe('Restricts the counts to one API'),
  api_version: z.string().max(1000).optional().describe('Restricts the counts to one version'),
  res: z.enum(resolutions).optional().describe('Time resolution of the counts'),
  tz: timeZone.optional().describe('Time zone of days, hours and months; UTC by default'),
  group_by: groupWords.optional().describe('Further dimensions to group by, comma-separated'),
  percentiles: queryFlag.default(false).describe('Adds latency percentiles p50, p75, p95 and p99'),
  tags: tagFilter.optional().describe('Restricts the counts to requests with these tags, comma-separated, all of them'),
  ...csvListMembers('csv returns all items as CSV'),
};
export const usageProblems = [
  problem.owned_counts_only,
  problem.percentile_rows_exceeded,
  problem.reads_exceeded,
] as const;

const usageQueryShape = z.object(usageQueryMembers);
export type UsageParameters = z.output<typeof usageQueryShape>;

/** Groups, filters and defaults of one operation. */
export interface UsageSelection
  extends Pick<
    UsageQuery,
    | 'keyHashes'
    | 'oauthId'
    | 'path'
    | 'refusal'
    | 'method'
    | 'country'
    | 'userAgent'
    | 'statuses'
    | 'failed'
    | 'mcpScope'
    | 'mcpMethod'
    | 'mcpPrimitiveType'
    | 'mcpPrimitiveName'
  > {
  readonly groups: readonly UsageGroup[];
  readonly apiId?: string | undefined;
  /** Public ids of the only APIs to count. */
  readonly apiIds?: readonly string[] | undefined;
  readonly resolution?: Resolution | undefined;
  /** Page where the request names none: 1, or -1 for all. */
  readonly defaultPage?: number;
  /** Items of a page; by default those of the settings. */
  readonly pageSize?: number | undefined;
}

/** Dimensions that `owned_analytics` allows. */
const countedGroups: readonly UsageGroup[] = ['api_id', 'api_version', 'code', 'refusal', 'method'];

const maxMinuteRangeDays = 7;

/** The finest time resolution that a request names; hours of days are hours. */
function findResolution({ res, group_by = [] }: UsageParameters, own: Resolution | undefined): Resolution | undefined {
  return resolutions.findLast(it => it === res || group_by.includes(it)) ?? own;
}

function checkResolution(resolution: Resolution | undefined, { from, to }: TimeSpan): void {
  if (resolution !== 'minute' || isWithinDays(from, to, maxMinuteRangeDays)) return;
  throw createInvalidProblem([
    { path: 'res', message: `minute is for ranges of at most ${maxMinuteRangeDays} days: use hour, day or month` },
  ]);
}

/** Dimensions of an operation and of its request; rejects those that the caller must not see. */
function listGroups(actor: Actor, own: readonly UsageGroup[], { group_by = [] }: UsageParameters): UsageGroup[] {
  const isGroup = (word: string): word is UsageGroup => (usageGroups as readonly string[]).includes(word);
  const groups = [...new Set([...own, ...group_by.filter(isGroup)])];
  const uncounted = groups.filter(it => !countedGroups.includes(it));
  if (uncounted.length > 0) rejectNarrowedActor(actor, uncounted.join(', '));
  return groups;
}

/** Query of a request, within what its caller may see. */
async function buildUsageQuery(
  { ownership, findApi, clock }: UsageServices,
  actor: Actor,
  span: TimeSpan,
  query: UsageParameters,
  {
    groups,
    apiId: ownApiId,
    apiIds,
    resolution: ownResolution,
    defaultPage: _page,
    pageSize: _size,
    ...filter
  }: UsageSelection,
): Promise<UsageQuery> {
  const resolution = findResolution(query, ownResolution);
  checkResolution(resolution, span);
  const allGroups = listGroups(actor, groups, query);
  if (query.tags && query.tags.length > 0) rejectNarrowedActor(actor, 'tags');
  const scope = await findAnalyticsScope(ownership, actor);
  const apiId = query.api_id === undefined ? ownApiId : await resolvePublicApiId(findApi, actor.orgId, query.api_id);
  if (apiId !== undefined) rejectUnownedApi(scope, apiId);
  // No request is later than now: future offsets of the zone have no effect.
  const until = { from: span.from, to: Math.max(span.from, Math.min(span.to, clock.now() + dayMs)) };
  return {
    ...filter,
    ...scope,
    ownedApis: intersectIds(apiIds, scope.ownedApis),
    ...span,
    apiId,
    orgId: actor.orgId,
    version: query.api_version,
    tags: query.tags,
    groups: allGroups,
    time: resolution && createTimeBuckets(resolution, query.tz ?? utcZone, until),
    order: query.by,
    ascending: query.sort === '1',
    percentiles: query.percentiles,
  };
}

export async function queryUsage(
  services: UsageServices,
  actor: Actor,
  span: TimeSpan,
  query: UsageParameters,
  selection: UsageSelection,
) {
  const { usage, settings } = services;
  const usageQuery = await buildUsageQuery(services, actor, span, query, selection);
  const page = await usage.page(
    usageQuery,
    toCsvPageRequest(query, selection.pageSize ?? settings['management.page_size'], selection.defaultPage),
  );
  return {
    data: page.items.map(item => toUsageItem(item, usageQuery.time)),
    pages: page.pages,
    dropped: await usage.countLosses(span.from, span.to),
  };
}

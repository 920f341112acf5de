import { z } from 'zod';
import { problem as apis } from '#apis/problems.ts';
import { utcZone } from '#base/time-zone.ts';
import { operation } from '#operations/operation.ts';
import { idList, queryFlag, unixSeconds } from '#operations/shapes.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { rejectNarrowedActor } from './analytics-scope.ts';
import { problem } from './problems.ts';
import { checkRangeLength, parseDateRange, rangeParams, rangePath } from './range.ts';
import { usagePage } from './schema.ts';
import { formatUsageCsv } from './usage-csv.ts';
import { queryUsage, type UsageServices, usageProblems, usageQueryMembers } from './usage-query.ts';
import { minuteMs } from './usage-rows.ts';

const declared = { surface: 'dashboard', noun: 'analytics', permission: 'analytics:read', method: 'GET' } as const;

const query = z.object(usageQueryMembers);
const problems = [...usageProblems, apis.api_not_owned] as const;

export const countUsageByApi = operation({
  ...declared,
  name: 'countUsageByApi',
  path: `/api/usage/apis/${rangePath}`,
  about: 'Counts the requests of every API of the caller’s organisation, the most used first.',
  params: rangeParams,
  query,
  returns: usagePage,
  toCsv: formatUsageCsv,
  problems,
  async handle({ actor, params, query: given }, services: UsageServices) {
    return queryUsage(services, actor, parseDateRange(params, given.tz ?? utcZone), given, { groups: ['api_id'] });
  },
});

export const countUsageOfApi = operation({
  ...declared,
  name: 'countUsageOfApi',
  path: `/api/usage/apis/{apiId}/${rangePath}`,
  about: 'Counts the requests of one API, also of a deleted one.',
  params: rangeParams.extend({ apiId: z.string() }),
  query: query.omit({ api_id: true }),
  returns: usagePage,
  toCsv: formatUsageCsv,
  problems: [...problems, problem.api_not_found],
  async handle({ actor, params, query: given }, services: UsageServices) {
    const span = parseDateRange(params, given.tz ?? utcZone);
    const api = await services.findApi(params.apiId, actor.orgId);
    const apiId = api?.apiId ?? params.apiId;
    const page = await queryUsage(services, actor, span, given, { groups: ['api_id'], apiId });
    if (!api && page.data.length === 0) throw problem.api_not_found();
    return page;
  },
});

const maxFilterLength = 1024;

export const countUsage = operation({
  ...declared,
  name: 'countUsage',
  path: '/api/usage',
  about: 'Counts the requests between two times, to the minute, by any dimension and with any filter.',
  query: query.extend({
    start: unixSeconds.describe('Unix seconds, rounded down to the minute'),
    end: unixSeconds.describe('Unix seconds, exclusive, rounded up to the minute'),
    api_ids: idList
      .optional()
      .describe('Restricts the counts to these public ids of APIs, comma-separated, 100 at most'),
    key: z.string().max(64).optional().describe('Hash of a key'),
    keys: idList.optional().describe('Restricts the counts to these hashes of keys, comma-separated, 100 at most'),
    oauth_id: z.string().max(maxFilterLength).optional().describe('Id of an OAuth client'),
    path: z.string().max(maxFilterLength).optional().describe('Path below the listen path'),
    code: z
      .string()
      .regex(/^(?:\d{3}|\dxx)$/, 'must be a status, or a class of them such as 4xx')
      .optional()
      .describe('Status, or a class of them such as 4xx'),
    refusal: z.string().max(100).optional().describe('Error code of the gateway'),
    method: z.string().max(50).optional(),
    country: z
      .string()
      .regex(/^[a-zA-Z]{2}$/, 'must be a country of two letters')
      .optional()
      .describe('ISO 3166-1 code of two letters'),
    user_agent: z.string().max(maxFilterLength).optional().describe('Product name of the agent, without version'),
    errors: queryFlag.default(false).describe('Restricts the counts to failed requests'),
  }),
  returns: usagePage,
  toCsv: formatUsageCsv,
  problems,
  async handle({ actor, query: given }, services: UsageServices) {
    const { start, end, api_ids, key, keys, oauth_id, path, code, refusal, method, country, user_agent, errors } =
      given;
    if (end <= start) throw createInvalidProblem([{ path: 'end', message: 'must be after start' }]);
    const from = Math.floor((start * 1000) / minuteMs) * minuteMs;
    const to = Math.ceil((end * 1000) / minuteMs) * minuteMs;
    checkRangeLength(from, to, 'end');
    const narrowing = Object.entries({ key, keys, oauth_id, path, country, user_agent }).flatMap(([name, value]) =>
      value === undefined ? [] : [name],
    );
    if (narrowing.length > 0) rejectNarrowedActor(actor, narrowing.join(', '));
    return queryUsage(services, actor, { from, to }, given, {
      groups: [],
      apiIds: api_ids,
      keyHashes: toKeyHashes(key, keys),
      oauthId: oauth_id,
      path,
      statuses: code === undefined ? undefined : toStatuses(code),
      refusal,
      method: method?.toUpperCase(),
      country: country?.toUpperCase(),
      userAgent: user_agent,
      failed: errors,
    });
  },
});

/** Hashes that both filters allow; undefined without either. */
function toKeyHashes(key: string | undefined, keys: readonly string[] | undefined): readonly string[] | undefined {
  const listed = keys?.map(hash => hash.toLowerCase());
  if (key === undefined) return listed;
  const only = key.toLowerCase();
  return listed && !listed.includes(only) ? [] : [only];
}

const toStatuses = (code: string): readonly [number, number] => [
  Number(code.replaceAll('x', '0')),
  Number(code.replaceAll('x', '9')),
];

export const usageOperations = [countUsageByApi, countUsageOfApi, countUsage];

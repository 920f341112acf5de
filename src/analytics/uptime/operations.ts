import { z } from 'zod';
import { type FindApi, resolvePublicApiId } from '#access/api-lookup.ts';
import type { Ownership } from '#apis/owners/store.ts';
import type { Clock } from '#base/clock.ts';
import type { Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import { pageNumber, toPageRequest, unixSeconds } from '#operations/shapes.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { rejectNarrowedActor } from '../analytics-scope.ts';
import { problem } from '../problems.ts';
import { tagFilter } from '../tag-filter.ts';
import { uptimePage } from './schema.ts';
import type { UptimeStore } from './store.ts';
import { toHostUptime } from './views.ts';

interface UptimeServices {
  uptime: UptimeStore;
  settings: Settings;
  clock: Clock;
  findApi: FindApi;
  ownership: Ownership;
}

export const listUptime = operation({
  name: 'listUptime',
  surface: 'dashboard',
  method: 'GET',
  path: '/api/uptime',
  noun: 'analytics',
  permission: 'analytics:read',
  about: 'Returns results of uptime tests of upstream hosts of the caller’s organisation.',
  query: z.object({
    api_id: z.string().max(1000).optional(),
    from: unixSeconds.default(0).describe('Unix seconds, rounded down to the hour'),
    to: unixSeconds.optional().describe('Unix seconds; defaults to now'),
    tags: tagFilter
      .optional()
      .describe('Restricts the hosts to those of APIs with these tags, comma-separated, all of them'),
    state: z.enum(['up', 'down']).optional().describe('Hosts in this state at the end of the time'),
    p: pageNumber,
  }),
  returns: uptimePage,
  problems: [problem.owned_counts_only],
  async handle({ actor, query }, services: UptimeServices) {
    rejectNarrowedActor(actor, 'uptime');
    const now = services.clock.now();
    const from = query.from * 1000;
    const to = query.to === undefined ? Math.max(now, from) : query.to * 1000 + 999;
    if (to < from) throw createInvalidProblem([{ path: 'to', message: 'must not be before from' }]);
    const apiId =
      query.api_id === undefined ? undefined : await resolvePublicApiId(services.findApi, actor.orgId, query.api_id);
    const { apiIds: hiddenApis } = await services.ownership.findHidden(actor);
    const uptimeQuery = {
      orgId: actor.orgId,
      from,
      to,
      now,
      apiId,
      tags: query.tags,
      hiddenApis,
      isUp: query.state && query.state === 'up',
    };
    const page = await services.uptime.page(
      uptimeQuery,
      toPageRequest(query.p, services.settings['management.page_size']),
    );
    return { data: page.items.map(host => toHostUptime(host, from)), pages: page.pages };
  },
});

export const uptimeOperations = [listUptime];

import { z } from 'zod';
import { utcZone } from '#base/time-zone.ts';
import { operation } from '#operations/operation.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { countGateways } from './heartbeat.ts';
import { listRunningNodes, type SystemNodeServices } from './node-operations.ts';
import { problem } from './problems.ts';
import {
  type DailyStatistics,
  includeSample,
  installationOrgId,
  type StatisticsEntity,
  type StatisticsSample,
  type StatisticsStore,
  statisticsEntities,
  toDay,
  toFirstDay,
} from './statistics-store.ts';

interface StatisticsServices extends SystemNodeServices {
  statistics: StatisticsStore;
}

const day = z.string().refine(isCalendarDay, 'must be a day such as 2026-02-01');

function isCalendarDay(text: string): boolean {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  return year !== undefined && utcZone.findDay(Number(year), Number(month), Number(date)) !== undefined;
}

const dayView = z.object({
  date: z.string(),
  avg_usage: z.number(),
  min_usage: z.int(),
  max_usage: z.int(),
  avg_active_usage: z.number(),
  min_active_usage: z.int(),
  max_active_usage: z.int(),
  license_entitlement: z.int().describe('Maximum number of APIs that the operator grants; -1 for no maximum'),
  license_entitlement_active: z.int(),
});

/** Average with at most two decimals. */
const average = (total: number, samples: number) => Math.round((100 * total) / samples) / 100;

const toDayView = (row: DailyStatistics, maximum: number): z.input<typeof dayView> => ({
  date: row.day,
  avg_usage: average(row.total, row.samples),
  min_usage: row.lowest,
  max_usage: row.highest,
  avg_active_usage: average(row.active_total, row.samples),
  min_active_usage: row.active_lowest,
  max_active_usage: row.active_highest,
  license_entitlement: maximum,
  license_entitlement_active: maximum,
});

const memberNames = { apis: 'apis', dataplanes: 'dataplanes', 'dataplanes.gateways': 'dataplanes_gateways' } as const;
const noMaximum = -1;

export const getSystemStatistics = operation({
  surface: 'dashboard',
  noun: 'system',
  name: 'getSystemStatistics',
  method: 'GET',
  path: '/api/system/stats',
  permission: 'system:read',
  about:
    'Counts the APIs of the caller’s organisation, or the data planes or gateways of the installation, by day (UTC): average, minimum and maximum of hourly samples. The present day includes the time of the request.',
  query: z.object({
    start_day: day.optional().describe('First day, such as 2026-02-01; by default the first of last year'),
    end_day: day.optional().describe('Last day, inclusive; by default the present one'),
    resolution: z.enum(['day']).default('day').describe('Always day'),
    entity: z
      .enum(statisticsEntities)
      .default('apis')
      .describe('A data plane is a group of gateways with the same segments'),
  }),
  returns: z.object({
    status: z.literal('Success'),
    message: z.literal(''),
    stats: z.object({
      apis: z.array(dayView),
      dataplanes: z.array(dayView),
      dataplanes_gateways: z.array(dayView),
    }),
  }),
  problems: [problem.statistics_not_found],
  async handle({ actor, query }, services: StatisticsServices) {
    const now = services.clock.now();
    const today = toDay(now);
    const { entity, start_day: start = toFirstDay(now), end_day: end = today } = query;
    if (end < start) throw createInvalidProblem([{ path: 'end_day', message: 'must not be before start_day' }]);
    const orgId = entity === 'apis' ? actor.orgId : installationOrgId;
    const days = await services.statistics.list(orgId, entity, start, end);
    if (start <= today && today <= end) {
      const before = days.at(-1)?.day === today ? days.pop() : undefined;
      days.push(includeSample(today, before, await countNow(services, entity, actor.orgId)));
    }
    if (days.length === 0) throw problem.statistics_not_found({ detail: { start, end } });
    const maximum = entity === 'apis' ? ((await services.grants.find(actor.orgId)).max_apis ?? noMaximum) : noMaximum;
    const found = days.map(row => toDayView(row, maximum));
    const none = { apis: [], dataplanes: [], dataplanes_gateways: [] };
    return { status: 'Success' as const, message: '' as const, stats: { ...none, [memberNames[entity]]: found } };
  },
});

async function countNow(
  services: StatisticsServices,
  entity: StatisticsEntity,
  orgId: string,
): Promise<StatisticsSample> {
  if (entity === 'apis') return services.statistics.countApis(orgId);
  const { gateways, dataPlanes } = countGateways(await listRunningNodes(services));
  return entity === 'dataplanes' ? dataPlanes : gateways;
}

export const statisticsOperations = [getSystemStatistics];

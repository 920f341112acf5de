import { z } from 'zod';
import { type FindApi, resolvePublicApiId } from '#access/api-lookup.ts';
import type { Ownership } from '#apis/owners/store.ts';
import { problem as apis } from '#apis/problems.ts';
import type { Clock } from '#base/clock.ts';
import { utcZone } from '#base/time-zone.ts';
import type { Actor } from '#operations/actor.ts';
import { type EventStreams, eventStream, eventStreamType, maxStreamSeconds } from '#operations/event-streams.ts';
import { operation } from '#operations/operation.ts';
import { problem as operations } from '#operations/problems.ts';
import { findAnalyticsScope, rejectUnownedApi } from './analytics-scope.ts';
import { createLiveUsage } from './live-usage.ts';
import { logFilters } from './log-operations.ts';
import type { LogStore } from './log-store.ts';
import { createLogTail } from './log-tail.ts';
import { createTimeBuckets } from './time-buckets.ts';
import { minuteMs } from './usage-rows.ts';
import type { UsageStore } from './usage-store.ts';

interface StreamServices {
  eventStreams: EventStreams;
  logs: LogStore;
  usage: UsageStore;
  clock: Clock;
  findApi: FindApi;
  ownership: Ownership;
}

const declared = {
  surface: 'dashboard',
  noun: 'analytics',
  method: 'GET',
  produces: eventStreamType,
  returns: eventStream,
} as const;

const seconds = z.coerce
  .number()
  .int()
  .min(1)
  .max(maxStreamSeconds)
  .default(maxStreamSeconds)
  .describe('Seconds after which the stream ends; the client connects again');

/** Disables response buffering in nginx. */
const unbuffered = ['x-accel-buffering', 'no'] as const;
const lastEventId = 'last-event-id';
/** Requests of the future are those of processes whose clock is ahead. */
const clockSkewMs = 60_000;
/** Age of requests that a tail still finds: they are stored when they end. */
const maxTailAgeMs = 600_000;

export const streamLogs = operation({
  ...declared,
  name: 'streamLogs',
  path: '/api/logs/stream',
  permission: 'log:read',
  about: 'Sends single requests as server-sent events, as they are stored, without raw requests and responses.',
  query: z.object({ ...logFilters, seconds }),
  headers: { [lastEventId]: 'Id of the last event the client received: the stream continues after it' },
  problems: [operations.too_many_streams],
  async handle({ actor, query, header, requestHeader }, services: StreamServices) {
    const { logs, ownership, clock, findApi, eventStreams } = services;
    const { api_id, key, status, tags, errors } = query;
    const apiId = api_id === undefined ? undefined : await resolvePublicApiId(findApi, actor.orgId, api_id);
    const given = requestHeader(lastEventId);
    const newest = await logs.findLastId();
    const tail = createLogTail(logs, /^\d{1,15}$/.test(given ?? '') ? Math.min(Number(given), newest) : newest);
    header(...unbuffered);
    return eventStreams.open({
      actor,
      lifetimeSeconds: query.seconds,
      poll: async () =>
        tail({
          orgId: actor.orgId,
          hiddenApis: (await ownership.findHidden(actor)).apiIds,
          from: clock.now() - maxTailAgeMs,
          to: clock.now() + clockSkewMs,
          apiId,
          keyHash: key?.toLowerCase(),
          status,
          tags,
          failed: errors === 'true' || errors === '1',
        }),
    });
  },
});

/** Minutes whose counts are compared: a request counts in the minute in which it began. */
const liveMinutes = 3;

export const streamUsage = operation({
  ...declared,
  name: 'streamUsage',
  path: '/api/live',
  permission: 'analytics:read',
  about: 'Sends counts, errors and a latency histogram of each API every second, as server-sent events.',
  query: z.object({ api_id: z.string().max(1000).optional().describe('Restricts the counts to one API'), seconds }),
  problems: [operations.too_many_streams, apis.api_not_owned],
  async handle({ actor, query, header }, services: StreamServices) {
    const { clock, eventStreams } = services;
    const read = await createReader(services, actor, query.api_id);
    const next = createLiveUsage(await read(), clock.now());
    header(...unbuffered);
    return eventStreams.open({
      actor,
      lifetimeSeconds: query.seconds,
      poll: async () => [next(await read(), clock.now())],
    });
  },
});

/** Reads the counts of the last minutes that the caller may see, by API and minute. */
async function createReader(services: StreamServices, actor: Actor, reference: string | undefined) {
  const { usage, clock, ownership, findApi } = services;
  const apiId = reference === undefined ? undefined : await resolvePublicApiId(findApi, actor.orgId, reference);
  return async () => {
    const scope = await findAnalyticsScope(ownership, actor);
    if (apiId !== undefined) rejectUnownedApi(scope, apiId);
    const now = clock.now();
    const span = { from: now - (now % minuteMs) - (liveMinutes - 1) * minuteMs, to: now + clockSkewMs };
    const time = createTimeBuckets('minute', utcZone, span);
    const order = { order: 'hits', ascending: false, percentiles: true } as const;
    return usage.listSums({ ...scope, ...span, ...order, orgId: actor.orgId, apiId, groups: ['api_id'], time });
  };
}

export const streamOperations = [streamLogs, streamUsage];

import { z } from 'zod';
import { type FindApi, resolvePublicApiId } from '#access/api-lookup.ts';
import { problem as apis } from '#apis/problems.ts';
import type { Clock } from '#base/clock.ts';
import type { Vault } from '#base/vault.ts';
import type { Actor } from '#operations/actor.ts';
import {
  type EventStreams,
  eventStream,
  eventStreamType,
  maxStreamSeconds,
  type ServerEvent,
} from '#operations/event-streams.ts';
import { operation } from '#operations/operation.ts';
import { problem as operations } from '#operations/problems.ts';
import { findAnalyticsScope, rejectNarrowedActor, rejectUnownedApi } from './analytics-scope.ts';
import { findKeyHashes, type KeyFilterServices } from './key-filter.ts';
import { clockSkewMs, type LiveReader } from './live-reader.ts';
import { createLiveUsage } from './live-usage.ts';
import { createLogIds } from './log-ids.ts';
import { logFilters } from './log-operations.ts';
import { createLogPositions } from './log-position.ts';
import type { LogStore } from './log-store.ts';
import { createLogTail } from './log-tail.ts';
import { problem } from './problems.ts';
import { usageQueryMembers } from './usage-query.ts';

interface StreamServices extends KeyFilterServices {
  eventStreams: EventStreams;
  logs: LogStore;
  readLiveCounts: LiveReader;
  vault: Vault;
  clock: Clock;
  findApi: FindApi;
}

const declared = {
  surface: 'dashboard',
  noun: 'analytics',
  method: 'GET',
  produces: eventStreamType,
  returns: eventStream,
} as const;

const lifetimeSeconds = z.coerce
  .number()
  .int()
  .min(1)
  .max(maxStreamSeconds)
  .default(maxStreamSeconds)
  .describe('Seconds after which the stream ends; the client connects again');

/** Disables response buffering in nginx. */
const unbuffered = ['x-accel-buffering', 'no'] as const;
const lastEventId = 'last-event-id';
/** Age of requests that a tail still finds: they are stored when they end. */
const maxTailAgeMs = 600_000;

export const streamLogs = operation({
  ...declared,
  name: 'streamLogs',
  path: '/api/logs/stream',
  permission: 'log:read',
  about:
    'Sends single requests as server-sent events, as they are stored, without raw requests and responses. An event keys_cut says that more than 100 keys match: the stream has the requests of the newest 100.',
  query: z.object({ ...logFilters, seconds: lifetimeSeconds }),
  headers: { [lastEventId]: 'Id of the last event the client received: the stream continues after it' },
  problems: [operations.too_many_streams],
  async handle({ actor, query, header, requestHeader, reauthenticate }, services: StreamServices) {
    const { logs, ownership, clock, findApi, eventStreams, vault } = services;
    const { api_id, key, status, tags, errors } = query;
    const apiId = api_id === undefined ? undefined : await resolvePublicApiId(findApi, actor.orgId, api_id);
    const { keyHashes, isCut } = await findKeyHashes(services, actor, key);
    const positions = createLogPositions(vault, actor.orgId);
    const lastId = positions.open(requestHeader(lastEventId));
    const tail = await createLogTail({
      logs,
      lastId,
      sealId: positions.seal,
      formatId: createLogIds(vault, actor.orgId).format,
    });
    const notices: ServerEvent[] = isCut ? [{ name: 'keys_cut', data: {} }] : [];
    header(...unbuffered);
    return eventStreams.open({
      actor,
      reauthenticate,
      lifetimeSeconds: query.seconds,
      poll: async caller => [
        ...notices.splice(0),
        ...(await tail({
          orgId: actor.orgId,
          hiddenApis: (await ownership.findHidden(caller)).apiIds,
          from: clock.now() - maxTailAgeMs,
          to: clock.now() + clockSkewMs,
          apiId,
          keyHashes,
          status,
          tags,
          failed: errors,
          graphqlType: query.graphql_operation_type,
          graphqlName: query.graphql_operation_name,
          version: query.api_version,
        })),
      ],
    });
  },
});

export const streamUsage = operation({
  ...declared,
  name: 'streamUsage',
  path: '/api/live',
  permission: 'analytics:read',
  about: 'Sends counts, errors and a latency histogram of each API every second, as server-sent events.',
  query: z.object({
    api_id: usageQueryMembers.api_id,
    api_version: usageQueryMembers.api_version,
    tags: usageQueryMembers.tags,
    seconds: lifetimeSeconds,
  }),
  problems: [operations.too_many_streams, problem.reads_exceeded, apis.api_not_owned, problem.owned_counts_only],
  async handle({ actor, query, header, reauthenticate }, services: StreamServices) {
    const { findApi, eventStreams, ownership, readLiveCounts } = services;
    const { api_id, api_version: version, tags = [] } = query;
    const apiId = api_id === undefined ? undefined : await resolvePublicApiId(findApi, actor.orgId, api_id);
    async function read(caller: Actor) {
      if (tags.length > 0) rejectNarrowedActor(caller, 'tags');
      const scope = await findAnalyticsScope(ownership, caller);
      if (apiId !== undefined) rejectUnownedApi(scope, apiId);
      return readLiveCounts({ ...scope, orgId: actor.orgId, apiId, version, tags });
    }
    const next = createLiveUsage(await read(actor));
    header(...unbuffered);
    return eventStreams.open({
      actor,
      reauthenticate,
      lifetimeSeconds: query.seconds,
      poll: async caller => [next(await read(caller))].filter(event => event !== undefined),
    });
  },
});

export const streamOperations = [streamLogs, streamUsage];

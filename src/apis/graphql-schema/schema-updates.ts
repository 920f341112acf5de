import { formatIsoTime } from '#base/clock.ts';
import type { OutboundRequest } from '#base/http-client/client.ts';
import { type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import type { Log } from '#base/log.ts';
import { Problem } from '#base/problems.ts';
import { every } from '#base/repeat.ts';
import type { Actor } from '#operations/actor.ts';
import { createLease } from '#storage/lease.ts';
import type { Meta } from '#storage/meta.ts';
import { type ApiServices, changeApi, checkDefinition } from '../api/changes.ts';
import type { StoredApi } from '../api/schema.ts';
import { refreshSubgraphs } from './refresh-subgraphs.ts';
import { readSchemaInterval } from './schema-interval.ts';
import { readGivenSchema } from './schema-source.ts';
import { createUpdateResults, type UpdateResult } from './schema-update-results.ts';
import type { SubgraphServices } from './subgraph-sources.ts';

export interface SchemaUpdatesOptions extends ApiServices, SubgraphServices {
  readonly meta: Meta;
  readonly log: Log;
  readonly nodeId: string;
}

const leaseName = 'graphql.schema_updates.lease';
/** A round ends after this many polls; what is due then is first in the next one. */
const maxRoundPolls = 2;
/** Organisations are served side by side: slow servers of one delay its own APIs. */
const maxConcurrentOrgs = 10;
const maxReasonLength = 500;

/**
 * Updates of the schemas of GraphQL APIs by their `schema_updates.interval_seconds`. Of several processes on a database
 * the one with the lease does it; another one takes over when it ends.
 */
export function startSchemaUpdates(options: SchemaUpdatesOptions): { close(): Promise<void> } {
  const { apis, clock, settings, log, outbound } = options;
  const pollMs = settings['graphql.schema_update_poll_seconds'] * 1000;
  // Configuration files are read only.
  if (pollMs === 0 || settings.from !== '') return { close: async () => undefined };
  const lease = createLease(options.records, leaseName, options.nodeId);
  const leaseMs = pollMs * (maxRoundPolls + 2) + settings['apis.fetch_timeout_ms'];
  const results = createUpdateResults(options.meta);
  const stopping = new AbortController();
  const { signal } = stopping;
  const abortable = { ...outbound, fetch: (request: OutboundRequest) => outbound.fetch({ ...request, signal }) };
  const update = createUpdate({ ...options, outbound: abortable });
  const onError = (error: Error) => log.warn({ reason: error.message }, 'schema updates failed, retrying');

  async function round(): Promise<void> {
    const startedAtMs = clock.now();
    if (!(await lease.take(startedAtMs, leaseMs))) return;
    const mentioning = await apis.findMentioningAnywhere('"schema_updates"');
    const listed = mentioning.filter(({ definition }) => readSchemaInterval(definition as JsonObject) > 0);
    const known = await results.read();
    const queues = listDue(listed, known, startedAtMs);
    if (queues.length === 0) return;
    const isOver = () => signal.aborted || clock.now() - startedAtMs > pollMs * maxRoundPolls;
    const updated: Record<string, UpdateResult> = {};
    async function work(): Promise<void> {
      for (let queue = queues.shift(); queue; queue = queues.shift())
        for (const api of queue) {
          if (isOver()) return;
          const result = await update(api, known[api.id]);
          if (!signal.aborted) updated[api.id] = result;
        }
    }
    await Promise.all(Array.from({ length: maxConcurrentOrgs }, work));
    await results.write(
      updated,
      listed.map(({ id }) => id),
    );
  }

  const loop = every(pollMs, round, { onError, runsAtStart: true, unref: true });
  return {
    async close() {
      stopping.abort();
      await loop.close();
      await lease.release().catch(onError);
    },
  };
}

/** APIs whose update is due, those that wait longest first, by organisation. */
function listDue(
  apis: readonly StoredApi[],
  known: Readonly<Record<string, UpdateResult>>,
  nowMs: number,
): StoredApi[][] {
  const dueAt = ({ id, definition }: StoredApi) =>
    (known[id] ? Date.parse(known[id].checked_at) : 0) + readSchemaInterval(definition as JsonObject) * 1000;
  const due = apis.filter(it => dueAt(it) <= nowMs).sort((one, other) => dueAt(one) - dueAt(other));
  return [...Map.groupBy(due, ({ org_id }) => org_id).values()];
}

/** A failure is logged when its reason is another one than that of the update before. */
function createUpdate(options: SchemaUpdatesOptions) {
  const { clock, log } = options;
  return async (api: StoredApi, before: UpdateResult | undefined): Promise<UpdateResult> => {
    const checked_at = formatIsoTime(clock.now());
    const about = { api: api.api_id, org: api.org_id };
    try {
      if (await updateStoredSchema(options, api)) log.info(about, 'schema updated');
      return { checked_at };
    } catch (error) {
      const isExpected = error instanceof Problem;
      const reason = isExpected ? error.message.slice(0, maxReasonLength) : 'Internal error';
      if (before?.error !== reason)
        log[isExpected ? 'warn' : 'error']({ ...about, ...(isExpected ? { reason } : { err: error }) }, notUpdated);
      return { checked_at, error: reason };
    }
  };
}

const notUpdated = 'schema not updated';

/** Updates the schema of an API, or the subgraphs of a supergraph; true where the definition was changed. */
async function updateStoredSchema(services: ApiServices & SubgraphServices, api: StoredApi): Promise<boolean> {
  const actor: Actor = {
    surface: 'admin',
    id: '',
    name: 'schema updates',
    orgId: api.org_id,
    permissions: { IsAdmin: 'admin' },
  };
  const definition = api.definition as JsonObject;
  const graphql = objectOrEmpty(definition.graphql);
  if (graphql.execution_mode === 'supergraph')
    return (await refreshSubgraphs(services, api, { actor, hiddenIds: [], replacesMergedSdl: false })).changed;
  const schema = await readGivenSchema({}, definition, api.org_id, services);
  if (schema === graphql.schema) return false;
  const last_schema_update = formatIsoTime(services.clock.now());
  await changeApi(services, { actor, orgId: api.org_id, ref: api.id }, before => {
    const current = before.definition as JsonObject;
    const block = objectOrEmpty(current.graphql);
    const next = { ...current, graphql: { ...block, schema, last_schema_update } };
    return { ...checkDefinition('classic', next, services), wrapper: before.wrapper };
  });
  return true;
}

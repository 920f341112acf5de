import { z } from 'zod';
import { type Clock, formatIsoTime, zeroTime } from '#base/clock.ts';
import { operation } from '#operations/operation.ts';
import type { GrantStore } from '#people/organisations/grant-store.ts';
import type { Records } from '#storage/records.ts';
import {
  type CertificateReport,
  compareNodes,
  isLostNode,
  type KeySetReport,
  type NodeLoad,
  type NodeStore,
  type SystemNode,
} from './node-store.ts';
import { canSeeNodes } from './node-visibility.ts';
import { problem } from './problems.ts';

/** A durable queue of the installation. */
export interface SystemQueue {
  readonly name: 'webhooks' | 'portal_mails';
  readonly waiting: number;
  /** Creation of the entry that waits longest; undefined for an empty queue. */
  readonly oldestAtMs: number | undefined;
}

export interface SystemNodeServices {
  nodes: NodeStore;
  /** Queues of all organisations. The modules on the right have them. */
  readQueues: () => Promise<readonly SystemQueue[]>;
  grants: GrantStore;
  clock: Clock;
  records: Records;
  /** State of this process. */
  describeNode: () => SystemNode;
}

const declared = { surface: 'dashboard', noun: 'system', method: 'GET', permission: 'system:read' } as const;

export const nodeView = z.object({
  id: z.string(),
  hostname: z.string(),
  state: z
    .enum(['running', 'lost'])
    .describe('`lost`: without a heartbeat for a minute, killed or without its database; listed for an hour'),
  role: z.string().describe('Setting `role` of the process'),
  version: z.string(),
  node_version: z.string().describe('Version of Node'),
  pid: z.int(),
  started_at: z.string(),
  heartbeat_at: z
    .string()
    .describe('Time of the last heartbeat; processes send one every 20 seconds, and after each load of configuration'),
  resident_bytes: z.int().describe('Resident memory of the process'),
  threads: z.int().describe('Traffic threads; 0 for a process without traffic'),
  threads_running: z.int(),
  thread_restarts: z.int(),
  revision: z.int().describe('Revision of the configuration that every thread serves, or a later one'),
  last_reload: z.string().describe('Time at which that revision was loaded'),
  segments: z.array(z.string()).describe('Tags of `gateway.segments`'),
  requests_per_second: z.number().optional().describe('Requests to APIs, mean of the last minute'),
  event_loop_delay_ms: z
    .number()
    .optional()
    .describe('Longest time in the last minute for which a thread of the process did not run its event loop'),
  records_dropped: z
    .int()
    .optional()
    .describe('Requests since the start of the process that analytics did not count or store, for lack of room'),
  records_waiting: z
    .int()
    .optional()
    .describe('Counts and logged requests of analytics that wait for their next write to the database'),
  key_sets: z
    .array(
      z.object({
        kind: z.enum(['url', 'issuer']).describe('URL of the key set, or issuer whose discovery document names it'),
        source: z.string().describe('Without credentials and query'),
        keys: z.int().describe('Usable keys, in the thread with the fewest'),
        loaded_at: z.string().optional().describe('Time of the last fetch; absent where none succeeded'),
        error: z.string().optional().describe('Reason of the last failed fetch; absent after a success'),
      }),
    )
    .optional()
    .describe('JWKS that requests used, at most 100, failed ones first; read every 2 seconds'),
  certificates: z
    .array(
      z.object({
        kind: z.enum(['store', 'file']).describe('Certificate store, or file of `gateway.tls.certificate_file`'),
        source: z.string().describe('Id of the certificate, or path of the file'),
        state: z
          .enum(['loaded', 'expired', 'failed'])
          .describe(
            '`failed`: absent from the store, or changed files that cannot be used; an earlier one stays in use',
          ),
        subject: z.string().optional().describe('Common name'),
        not_after: z.string().optional().describe('End of its validity; absent for a public key'),
        apis: z.int().describe('Active APIs that name it'),
        error: z.string().optional().describe('Reason of the failure'),
      }),
    )
    .optional()
    .describe('Certificates of APIs and of the TLS port, at most 100: failed ones first, then by the end of validity'),
  clock_skew_ms: z
    .int()
    .optional()
    .describe('Clock of the process minus that of the database; it is exact to half of the latency of the database'),
  stores: z
    .array(
      z.object({
        name: z.enum(['database', 'redis']),
        state: z.enum(['available', 'unavailable']),
        latency_ms: z.number().optional().describe('Duration of the smallest request; absent while unavailable'),
      }),
    )
    .optional()
    .describe('Database, and Redis where it is configured, as this process reaches them; read every 10 seconds'),
});
type NodeView = z.output<typeof nodeView>;

const toQueueView = ({ name, waiting, oldestAtMs }: SystemQueue) => ({
  name,
  waiting,
  ...(oldestAtMs !== undefined && { oldest_at: formatIsoTime(oldestAtMs) }),
});

/** Members that exist for clients of licensed products: nodes are not limited. */
const unlimited = -1;

const toKeySetView = ({ kind, source, keys, loadedAtMs, failure }: KeySetReport) => ({
  kind,
  source,
  keys,
  ...(loadedAtMs > 0 && { loaded_at: formatIsoTime(loadedAtMs) }),
  ...(failure !== '' && { error: failure }),
});

const toCertificateView = (report: CertificateReport, nowMs: number) => {
  const { kind, source, subject, notAfterMs, apis, failure } = report;
  const isExpired = notAfterMs > 0 && notAfterMs <= nowMs;
  return {
    kind,
    source,
    state: failure !== '' ? ('failed' as const) : isExpired ? ('expired' as const) : ('loaded' as const),
    ...(subject !== '' && { subject }),
    ...(notAfterMs > 0 && { not_after: formatIsoTime(notAfterMs) }),
    apis,
    ...(failure !== '' && { error: failure }),
  };
};

const toLoadView = (
  { requestsPerSecond, eventLoopDelayMs, clockSkewMs, stores, ...rest }: NodeLoad,
  nowMs: number,
) => ({
  requests_per_second: roundTo(requestsPerSecond, 100),
  event_loop_delay_ms: roundTo(eventLoopDelayMs, 10),
  ...(rest.recordsDropped !== undefined && { records_dropped: rest.recordsDropped }),
  ...(rest.recordsWaiting !== undefined && { records_waiting: rest.recordsWaiting }),
  ...(rest.keySets && { key_sets: rest.keySets.map(toKeySetView) }),
  ...(rest.certificates && { certificates: rest.certificates.map(it => toCertificateView(it, nowMs)) }),
  ...(clockSkewMs !== undefined && { clock_skew_ms: Math.round(clockSkewMs) }),
  stores: stores.map(({ name, latencyMs }) =>
    latencyMs === undefined
      ? { name, state: 'unavailable' as const }
      : { name, state: 'available' as const, latency_ms: roundTo(latencyMs, 100) },
  ),
});

const roundTo = (value: number, parts: number): number => Math.round(value * parts) / parts;

const toNodeView = ({ traffic, load, ...node }: SystemNode, nowMs: number): NodeView => ({
  id: node.id,
  hostname: node.hostname,
  state: isLostNode(node, nowMs) ? 'lost' : 'running',
  role: node.role,
  version: node.version,
  node_version: node.nodeVersion,
  pid: node.pid,
  started_at: formatIsoTime(node.startedAtMs),
  heartbeat_at: formatIsoTime(node.heartbeatAtMs),
  resident_bytes: node.residentBytes,
  threads: traffic?.threads ?? 0,
  threads_running: traffic?.running ?? 0,
  thread_restarts: traffic?.restarts ?? 0,
  revision: traffic?.revision ?? 0,
  last_reload: traffic && traffic.loadedAtMs > 0 ? formatIsoTime(traffic.loadedAtMs) : zeroTime,
  segments: [...node.segments],
  ...(load && toLoadView(load, nowMs)),
});

/** The row of this process is replaced by its present state. */
function withOwn(nodes: readonly SystemNode[], own: SystemNode): SystemNode[] {
  return [own, ...nodes.filter(it => it.id !== own.id || it.hostname !== own.hostname)];
}

/** Processes that run. */
export const listRunningNodes = async ({ nodes, clock, describeNode }: NodeListServices): Promise<SystemNode[]> =>
  withOwn(await nodes.list(clock.now()), describeNode());

/** Processes that run or are lost, by host name. */
export async function listNodes({ nodes, clock, describeNode }: NodeListServices): Promise<NodeView[]> {
  const now = clock.now();
  const found = withOwn(await nodes.listWithLost(now), describeNode());
  return found.sort(compareNodes).map(node => toNodeView(node, now));
}

export type NodeListServices = Pick<SystemNodeServices, 'nodes' | 'clock' | 'describeNode'>;

export const listSystemNodes = operation({
  ...declared,
  name: 'listSystemNodes',
  path: '/api/system/nodes',
  about:
    'Lists the processes of the installation, those that were lost in the last hour included, with their threads, memory, load, stores, clock and the configuration they serve. Users of organisations other than the operator’s get the number alone.',
  returns: z.object({
    data: z.object({
      nodes: z.array(nodeView),
      active_node_count: z.int().describe('Processes that run'),
      nodes_available: z.int().describe('Always -1: unlimited'),
      nodes_remaining: z.int().describe('Always -1: unlimited'),
      valid_until: z.string().describe('Always 0001-01-01T00:00:00Z: without end'),
      revision: z.int().optional().describe('Newest revision of the configuration'),
      queues: z
        .array(
          z.object({
            name: z.enum(['webhooks', 'portal_mails']),
            waiting: z.int().describe('Deliveries or mails that wait for their next attempt'),
            oldest_at: z.string().optional().describe('Creation of the one that waits longest'),
          }),
        )
        .optional()
        .describe('Durable queues of the installation, of all organisations'),
    }),
  }),
  async handle({ actor }, services: SystemNodeServices) {
    const nodes = await listNodes(services);
    const active_node_count = nodes.filter(({ state }) => state === 'running').length;
    const rest = { active_node_count, nodes_available: unlimited, nodes_remaining: unlimited, valid_until: zeroTime };
    if (!(await canSeeNodes(services.grants, actor))) return { data: { nodes: [], ...rest } };
    const queues = (await services.readQueues()).map(toQueueView);
    return { data: { nodes, ...rest, revision: await services.records.revision(), queues } };
  },
});

export const getSystemNode = operation({
  ...declared,
  name: 'getSystemNode',
  path: '/api/system/node/{nodeId}/{hostname}',
  about: 'Reads one process of the installation, with its segments. For users of the operator’s organisation.',
  params: z.object({ nodeId: z.string(), hostname: z.string() }),
  returns: z.object({
    data: nodeView.extend({
      db_app_conf_options: z.object({ node_is_segmented: z.boolean(), tags: z.array(z.string()) }),
    }),
  }),
  problems: [problem.node_not_found],
  async handle({ actor, params: { nodeId, hostname } }, services: SystemNodeServices) {
    const found = (await canSeeNodes(services.grants, actor)) ? await listNodes(services) : [];
    const node = found.find(it => it.id === nodeId && it.hostname === hostname);
    if (!node) throw problem.node_not_found();
    const tags = [...node.segments];
    return { data: { ...node, db_app_conf_options: { node_is_segmented: tags.length > 0, tags } } };
  },
});

export const nodeOperations = [listSystemNodes, getSystemNode];

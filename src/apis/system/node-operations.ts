import { z } from 'zod';
import { type Clock, formatIsoTime, zeroTime } from '#base/clock.ts';
import { operation } from '#operations/operation.ts';
import type { GrantStore } from '#people/organisations/grant-store.ts';
import type { Records } from '#storage/records.ts';
import { compareNodes, isLostNode, type NodeStore, type SystemNode } from './node-store.ts';
import { canSeeNodes } from './node-visibility.ts';
import { problem } from './problems.ts';

export interface SystemNodeServices {
  nodes: NodeStore;
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
});
type NodeView = z.output<typeof nodeView>;

/** Members that exist for clients of licensed products: nodes are not limited. */
const unlimited = -1;

const toNodeView = ({ traffic, ...node }: SystemNode, nowMs: number): NodeView => ({
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
    'Lists the processes of the installation, those that were lost in the last hour included, with their threads, memory and the configuration they serve. Users of organisations other than the operator’s get the number alone.',
  returns: z.object({
    data: z.object({
      nodes: z.array(nodeView),
      active_node_count: z.int().describe('Processes that run'),
      nodes_available: z.int().describe('Always -1: unlimited'),
      nodes_remaining: z.int().describe('Always -1: unlimited'),
      valid_until: z.string().describe('Always 0001-01-01T00:00:00Z: without end'),
      revision: z.int().optional().describe('Newest revision of the configuration'),
    }),
  }),
  async handle({ actor }, services: SystemNodeServices) {
    const nodes = await listNodes(services);
    const active_node_count = nodes.filter(({ state }) => state === 'running').length;
    const rest = { active_node_count, nodes_available: unlimited, nodes_remaining: unlimited, valid_until: zeroTime };
    if (!(await canSeeNodes(services.grants, actor))) return { data: { nodes: [], ...rest } };
    return { data: { nodes, ...rest, revision: await services.records.revision() } };
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

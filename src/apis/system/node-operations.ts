import { z } from 'zod';
import { type Clock, formatIsoTime, zeroTime } from '#base/clock.ts';
import type { Actor } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import type { GrantStore } from '#people/organisations/grant-store.ts';
import type { Records } from '#storage/records.ts';
import type { NodeStore, SystemNode } from './node-store.ts';
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

const nodeView = z.object({
  id: z.string(),
  hostname: z.string(),
  role: z.string().describe('Setting `role` of the process'),
  version: z.string(),
  node_version: z.string().describe('Version of Node'),
  pid: z.int(),
  started_at: z.string(),
  heartbeat_at: z.string().describe('Time of the last heartbeat; processes send one every 20 seconds'),
  resident_bytes: z.int().describe('Resident memory of the process'),
  threads: z.int().describe('Traffic threads; 0 for a process without traffic'),
  threads_running: z.int(),
  thread_restarts: z.int(),
  revision: z.int().describe('Revision of the configuration that every thread serves, or a later one'),
  last_reload: z.string().describe('Time at which that revision was loaded'),
  segments: z.array(z.string()).describe('Tags of `gateway.segments`'),
});
type NodeView = z.input<typeof nodeView>;

/** Members that exist for clients of licensed products: nodes are not limited. */
const unlimited = -1;

const toNodeView = ({ traffic, ...node }: SystemNode): NodeView => ({
  id: node.id,
  hostname: node.hostname,
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

/** Running processes; the row of this one is replaced by its present state. */
export async function listNodes({ nodes, clock, describeNode }: Omit<SystemNodeServices, 'grants' | 'records'>) {
  const own = describeNode();
  const others = (await nodes.list(clock.now())).filter(it => it.id !== own.id || it.hostname !== own.hostname);
  return [own, ...others];
}

/** Host names, memory and revisions are facts about the operator's installation: tenants get the number alone. */
const canSeeNodes = ({ grants }: SystemNodeServices, actor: Actor) => grants.isOperator(actor.orgId);

export const listSystemNodes = operation({
  ...declared,
  name: 'listSystemNodes',
  path: '/api/system/nodes',
  about:
    'Lists the processes of the installation with their threads, memory and the configuration they serve. Users of organisations other than the operator’s get the number alone.',
  returns: z.object({
    data: z.object({
      nodes: z.array(nodeView),
      active_node_count: z.int(),
      nodes_available: z.int().describe('Always -1: unlimited'),
      nodes_remaining: z.int().describe('Always -1: unlimited'),
      valid_until: z.string().describe('Always 0001-01-01T00:00:00Z: without end'),
      revision: z.int().optional().describe('Newest revision of the configuration'),
    }),
  }),
  async handle({ actor }, services: SystemNodeServices) {
    const found = await listNodes(services);
    const counts = { active_node_count: found.length, nodes_available: unlimited, nodes_remaining: unlimited };
    const rest = { ...counts, valid_until: zeroTime };
    if (!(await canSeeNodes(services, actor))) return { data: { nodes: [], ...rest } };
    const nodes = found.map(toNodeView).sort((a, b) => compare(a.hostname, b.hostname) || compare(a.id, b.id));
    return { data: { nodes, ...rest, revision: await services.records.revision() } };
  },
});

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

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
    const found = (await canSeeNodes(services, actor)) ? await listNodes(services) : [];
    const node = found.find(it => it.id === nodeId && it.hostname === hostname);
    if (!node) throw problem.node_not_found();
    const tags = [...node.segments];
    return { data: { ...toNodeView(node), db_app_conf_options: { node_is_segmented: tags.length > 0, tags } } };
  },
});

export const nodeOperations = [listSystemNodes, getSystemNode];

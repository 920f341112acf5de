import { StatusPill } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { formatBytes, formatNumber } from '../../kit/format.ts';
import { TimeText } from '../../kit/time-text.tsx';
import { texts } from '../../texts/texts.ts';

const own = texts.system;
type NodeItem = ResultOf<'GET /api/system/nodes'>['data']['nodes'][number];

/** State of a process: lost, without traffic, or how far its configuration is behind. */
function NodePill({ node: { state, threads, revision }, newest }: { node: NodeItem; newest: number }) {
  if (state === 'lost') return <StatusPill tone="danger">{own.lost}</StatusPill>;
  if (threads === 0) return <StatusPill tone="neutral">{own.noTraffic}</StatusPill>;
  if (revision < newest) return <StatusPill tone="warning">{own.behind(formatNumber(newest - revision))}</StatusPill>;
  return <StatusPill tone="success">{own.inStep}</StatusPill>;
}

const createColumns = (newest: number): readonly Column<NodeItem>[] => [
  {
    id: 'host',
    title: own.columns.host,
    cell: ({ hostname, pid }) => (
      <span className="font-medium break-all">
        {hostname} <span className="font-normal text-dim">({pid})</span>
      </span>
    ),
  },
  { id: 'state', title: own.columns.state, cell: node => <NodePill node={node} newest={newest} /> },
  {
    id: 'role',
    title: own.columns.role,
    cell: ({ role, segments }) => [role, ...segments].join(', '),
  },
  {
    id: 'version',
    title: own.columns.version,
    cell: ({ version, node_version }) => <span title={`Node ${node_version}`}>{version}</span>,
  },
  { id: 'started', title: own.columns.started, cell: ({ started_at }) => <TimeText time={started_at} /> },
  {
    id: 'revision',
    title: own.columns.revision,
    align: 'right',
    cell: ({ revision, threads }) => (threads === 0 ? '–' : formatNumber(revision)),
  },
  {
    id: 'threads',
    title: own.columns.threads,
    align: 'right',
    cell: ({ threads, threads_running, thread_restarts }) =>
      threads === 0
        ? '–'
        : [own.threadsOf(threads_running, threads), thread_restarts > 0 && own.restarts(formatNumber(thread_restarts))]
            .filter(Boolean)
            .join(', '),
  },
  {
    id: 'memory',
    title: own.columns.memory,
    align: 'right',
    cell: ({ resident_bytes }) => formatBytes(resident_bytes),
  },
  { id: 'heartbeat', title: own.columns.heartbeat, cell: ({ heartbeat_at }) => <TimeText time={heartbeat_at} /> },
];

export const NodeTable = ({ nodes, newest }: { nodes: readonly NodeItem[]; newest: number }) => (
  <DataTable
    label={own.list}
    rows={nodes}
    columns={createColumns(newest)}
    idOf={({ id, hostname }) => `${id} ${hostname}`}
    nameOf={({ hostname }) => hostname}
  />
);

import { StatusPill } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { formatBytes, formatMs, formatNumber } from '../../kit/format.ts';
import { TimeText } from '../../kit/time-text.tsx';
import { systemTexts } from '../../texts/en/system.ts';

const own = systemTexts;
type NodeItem = ResultOf<'GET /api/system/nodes'>['data']['nodes'][number];

/** State of a process: lost, without traffic, or how far its configuration is behind. */
function NodePill({ node: { state, threads, revision }, newest }: { node: NodeItem; newest: number }) {
  if (state === 'lost') return <StatusPill tone="danger">{own.lost}</StatusPill>;
  if (threads === 0) return <StatusPill tone="neutral">{own.noTraffic}</StatusPill>;
  if (revision < newest) return <StatusPill tone="warning">{own.behind(formatNumber(newest - revision))}</StatusPill>;
  return <StatusPill tone="success">{own.inStep}</StatusPill>;
}

/** Skew from which the clock of a process stands out: heartbeats and time limits of keys depend on it. */
const maxUsualSkewMs = 1000;
const absent = '–';

/** Load, stores and clock; the last figures of a lost process say nothing of its present. */
const loadColumns: readonly Column<NodeItem>[] = [
  {
    id: 'requests',
    title: own.columns.requests,
    align: 'right',
    cell: ({ state, threads, requests_per_second: rate }) =>
      state === 'lost' || threads === 0 || rate === undefined ? (
        absent
      ) : (
        <span title={own.requestsTitle}>{formatNumber(rate, rate < 10 ? 1 : 0)}</span>
      ),
  },
  {
    id: 'delay',
    title: own.columns.delay,
    align: 'right',
    cell: ({ state, event_loop_delay_ms: delay }) =>
      state === 'lost' || delay === undefined ? absent : <span title={own.delayTitle}>{formatMs(delay)}</span>,
  },
  { id: 'stores', title: own.columns.stores, cell: node => <StoreList node={node} /> },
  {
    id: 'clock',
    title: own.columns.clock,
    align: 'right',
    cell: ({ state, clock_skew_ms: skew }) => {
      if (state === 'lost' || skew === undefined) return absent;
      const text = `${skew < 0 ? '−' : ''}${formatMs(Math.abs(skew))}`;
      if (Math.abs(skew) > maxUsualSkewMs) return <StatusPill tone="warning">{text}</StatusPill>;
      return <span title={own.clockTitle}>{text}</span>;
    },
  },
];

function StoreList({ node: { state, stores = [] } }: { node: NodeItem }) {
  if (state === 'lost' || stores.length === 0) return absent;
  return (
    <ul>
      {stores.map(({ name, latency_ms: latency }) => (
        <li key={name} className="whitespace-nowrap">
          {own.storeNames[name]}{' '}
          {latency === undefined ? <StatusPill tone="danger">{own.storeUnavailable}</StatusPill> : formatMs(latency)}
        </li>
      ))}
    </ul>
  );
}

const createColumns = (newest: number): readonly Column<NodeItem>[] => [
  {
    id: 'host',
    title: own.columns.host,
    cell: ({ hostname, pid }) => (
      <span className="font-medium wrap-break-word">
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
  ...loadColumns,
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

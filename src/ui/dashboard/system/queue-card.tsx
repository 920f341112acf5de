import { StatusPill } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { formatNumber } from '../../kit/format.ts';
import { TimeText } from '../../kit/time-text.tsx';
import { systemTexts } from '../../texts/en/system.ts';

const own = systemTexts;
type NodeList = ResultOf<'GET /api/system/nodes'>['data'];

interface QueueItem {
  readonly name: string;
  readonly waiting: number;
  readonly oldestAt?: string | undefined;
  readonly dropped?: number | undefined;
}

/** Durable queues of the installation, and the analytics queue of each process that runs. */
function listQueues({ queues = [], nodes }: NodeList): QueueItem[] {
  return [
    ...queues.map(({ name, waiting, oldest_at }) => ({ name: own.queueNames[name], waiting, oldestAt: oldest_at })),
    ...nodes.flatMap(({ state, hostname, pid, records_waiting: waiting, records_dropped: dropped }) =>
      state === 'lost' || waiting === undefined ? [] : [{ name: own.analyticsQueue(hostname, pid), waiting, dropped }],
    ),
  ];
}

const absent = '–';

const columns: readonly Column<QueueItem>[] = [
  { id: 'name', title: own.queueColumns.name, cell: ({ name }) => <span className="break-all">{name}</span> },
  {
    id: 'waiting',
    title: own.queueColumns.waiting,
    align: 'right',
    cell: ({ waiting }) => formatNumber(waiting),
  },
  {
    id: 'oldest',
    title: own.queueColumns.oldest,
    cell: ({ oldestAt }) => (oldestAt === undefined ? absent : <TimeText time={oldestAt} />),
  },
  {
    id: 'dropped',
    title: own.queueColumns.dropped,
    align: 'right',
    cell: ({ dropped }) => {
      if (dropped === undefined) return absent;
      return dropped > 0 ? <StatusPill tone="warning">{formatNumber(dropped)}</StatusPill> : formatNumber(dropped);
    },
  },
];

export const QueueCard = ({ data }: { data: NodeList }) => (
  <Card title={own.queues}>
    <DataTable
      label={own.queues}
      rows={listQueues(data)}
      columns={columns}
      idOf={({ name }) => name}
      nameOf={({ name }) => name}
    />
  </Card>
);

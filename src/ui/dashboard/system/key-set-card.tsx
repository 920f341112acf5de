import { StatusPill } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { formatNumber } from '../../kit/format.ts';
import { TimeText } from '../../kit/time-text.tsx';
import { systemTexts } from '../../texts/en/system.ts';

const own = systemTexts;
type NodeItem = ResultOf<'GET /api/system/nodes'>['data']['nodes'][number];
type KeySetItem = NonNullable<NodeItem['key_sets']>[number] & { readonly host: string; readonly id: string };

const listKeySets = (nodes: readonly NodeItem[]): KeySetItem[] =>
  nodes.flatMap(({ state, id, hostname, pid, key_sets = [] }) =>
    state === 'lost'
      ? []
      : key_sets.map(set => ({
          ...set,
          host: `${hostname} (${pid})`,
          id: [id, hostname, set.kind, set.source].join(' '),
        })),
  );

const columns: readonly Column<KeySetItem>[] = [
  {
    id: 'source',
    title: own.keySetColumns.source,
    cell: ({ kind, source }) => (
      <span className="break-all">
        {source} <span className="text-dim">({own.keySetKinds[kind]})</span>
      </span>
    ),
  },
  { id: 'host', title: own.columns.host, cell: ({ host }) => <span className="break-all">{host}</span> },
  {
    id: 'state',
    title: own.columns.state,
    cell: ({ error }) =>
      error === undefined ? (
        <StatusPill tone="success">{own.keySetFetched}</StatusPill>
      ) : (
        <span className="flex flex-col items-start gap-1">
          <StatusPill tone="danger">{own.keySetFailed}</StatusPill>
          <span className="text-small break-all">{error}</span>
        </span>
      ),
  },
  { id: 'keys', title: own.keySetColumns.keys, align: 'right', cell: ({ keys }) => formatNumber(keys) },
  { id: 'loaded', title: own.keySetColumns.loaded, cell: ({ loaded_at }) => <TimeText time={loaded_at} /> },
];

/** JWKS that the traffic threads hold, with their age and the last error; nothing where no API uses one. */
export function KeySetCard({ nodes }: { nodes: readonly NodeItem[] }) {
  const rows = listKeySets(nodes);
  if (rows.length === 0) return null;
  return (
    <Card title={own.keySets}>
      <DataTable
        label={own.keySets}
        rows={rows}
        columns={columns}
        idOf={({ id }) => id}
        nameOf={({ source }) => source}
      />
    </Card>
  );
}

import { Link } from '@tanstack/react-router';
import { StatusPill, type Tone } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { formatNumber } from '../../kit/format.ts';
import { TimeText } from '../../kit/time-text.tsx';
import { systemTexts } from '../../texts/en/system.ts';

const own = systemTexts;
type NodeItem = ResultOf<'GET /api/system/nodes'>['data']['nodes'][number];
type CertificateItem = NonNullable<NodeItem['certificates']>[number] & { readonly host: string; readonly id: string };

const listCertificates = (nodes: readonly NodeItem[]): CertificateItem[] =>
  nodes.flatMap(({ state, id, hostname, pid, certificates = [] }) =>
    state === 'lost'
      ? []
      : certificates.map(it => ({
          ...it,
          host: `${hostname} (${pid})`,
          id: [id, hostname, it.kind, it.source].join(' '),
        })),
  );

const nameOf = ({ subject, source }: CertificateItem) => subject ?? source;
const tones: Readonly<Record<CertificateItem['state'], Tone>> = {
  loaded: 'success',
  expired: 'danger',
  failed: 'danger',
};

const columns: readonly Column<CertificateItem>[] = [
  {
    id: 'name',
    title: own.certificateColumns.name,
    cell: it =>
      it.kind === 'store' ? (
        <Link to="/certificates/$certId" params={{ certId: it.source }} className="row-link break-all">
          {nameOf(it)}
        </Link>
      ) : (
        <span className="break-all">
          {nameOf(it)} <span className="text-dim">({own.certificateFile(it.source)})</span>
        </span>
      ),
  },
  { id: 'host', title: own.columns.host, cell: ({ host }) => <span className="break-all">{host}</span> },
  {
    id: 'state',
    title: own.columns.state,
    cell: ({ state, error }) => (
      <span className="flex flex-col items-start gap-1">
        <StatusPill tone={tones[state]}>{own.certificateStates[state]}</StatusPill>
        {error !== undefined && <span className="text-small break-all">{error}</span>}
      </span>
    ),
  },
  { id: 'apis', title: own.certificateColumns.apis, align: 'right', cell: ({ apis }) => formatNumber(apis) },
  {
    id: 'expires',
    title: own.certificateColumns.expires,
    cell: ({ not_after }) => (not_after === undefined ? '–' : <TimeText time={not_after} />),
  },
];

/** Certificates that the traffic threads use or could not load; nothing where there is none. */
export function CertificateCard({ nodes }: { nodes: readonly NodeItem[] }) {
  const rows = listCertificates(nodes);
  if (rows.length === 0) return null;
  return (
    <Card title={own.certificates}>
      <DataTable label={own.certificates} rows={rows} columns={columns} idOf={({ id }) => id} nameOf={nameOf} />
    </Card>
  );
}

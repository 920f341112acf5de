import { Link } from '@tanstack/react-router';
import { PlugZap, RefreshCw } from 'lucide-react';
import { StatusPill, type Tone } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { CreateLink } from '../lists/admin-list.tsx';
import { createListPage } from '../lists/list-page.tsx';
import { useSynchronization } from './use-synchronization.ts';

const own = adminTexts.providers;

type ProviderItem = ResultOf<'GET /portal-api/providers'>[number];
const tones: Readonly<Record<ProviderItem['Status'], Tone>> = { Up: 'success', Down: 'danger', Unknown: 'neutral' };

export const ProviderStatePill = ({ status }: { status: ProviderItem['Status'] }) => (
  <StatusPill tone={tones[status]}>{own.statuses[status]}</StatusPill>
);

const columns: readonly Column<ProviderItem>[] = [
  {
    id: 'name',
    title: own.columns.name,
    cell: ({ ID, Name }) => (
      <Link to="/admin/providers/$providerId" params={{ providerId: String(ID) }} className="row-link">
        {Name}
      </Link>
    ),
  },
  { id: 'status', title: own.columns.status, cell: ({ Status }) => <ProviderStatePill status={Status} /> },
  { id: 'synced', title: own.columns.synced, cell: ({ LastSyncedAt }) => LastSyncedAt || own.never },
  { id: 'products', title: own.columns.products, align: 'right', cell: ({ Products }) => Products },
  { id: 'plans', title: own.columns.plans, align: 'right', cell: ({ Plans }) => Plans },
  { id: 'error', title: own.columns.error, cell: ({ LastError }) => LastError || '–' },
];

function ProviderListActions() {
  const { isBusy, synchronize } = useSynchronization();
  return (
    <>
      <Button icon={RefreshCw} isBusy={isBusy} onClick={() => synchronize('all')}>
        {own.synchronizeAll}
      </Button>
      <CreateLink to="/admin/providers/new" label={own.create} />
    </>
  );
}

export const ProviderListPage = createListPage({
  texts: own,
  path: '/admin/providers',
  icon: PlugZap,
  columns,
  useRows: query => useOperation('GET /portal-api/providers', { query }, { keepPrevious: true }),
  nameOf: ({ Name }) => Name,
  actions: <ProviderListActions />,
});

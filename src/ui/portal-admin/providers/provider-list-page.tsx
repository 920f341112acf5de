import { Link, useSearch } from '@tanstack/react-router';
import { PlugZap, RefreshCw } from 'lucide-react';
import { StatusPill, type Tone } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, adminPageRows, CreateLink } from '../lists/admin-list.tsx';
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
];

export function ProviderListPage() {
  const { p = 1 } = useSearch({ from: '/shell/admin/providers' });
  const query = { page: p, per_page: adminPageRows };
  const list = useOperation('GET /portal-api/providers', { query }, { keepPrevious: true });
  const { isBusy, synchronize } = useSynchronization();
  return (
    <PageFrame
      title={own.title}
      about={own.about}
      actions={
        <>
          <Button icon={RefreshCw} isBusy={isBusy} onClick={() => synchronize('all')}>
            {own.synchronizeAll}
          </Button>
          <CreateLink to="/admin/providers/new" label={own.create} />
        </>
      }
    >
      <AdminList
        label={own.title}
        query={list}
        page={p}
        columns={columns}
        idOf={({ ID }) => String(ID)}
        nameOf={({ Name }) => Name}
        empty={{ icon: PlugZap, title: own.emptyTitle, about: own.emptyAbout }}
      />
    </PageFrame>
  );
}

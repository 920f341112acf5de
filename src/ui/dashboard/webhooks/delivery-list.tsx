import { Send } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { formatMs } from '../../kit/format.ts';
import { useListChange } from '../../kit/list-search.ts';
import { useOperation } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { texts } from '../../texts/texts.ts';
import { useApiNames } from '../pickers/api-picker.tsx';
import { usePermission } from '../session/session.ts';
import { DeliveryDialog } from './delivery-dialog.tsx';
import { DeliveryStatePill } from './delivery-state-pill.tsx';
import { RetryAllButton } from './retry-all-button.tsx';

const own = texts.deliveries;
type DeliveryItem = ResultOf<'GET /api/deliveries'>['deliveries'][number];
type ListQuery = NonNullable<ArgumentsOf<'GET /api/deliveries'>['query']>;
/** New deliveries appear by themselves. */
const refetchIntervalMs = 10_000;

export interface DeliveryListProps {
  readonly filters: {
    readonly hook_id?: string;
    readonly event?: string;
    readonly state?: string;
    readonly api_id?: string;
    /** Unix seconds. */
    readonly start?: number;
    readonly end?: number;
  };
  readonly p: number;
  /** Filters of the user, which may exclude everything. */
  readonly isFiltered: boolean;
  readonly toolbar?: ReactNode;
}

/** Deliveries, newest first; one opens with its body and attempts. */
export function DeliveryList({ filters, p, isFiltered, toolbar }: DeliveryListProps) {
  const { change, clear } = useListChange();
  const canWrite = usePermission('hooks:write');
  const [openId, setOpenId] = useState<string>();
  const list = useOperation(
    'GET /api/deliveries',
    { query: { ...filters, p } as ListQuery },
    { keepPrevious: true, refetchIntervalMs },
  );
  const nameOfApi = useApiNames((list.data?.value.deliveries ?? []).map(({ api_id }) => api_id).filter(Boolean));
  if (!list.data) return <QueryState query={list} />;
  const { deliveries, pages } = list.data.value;
  if (deliveries.length === 0 && !isFiltered && p === 1)
    return (
      <Notice icon={Send} title={own.emptyTitle}>
        {own.emptyAbout}
      </Notice>
    );
  return (
    <>
      <DataTable
        label={own.list}
        rows={deliveries}
        columns={createColumns(setOpenId, nameOfApi)}
        idOf={({ id }) => id}
        nameOf={({ event }) => event}
        page={p}
        pages={pages}
        onPage={next => change({ p: next })}
        isRefreshing={list.isFetching}
        onClearFilters={clear}
        toolbar={
          <div className="flex flex-wrap items-center gap-2">
            {toolbar}
            {canWrite && filters.hook_id && <RetryAllButton hookId={filters.hook_id} />}
          </div>
        }
      />
      {openId && <DeliveryDialog deliveryId={openId} onClose={() => setOpenId(undefined)} />}
    </>
  );
}

const createColumns = (
  onOpen: (id: string) => void,
  nameOfApi: (id: string) => string,
): readonly Column<DeliveryItem>[] => [
  {
    id: 'event',
    title: own.columns.event,
    cell: ({ event, id }) => (
      <Button kind="quiet" className="-ml-3" onClick={() => onOpen(id)}>
        {event}
      </Button>
    ),
  },
  { id: 'state', title: own.columns.state, cell: ({ state }) => <DeliveryStatePill state={state} /> },
  {
    id: 'status',
    title: own.columns.status,
    cell: ({ status, error, attempts }) =>
      attempts === 0 ? '–' : status > 0 ? status : <span title={error}>{own.noStatus}</span>,
  },
  { id: 'attempts', title: own.columns.attempts, align: 'right', cell: ({ attempts }) => attempts },
  {
    id: 'duration',
    title: own.columns.duration,
    align: 'right',
    cell: ({ attempts, duration_ms }) => (attempts === 0 ? '–' : formatMs(duration_ms)),
  },
  { id: 'hook', title: own.columns.hook, cell: ({ hook_name, hook_id }) => hook_name || hook_id },
  { id: 'api', title: own.columns.api, cell: ({ api_id }) => (api_id ? nameOfApi(api_id) : '–') },
  { id: 'time', title: own.columns.time, cell: ({ created_at }) => <TimeText time={created_at} /> },
];

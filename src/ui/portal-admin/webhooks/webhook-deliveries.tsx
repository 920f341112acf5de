import { useState } from 'react';
import { StatusPill, type Tone } from '../../kit/badge.tsx';
import { BodyText } from '../../kit/body-text.tsx';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card, FactList } from '../../kit/card.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { formatMs } from '../../kit/format.ts';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { ErrorText, QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { adminPageRows } from '../lists/admin-list.tsx';

const own = adminTexts.webhookDeliveries;
const listRoute = 'GET /portal-api/webhooks/{webhook_id}/deliveries';
const readRoute = 'GET /portal-api/webhooks/{webhook_id}/deliveries/{delivery_id}';
type PortalDelivery = ResultOf<typeof listRoute>[number];
const tones: Readonly<Record<PortalDelivery['State'], Tone>> = {
  waiting: 'warning',
  delivered: 'success',
  dead: 'danger',
};
/** New deliveries appear by themselves. */
const refetchIntervalMs = 10_000;

const createColumns = (onOpen: (id: string) => void): readonly Column<PortalDelivery>[] => [
  {
    id: 'event',
    title: own.columns.event,
    cell: ({ ID, Event }) => (
      <Button kind="quiet" className="-ml-3" onClick={() => onOpen(ID)}>
        {Event}
      </Button>
    ),
  },
  {
    id: 'state',
    title: own.columns.state,
    cell: ({ State }) => <StatusPill tone={tones[State]}>{own.states[State]}</StatusPill>,
  },
  { id: 'result', title: own.columns.result, cell: ({ Status, Error: reason }) => reason || Status || '–' },
  { id: 'attempts', title: own.columns.attempts, align: 'right', cell: ({ Attempts }) => Attempts },
  { id: 'created', title: own.columns.created, cell: ({ CreatedAt }) => CreatedAt },
];

/** Deliveries of a webhook, newest first; one opens with its body and attempts. */
export function WebhookDeliveries({ webhookId }: { webhookId: string }) {
  const [page, setPage] = useState(1);
  const [openId, setOpenId] = useState<string>();
  const given = { params: { webhook_id: webhookId }, query: { page, per_page: adminPageRows } };
  const list = useOperation(listRoute, given, { keepPrevious: true, refetchIntervalMs });
  const rows = list.data?.value;
  return (
    <Card title={own.title}>
      {!rows && <QueryState query={list} />}
      {rows?.length === 0 && page === 1 && <p className="text-dim">{own.none}</p>}
      {rows && (rows.length > 0 || page > 1) && (
        <DataTable
          label={own.title}
          rows={rows}
          columns={createColumns(setOpenId)}
          idOf={({ ID }) => ID}
          nameOf={({ Event }) => Event}
          page={page}
          hasNextPage={rows.length === adminPageRows}
          onPage={setPage}
          isRefreshing={list.isFetching}
        />
      )}
      {openId && <PortalDeliveryDialog webhookId={webhookId} id={openId} onClose={() => setOpenId(undefined)} />}
    </Card>
  );
}

interface PortalDeliveryDialogProps {
  readonly webhookId: string;
  readonly id: string;
  onClose(): void;
}

function PortalDeliveryDialog({ webhookId, id, onClose }: PortalDeliveryDialogProps) {
  const params = { webhook_id: webhookId, delivery_id: id };
  const read = useOperation(readRoute, { params });
  const retry = useWrite('PUT /portal-api/webhooks/{webhook_id}/deliveries/{delivery_id}/retry', [
    listRoute,
    readRoute,
  ]);
  const toasts = useToasts();
  const run = () =>
    retry.mutate(
      { given: { params } },
      {
        onSuccess: () => {
          toasts.showSuccess(own.retried);
          onClose();
        },
      },
    );
  const delivery = read.data?.value;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      width="wide"
      title={delivery?.Event ?? own.title}
      footer={
        delivery?.State === 'dead' && (
          <Button kind="primary" isBusy={retry.isPending} onClick={run}>
            {own.retry}
          </Button>
        )
      }
    >
      {!delivery && <QueryState query={read} />}
      <ErrorText error={retry.error} />
      {delivery && <DeliveryFacts delivery={delivery} />}
    </Dialog>
  );
}

const DeliveryFacts = ({ delivery: { State, Target, ID, Log, Body } }: { delivery: ResultOf<typeof readRoute> }) => (
  <div className="flex flex-col gap-4">
    <FactList
      rows={[
        [own.columns.state, own.states[State]],
        [own.target, Target],
        [own.id, ID],
        ...Log.map(
          ({ At, DurationMs, Status, Error: reason }, place) =>
            [own.attempt(place + 1), `${At}: ${reason || Status} (${formatMs(DurationMs)})`] as const,
        ),
      ]}
    />
    <BodyText label={own.body} text={Body} />
  </div>
);

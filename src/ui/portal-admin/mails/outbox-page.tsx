import { useSearch } from '@tanstack/react-router';
import { Inbox } from 'lucide-react';
import { StatusPill, type Tone } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { FilterSelect } from '../../kit/field.tsx';
import { useListChange } from '../../kit/list-search.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, adminPageRows } from '../lists/admin-list.tsx';

const own = adminTexts.mails;

type OutboxItem = ResultOf<'GET /portal-api/mail-outbox'>[number];
const states = ['waiting', 'sent', 'failed'] as const;
const tones: Readonly<Record<OutboxItem['State'], Tone>> = { waiting: 'warning', sent: 'success', failed: 'danger' };

const columns: readonly Column<OutboxItem>[] = [
  { id: 'mail', title: own.outboxColumns.mail, cell: ({ Name }) => <span className="font-medium">{Name}</span> },
  { id: 'to', title: own.outboxColumns.to, cell: ({ To }) => <span className="break-all">{To}</span> },
  {
    id: 'state',
    title: own.outboxColumns.state,
    cell: ({ State }) => <StatusPill tone={tones[State]}>{own.states[State]}</StatusPill>,
  },
  { id: 'attempts', title: own.outboxColumns.attempts, align: 'right', cell: ({ Attempts }) => Attempts },
  {
    id: 'error',
    title: own.outboxColumns.error,
    cell: ({ Error: reason }) => <span className="break-words">{reason || '–'}</span>,
  },
  { id: 'created', title: own.outboxColumns.created, cell: ({ CreatedAt }) => CreatedAt },
];

export function OutboxPage() {
  const { p = 1, state: chosen = '' } = useSearch({ from: '/shell/admin/emails/outbox' });
  const { change } = useListChange();
  const state = states.find(it => it === chosen);
  const query = { page: p, per_page: adminPageRows, ...(state ? { state } : {}) };
  const list = useOperation('GET /portal-api/mail-outbox', { query }, { keepPrevious: true });
  const retry = useWrite('PUT /portal-api/mail-outbox/{mail_id}/retry', ['GET /portal-api/mail-outbox']);
  const toasts = useToasts();
  const sendAgain = ({ ID }: OutboxItem) =>
    retry.mutate(
      { given: { params: { mail_id: String(ID) } } },
      { onSuccess: () => toasts.showSuccess(own.retried), onError: error => toasts.showError(error.message) },
    );
  return (
    <PageFrame title={own.outbox} about={own.outboxAbout}>
      <AdminList
        label={own.outbox}
        query={list}
        page={p}
        columns={columns}
        idOf={({ ID }) => String(ID)}
        nameOf={({ Name, To }) => `${Name} ${To}`}
        actions={mail => (mail.State === 'failed' ? [{ label: own.retry, onSelect: () => sendAgain(mail) }] : [])}
        toolbar={
          <search>
            <FilterSelect
              label={own.outboxColumns.state}
              value={chosen}
              onChange={event => change({ state: event.target.value })}
              options={[
                { value: '', label: own.anyState },
                ...states.map(value => ({ value, label: own.states[value] })),
              ]}
            />
          </search>
        }
        isFiltered={state !== undefined}
        empty={{ icon: Inbox, title: own.emptyOutbox, about: own.emptyOutboxAbout }}
      />
    </PageFrame>
  );
}

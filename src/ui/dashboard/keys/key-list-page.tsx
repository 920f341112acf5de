import { Link, useSearch } from '@tanstack/react-router';
import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { StatusPill } from '../../kit/badge.tsx';
import { nowMs } from '../../kit/browser-clock.ts';
import { buttonClass } from '../../kit/button.tsx';
import type { ArgumentsOf } from '../../kit/calls.ts';
import { IdText } from '../../kit/copy.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { FilterSelect } from '../../kit/field.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { useListChange } from '../list-search.ts';
import { ListToolbar } from '../list-toolbar.tsx';
import { usePermission } from '../session/session.ts';
import { type KeyFacts, toKeyFacts } from './key-facts.ts';

const own = texts.keys;
type ListQuery = NonNullable<ArgumentsOf<'GET /api/keys/detailed'>['query']>;
const nameOf = ({ alias, hash, id }: KeyFacts) => alias || (hash || id).slice(-8);

const columns: readonly Column<KeyFacts>[] = [
  {
    id: 'alias',
    title: own.columns.alias,
    cell: ({ alias }) =>
      alias ? <span className="font-medium">{alias}</span> : <em className="text-dim">{own.noAlias}</em>,
  },
  { id: 'key', title: own.columns.key, cell: ({ hash, id }) => <IdText id={hash || id} maxChars={8} /> },
  { id: 'state', title: own.columns.state, cell: key => <KeyState item={key} /> },
  { id: 'policies', title: own.columns.policies, cell: ({ policies }) => policies.join(', ') || '–' },
  { id: 'apis', title: own.columns.apis, cell: ({ apis }) => apis.join(', ') || '–' },
  {
    id: 'limits',
    title: own.columns.limits,
    cell: ({ rate, per }) => (rate > 0 ? own.rate(rate, per) : texts.kit.unlimited),
  },
  { id: 'created', title: own.columns.created, cell: ({ createdAt }) => <TimeText time={createdAt} /> },
];

function KeyState({ item: { isInactive, expires } }: { item: KeyFacts }) {
  if (isInactive) return <StatusPill tone="neutral">{own.inactive}</StatusPill>;
  if (expires > 0 && expires * 1000 < nowMs()) return <StatusPill tone="danger">{own.expired}</StatusPill>;
  if (expires <= 0) return <StatusPill tone="success">{own.active}</StatusPill>;
  return (
    <StatusPill tone="warning">
      {own.expires} <TimeText time={expires} />
    </StatusPill>
  );
}

export function KeyListPage() {
  const canWrite = usePermission('keys:write');
  return (
    <PageFrame
      title={own.title}
      actions={
        canWrite && (
          <Link to="/keys/new" data-new className={buttonClass('primary')}>
            <Plus size={16} aria-hidden />
            {own.create}
          </Link>
        )
      }
    >
      <KeyList canWrite={canWrite} />
    </PageFrame>
  );
}

function KeyList({ canWrite }: { canWrite: boolean }) {
  const { q = '', p = 1, state = '' } = useSearch({ from: '/shell/keys' });
  const { change, onSearch, clear } = useListChange();
  const query = { search: q, p, ...(state ? { state } : {}) } as ListQuery;
  const list = useOperation('GET /api/keys/detailed', { query }, { keepPrevious: true });
  const [pending, setPending] = useState<KeyFacts>();
  if (!list.data) return <QueryState query={list} />;
  const rows = list.data.value.keys.map(toKeyFacts);
  if (rows.length === 0 && q === '' && state === '' && p === 1) return <EmptyKeys canWrite={canWrite} />;
  const actionsOf = (key: KeyFacts) => [{ label: own.delete, isDanger: true, onSelect: () => setPending(key) }];
  return (
    <>
      <DataTable
        label={own.list}
        rows={rows}
        columns={columns}
        idOf={({ id }) => id}
        nameOf={nameOf}
        page={p}
        pages={list.data.value.pages}
        onPage={next => change({ p: next })}
        isRefreshing={list.isFetching}
        onClearFilters={clear}
        toolbar={
          <ListToolbar label={own.searchLabel} placeholder={own.search} value={q} onSearch={onSearch}>
            <FilterSelect
              label={own.anyState}
              value={state}
              onChange={event => change({ state: event.target.value })}
              options={[
                { value: '', label: own.anyState },
                ...Object.entries(own.states).map(([value, label]) => ({ value, label })),
              ]}
            />
          </ListToolbar>
        }
        {...(canWrite ? { actions: actionsOf } : {})}
      />
      <DeleteKeyDialog item={pending} onClose={() => setPending(undefined)} />
    </>
  );
}

function DeleteKeyDialog({ item, onClose }: { item: KeyFacts | undefined; onClose(): void }) {
  const toasts = useToasts();
  const { mutate, isPending } = useWrite('DELETE /api/keys/{keyId}', ['GET /api/keys/detailed']);
  const name = item ? nameOf(item) : '';
  const remove = () =>
    item &&
    mutate(
      { given: { params: { keyId: item.id } } },
      {
        onSuccess: () => toasts.showSuccess(own.deleted(name)),
        onError: error => toasts.showError(error.message),
        onSettled: onClose,
      },
    );
  return (
    <ConfirmDialog
      isOpen={item !== undefined}
      tier={3}
      title={own.deleteTitle(name)}
      consequence={own.deleteConsequence}
      action={own.deleteAction(name)}
      isBusy={isPending}
      onConfirm={remove}
      onClose={onClose}
    />
  );
}

const EmptyKeys = ({ canWrite }: { canWrite: boolean }) => (
  <Notice
    icon={KeyRound}
    title={own.emptyTitle}
    action={
      canWrite && (
        <Link to="/keys/new" className={buttonClass('primary')}>
          {own.create}
        </Link>
      )
    }
  >
    {own.emptyAbout}
  </Notice>
);

import { useRouter, useSearch } from '@tanstack/react-router';
import { ArchiveRestore } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { IdText } from '../../kit/copy.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useListChange } from '../../kit/list-search.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { Tabs } from '../../kit/tabs.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { deletedTexts } from '../../texts/en/deleted.ts';
import { type HistoryKind, isHistoryKind, revisedKinds, toHistoryRoutes } from '../history/revised-kinds.ts';
import { canUse, usePermission, useSession } from '../session/session.ts';
import { objectPages } from '../shell/navigation.ts';

const own = deletedTexts;
type Deleted = ResultOf<'GET /api/revisions/apis'>['deleted'][number];
const nameOf = ({ name, public_id, id }: Deleted) => name || public_id || id;

/** Deleted objects by kind, with their restoration. */
export function DeletedPage() {
  const session = useSession();
  const { tab, p = 1 } = useSearch({ from: '/shell/deleted' });
  const kinds = Object.keys(revisedKinds).filter(isHistoryKind);
  const readable = kinds.filter(kind => canUse(session, revisedKinds[kind].permission));
  const current = readable.find(kind => kind === tab) ?? readable[0];
  return (
    <PageFrame title={own.title} about={own.about}>
      {current === undefined ? (
        <Notice icon={ArchiveRestore} title={own.noKinds} />
      ) : (
        <>
          <Tabs label={own.title} items={readable.map(id => ({ id, label: own.kinds[id] }))} current={current} />
          <DeletedList key={current} kind={current} p={p} />
        </>
      )}
    </PageFrame>
  );
}

const columns: readonly Column<Deleted>[] = [
  { id: 'name', title: own.columns.name, cell: it => <span className="font-medium break-words">{nameOf(it)}</span> },
  { id: 'id', title: own.columns.id, cell: it => <IdText id={it.public_id || it.id} /> },
  { id: 'at', title: own.columns.at, cell: ({ at }) => <TimeText time={at} /> },
  { id: 'who', title: own.columns.who, cell: ({ author }) => author?.name || author?.id || own.unknownAuthor },
];

function DeletedList({ kind, p }: { kind: HistoryKind; p: number }) {
  const { permission } = revisedKinds[kind];
  const { change } = useListChange();
  const canWrite = usePermission(`${permission}:write`);
  const [chosen, setChosen] = useState<Deleted>();
  const list = useOperation(`GET /api/revisions/${kind}`, { query: { p } }, { keepPrevious: true });
  if (!list.data) return <QueryState query={list} />;
  const { deleted, pages } = list.data.value;
  if (deleted.length === 0 && p === 1)
    return (
      <Notice icon={ArchiveRestore} title={own.emptyTitle}>
        {own.emptyAbout}
      </Notice>
    );
  const restore: Column<Deleted> = {
    id: 'restore',
    title: own.restore,
    cell: it => <Button onClick={() => setChosen(it)}>{own.restoreAction(nameOf(it))}</Button>,
  };
  return (
    <>
      <DataTable
        label={own.list(own.kinds[kind])}
        rows={deleted}
        columns={canWrite ? [...columns, restore] : columns}
        idOf={({ id }) => id}
        nameOf={nameOf}
        page={p}
        pages={pages}
        onPage={next => change({ p: next })}
        isRefreshing={list.isFetching}
      />
      {chosen && <RestoreDeletedDialog kind={kind} object={chosen} onClose={() => setChosen(undefined)} />}
    </>
  );
}

interface RestoreDeletedProps {
  readonly kind: HistoryKind;
  readonly object: Deleted;
  onClose(): void;
}

function RestoreDeletedDialog({ kind, object, onClose }: RestoreDeletedProps) {
  const toasts = useToasts();
  const router = useRouter();
  const { restore, params } = toHistoryRoutes({ kind, id: object.id });
  const { mutate, isPending } = useWrite(restore, [`GET /api/revisions/${kind}`]);
  const name = nameOf(object);
  const toPage = objectPages[revisedKinds[kind].page];
  const confirm = () =>
    mutate(
      { given: { params: { ...params, revision: object.revision } } },
      {
        onSuccess: () => {
          const open = { label: own.open, onSelect: () => router.history.push(toPage!(object.public_id || object.id)) };
          toasts.showSuccess(own.restored(name), toPage && open);
        },
        onError: error => toasts.showError(error.message),
        onSettled: onClose,
      },
    );
  return (
    <ConfirmDialog
      isOpen
      tier={2}
      title={own.restoreTitle(name)}
      consequence={own.consequences[kind]}
      action={own.restoreAction(name)}
      isBusy={isPending}
      onConfirm={confirm}
      onClose={onClose}
    />
  );
}

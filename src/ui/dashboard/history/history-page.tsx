import { useParams, useRouter, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Badge, type Tone } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { callServer, type ResultOf } from '../../kit/calls.ts';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { useListChange } from '../../kit/list-search.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { saveJson } from '../../kit/save-file.ts';
import { NotFoundNotice } from '../../kit/shell/fault-pages.tsx';
import { ForbiddenState, QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { ApiFrame } from '../apis/api-frame.tsx';
import { canUse, usePermission, useSession } from '../session/session.ts';
import { objectPages } from '../shell/navigation.ts';
import { RestoreDialog } from './restore-dialog.tsx';
import { isHistoryKind, type RevisedObject, revisedKinds, toHistoryRoutes } from './revised-kinds.ts';
import { RevisionComparison } from './revision-comparison.tsx';
import type { RevisionSearch } from './revision-search.ts';

const own = texts.history;

type Revision = ResultOf<'GET /api/revisions/apis/{apiId}'>['revisions'][number];
const tones: Readonly<Record<Revision['action'], Tone>> = {
  created: 'success',
  updated: 'neutral',
  deleted: 'danger',
  found: 'neutral',
};

const columns: readonly Column<Revision>[] = [
  { id: 'revision', title: own.revision, cell: ({ revision }) => <span className="font-mono">{revision}</span> },
  { id: 'at', title: own.at, cell: ({ at }) => <TimeText time={at} /> },
  { id: 'who', title: own.who, cell: ({ author }) => author?.name || author?.id || own.unknownAuthor },
  { id: 'via', title: own.via, cell: ({ author }) => (author ? (own.surfaces[author.surface] ?? author.surface) : '') },
  { id: 'action', title: own.action, cell: ({ action }) => <Badge tone={tones[action]}>{own.actions[action]}</Badge> },
  {
    id: 'paths',
    title: own.summary,
    cell: ({ action, note, paths, summary, paths_omitted: isOmitted }) => (
      <>
        {note && <p className="break-words">{note}</p>}
        <span className="break-words" title={action === 'updated' ? paths.join('\n') : undefined}>
          {isOmitted ? own.omitted : summary.join(', ')}
        </span>
      </>
    ),
  },
];

/** Tab of an API. */
export function ApiHistoryPage() {
  const search = useSearch({ from: '/shell/apis/$apiId/history' });
  return (
    <ApiFrame>
      {({ api }) => <ObjectHistory key={api.id} object={{ kind: 'apis', id: api.id }} search={search} />}
    </ApiFrame>
  );
}

/** History of an object of another kind, with the way back to its page. */
export function HistoryPage() {
  const { kind, objectId } = useParams({ from: '/shell/history/$kind/$objectId' });
  const { name = objectId, ...search } = useSearch({ from: '/shell/history/$kind/$objectId' });
  const router = useRouter();
  const session = useSession();
  if (!isHistoryKind(kind)) return <NotFoundNotice home="/" />;
  const { permission, page } = revisedKinds[kind];
  if (!canUse(session, permission)) return <ForbiddenState permission={permission} />;
  const toPage = objectPages[page];
  return (
    <PageFrame
      title={own.title(name)}
      actions={toPage && <Button onClick={() => router.history.push(toPage(objectId))}>{own.back(name)}</Button>}
    >
      <ObjectHistory object={{ kind, id: objectId }} search={search} />
    </PageFrame>
  );
}

interface ObjectHistoryProps {
  readonly object: RevisedObject;
  readonly search: RevisionSearch;
}

/** Revisions of an object: compared two at a time, and restored as a new revision. */
function ObjectHistory({ object, search: { p = 1, from, to } }: ObjectHistoryProps) {
  const { change } = useListChange();
  const canWrite = usePermission(`${revisedKinds[object.kind].permission}:write`);
  const { list: listRoute, get: getRoute, params } = toHistoryRoutes(object);
  const toasts = useToasts();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [restored, setRestored] = useState<number>();
  const list = useOperation(listRoute, { params, query: { p } }, { keepPrevious: true });
  // Newest first: the first page has the newest revision, whichever page is shown.
  const first = useOperation(listRoute, { params, query: { p: 1 } });
  if (!list.data) return <QueryState query={list} />;
  if (!first.data) return <QueryState query={first} />;
  const { revisions, pages } = list.data.value;
  const newest = first.data.value.revisions[0]?.revision ?? 1;
  const compare = (a: number, b: number) => change({ p, from: Math.min(a, b), to: Math.max(a, b) });
  const save = (revision: number) =>
    void callServer(getRoute, { params: { ...params, revision } }).then(
      ({ value }) => saveJson(value.state, `${object.id}-revision-${revision}.json`),
      (error: Error) => toasts.showError(error.message),
    );
  const [one, two] = [...selected].map(Number);
  return (
    <div className="flex flex-col gap-4">
      {from !== undefined && to !== undefined && (
        <RevisionComparison
          object={object}
          from={from}
          to={to}
          onClose={() => change({ p, from: undefined, to: undefined })}
        />
      )}
      <DataTable
        label={own.list}
        rows={revisions}
        columns={columns}
        idOf={({ revision }) => String(revision)}
        nameOf={({ revision }) => own.name(revision)}
        page={p}
        pages={pages}
        onPage={next => change({ p: next })}
        isRefreshing={list.isFetching}
        toolbar={<p className="text-dim">{own.about}</p>}
        selection={{
          ids: selected,
          onChange: setSelected,
          actions: (
            <Button disabled={selected.size !== 2} onClick={() => compare(one!, two!)}>
              {own.compareTwo}
            </Button>
          ),
        }}
        actions={row => listActions(row, { newest, canWrite, compare, onRestore: setRestored, onExport: save })}
      />
      <RestoreDialog object={object} revision={restored} current={newest} onClose={() => setRestored(undefined)} />
    </div>
  );
}

interface RowActions {
  readonly newest: number;
  readonly canWrite: boolean;
  compare(from: number, to: number): void;
  onRestore(revision: number): void;
  onExport(revision: number): void;
}

function listActions({ revision, action }: Revision, { newest, canWrite, compare, onRestore, onExport }: RowActions) {
  return [
    {
      label: own.comparePrevious,
      isDisabled: revision <= 1,
      onSelect: () => compare(revision - 1, revision),
    },
    { label: own.compareCurrent, isDisabled: revision === newest, onSelect: () => compare(revision, newest) },
    ...(action === 'deleted' ? [] : [{ label: own.exportAction, onSelect: () => onExport(revision) }]),
    ...(canWrite && action !== 'deleted' ? [{ label: own.restore, onSelect: () => onRestore(revision) }] : []),
  ];
}

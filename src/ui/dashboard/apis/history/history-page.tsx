import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Badge, type Tone } from '../../../kit/badge.tsx';
import { Button } from '../../../kit/button.tsx';
import type { ResultOf } from '../../../kit/calls.ts';
import { type Column, DataTable } from '../../../kit/data-table.tsx';
import { useListChange } from '../../../kit/list-search.ts';
import { useOperation } from '../../../kit/queries.ts';
import { QueryState } from '../../../kit/states.tsx';
import { TimeText } from '../../../kit/time-text.tsx';
import { texts } from '../../../texts/texts.ts';
import { usePermission } from '../../session/session.ts';
import { ApiFrame } from '../api-frame.tsx';
import type { ApiOutline } from '../api-outline.ts';
import { RestoreDialog } from './restore-dialog.tsx';
import { RevisionComparison } from './revision-comparison.tsx';

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
    title: own.changed,
    cell: ({ action, paths, paths_omitted: isOmitted }) => (
      <ChangedPaths paths={action === 'updated' ? paths : []} isOmitted={isOmitted === true} />
    ),
  },
];

const maxPathsShown = 3;

/** The end of a path is what distinguishes it. */
const shorten = (path: string) => path.replace(/^\/(api_definition|oas\/x-gw-api-gateway|oas)(?=\/)/, '');

const ChangedPaths = ({ paths, isOmitted }: { paths: readonly string[]; isOmitted: boolean }) => (
  <span className="font-mono text-small break-all" title={paths.join('\n')}>
    {isOmitted ? own.omitted : paths.slice(0, maxPathsShown).map(shorten).join(', ')}
    {paths.length > maxPathsShown && ` ${own.more(paths.length - maxPathsShown)}`}
  </span>
);

/** Revisions of an API: compared two at a time, and restored as a new revision. */
export const ApiHistoryPage = () => <ApiFrame>{({ api }) => <History key={api.id} api={api} />}</ApiFrame>;

function History({ api }: { api: ApiOutline }) {
  const { p = 1, from, to } = useSearch({ from: '/shell/apis/$apiId/history' });
  const { change } = useListChange();
  const canWrite = usePermission('apis:write');
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [restored, setRestored] = useState<number>();
  const list = useOperation(
    'GET /api/revisions/apis/{apiId}',
    { params: { apiId: api.id }, query: { p } },
    {
      keepPrevious: true,
    },
  );
  // Newest first: the first page has the newest revision, whichever page is shown.
  const first = useOperation('GET /api/revisions/apis/{apiId}', {
    params: { apiId: api.id },
    query: { p: 1 },
  });
  if (!list.data) return <QueryState query={list} />;
  if (!first.data) return <QueryState query={first} />;
  const { revisions, pages } = list.data.value;
  const newest = first.data.value.revisions[0]?.revision ?? 1;
  const compare = (a: number, b: number) => change({ p, from: Math.min(a, b), to: Math.max(a, b) });
  const [one, two] = [...selected].map(Number);
  return (
    <div className="flex flex-col gap-4">
      {from !== undefined && to !== undefined && (
        <RevisionComparison
          apiId={api.id}
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
        actions={row => listActions(row, { newest, canWrite, compare, onRestore: setRestored })}
      />
      <RestoreDialog api={api} revision={restored} current={newest} onClose={() => setRestored(undefined)} />
    </div>
  );
}

interface RowActions {
  readonly newest: number;
  readonly canWrite: boolean;
  compare(from: number, to: number): void;
  onRestore(revision: number): void;
}

function listActions({ revision, action }: Revision, { newest, canWrite, compare, onRestore }: RowActions) {
  return [
    {
      label: own.comparePrevious,
      isDisabled: revision <= 1,
      onSelect: () => compare(revision - 1, revision),
    },
    { label: own.compareCurrent, isDisabled: revision === newest, onSelect: () => compare(revision, newest) },
    ...(canWrite && action !== 'deleted' ? [{ label: own.restore, onSelect: () => onRestore(revision) }] : []),
  ];
}

import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Plus, UsersRound } from 'lucide-react';
import { useState } from 'react';
import { StatusPill } from '../../kit/badge.tsx';
import { buttonClass } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { useListChange } from '../../kit/list-search.ts';
import { ListToolbar } from '../../kit/list-toolbar.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { usePermission } from '../session/session.ts';
import { DeleteGroupDialog } from './delete-group-dialog.tsx';
import { summarizePermissions } from './permission-table.tsx';

const own = texts.groups;
type GroupData = ResultOf<'GET /api/usergroups'>['groups'][number];

const columns: readonly Column<GroupData>[] = [
  {
    id: 'name',
    title: own.columns.name,
    cell: ({ id, name }) => (
      <Link to="/user-groups/$groupId" params={{ groupId: id }} className="row-link">
        {name}
      </Link>
    ),
  },
  { id: 'description', title: own.columns.description, cell: ({ description }) => description || '–' },
  { id: 'permissions', title: own.columns.permissions, cell: it => summarizePermissions(it.user_permissions) },
  { id: 'users', title: own.members, align: 'right', cell: ({ users_count }) => users_count },
  {
    id: 'state',
    title: own.columns.state,
    cell: ({ active }) => (
      <StatusPill tone={active ? 'success' : 'neutral'}>{active ? own.active : own.inactive}</StatusPill>
    ),
  },
  {
    id: 'passwords',
    title: own.columns.passwords,
    align: 'right',
    cell: ({ password_max_days: days }) => (days > 0 ? own.days(days) : own.anyAge),
  },
];

export function GroupListPage() {
  const canWrite = usePermission('user_groups:write');
  const create = canWrite && (
    <Link to="/user-groups/new" data-new className={buttonClass('primary')}>
      <Plus size={16} aria-hidden />
      {own.create}
    </Link>
  );
  return (
    <PageFrame title={own.title} actions={create}>
      <GroupList canWrite={canWrite} />
    </PageFrame>
  );
}

function GroupList({ canWrite }: { canWrite: boolean }) {
  const { q = '', p = 1 } = useSearch({ from: '/shell/user-groups' });
  const { change, onSearch, clear } = useListChange();
  const navigate = useNavigate();
  const [pending, setPending] = useState<GroupData>();
  const list = useOperation('GET /api/usergroups', { query: { q, p } }, { keepPrevious: true });
  if (!list.data) return <QueryState query={list} />;
  const { groups, pages } = list.data.value;
  if (groups.length === 0 && q === '' && p === 1)
    return (
      <Notice icon={UsersRound} title={own.emptyTitle}>
        {own.emptyAbout}
      </Notice>
    );
  const actionsOf = (group: GroupData) => [
    { label: own.open, onSelect: () => void navigate({ to: '/user-groups/$groupId', params: { groupId: group.id } }) },
    'line' as const,
    { label: own.delete, isDanger: true, onSelect: () => setPending(group) },
  ];
  return (
    <>
      <DataTable
        label={own.list}
        rows={groups}
        columns={columns}
        idOf={({ id }) => id}
        nameOf={({ name }) => name}
        page={p}
        pages={pages}
        onPage={next => change({ p: next })}
        isRefreshing={list.isFetching}
        onClearFilters={clear}
        toolbar={<ListToolbar label={own.searchLabel} placeholder={own.search} value={q} onSearch={onSearch} />}
        {...(canWrite ? { actions: actionsOf } : {})}
      />
      <DeleteGroupDialog group={pending} onClose={() => setPending(undefined)} />
    </>
  );
}

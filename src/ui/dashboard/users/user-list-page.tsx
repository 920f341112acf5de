import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { StatusPill } from '../../kit/badge.tsx';
import { buttonClass } from '../../kit/button.tsx';
import { callServer, type ResultOf } from '../../kit/calls.ts';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { EmailAddress } from '../../kit/email-address.tsx';
import { useListChange } from '../../kit/list-search.ts';
import { ListToolbar } from '../../kit/list-toolbar.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { listColumnTexts } from '../../texts/en/list-columns.ts';
import { texts } from '../../texts/texts.ts';
import { usePermission, useSession } from '../session/session.ts';
import { type PasswordLink, PasswordLinkDialog } from './password-link-dialog.tsx';
import { canCreateLinks, findRole } from './roles.ts';
import { SecondFactorCell } from './second-factor-cell.tsx';

const own = texts.users;
type UserItem = ResultOf<'GET /api/users'>['users'][number];

const nameOf = ({ first_name, last_name, email_address }: UserItem) =>
  `${first_name} ${last_name}`.trim() || email_address;
function roleOf({ user_permissions, group_id }: UserItem): string {
  if (user_permissions.IsAdmin === 'admin') return own.administrator;
  if (group_id) return own.ofGroup;
  const role = findRole(user_permissions);
  return role ? own.roleNames[role] : own.custom;
}

const createColumns = (userIds: readonly string[]): readonly Column<UserItem>[] => [
  {
    id: 'name',
    title: own.columns.name,
    cell: user => (
      <Link to="/users/$userId" params={{ userId: user.id }} className="row-link">
        {nameOf(user)}
      </Link>
    ),
  },
  {
    id: 'email',
    title: own.columns.email,
    cell: ({ email_address }) => <EmailAddress address={email_address} />,
  },
  { id: 'role', title: own.columns.role, cell: roleOf },
  {
    id: 'state',
    title: own.columns.state,
    cell: ({ active }) => (
      <StatusPill tone={active ? 'success' : 'neutral'}>{active ? own.active : own.inactive}</StatusPill>
    ),
  },
  { id: 'login', title: own.columns.login, cell: user => <TimeText time={user.last_login_date} /> },
  {
    id: 'factor',
    title: listColumnTexts.secondFactor,
    cell: ({ id }) => <SecondFactorCell userId={id} userIds={userIds} />,
  },
  { id: 'password', title: own.passwordSet, cell: user => <TimeText time={user.password_updated} /> },
  { id: 'created', title: own.columns.created, cell: user => <TimeText time={user.created_at} /> },
];

export function UserListPage() {
  const canWrite = usePermission('users:write');
  return (
    <PageFrame
      title={own.title}
      actions={
        canWrite && (
          <Link to="/users/new" data-new className={buttonClass('primary')}>
            <Plus size={16} aria-hidden />
            {own.newAction}
          </Link>
        )
      }
    >
      <UserList />
    </PageFrame>
  );
}

/** Users by part of their e-mail address, which is sent in a body: addresses of people are in no URL. */
const useUserSearch = (text: string, p: number) =>
  useQuery({
    queryKey: ['POST /api/users/search', { text, p }],
    queryFn: ({ signal }) =>
      callServer('POST /api/users/search', { query: { p }, body: { filters: { query: text } } }, { signal }),
    enabled: text !== '',
  });

function UserList() {
  const { p = 1 } = useSearch({ from: '/shell/users' });
  const [text, setText] = useState('');
  const [link, setLink] = useState<PasswordLink>();
  const { change } = useListChange();
  const session = useSession();
  const toasts = useToasts();
  const { mutate } = useWrite('POST /api/users/{userId}/actions/reset-link');
  const all = useOperation('GET /api/users', { query: { p } }, { enabled: text === '', keepPrevious: true });
  const found = useUserSearch(text, p);
  const list = text === '' ? all : found;
  const search = (next: string) => {
    setText(next.trim());
    change({});
  };
  const createLink = ({ id, email_address }: UserItem) =>
    mutate(
      { given: { params: { userId: id } } },
      {
        onSuccess: ({ value }) => setLink({ email: email_address, meta: value.Meta }),
        onError: error => toasts.showError(error.message),
      },
    );
  const canLink = (user: UserItem) => user.active && user.id !== session.user.id;
  const toolbar = <ListToolbar label={own.searchLabel} placeholder={own.search} value={text} onSearch={search} />;
  // The toolbar stays in its place while lists load: typed text is not lost.
  return (
    <div className="flex flex-col gap-3">
      {toolbar}
      {list.data ? (
        <DataTable
          label={own.list}
          rows={list.data.value.users}
          columns={createColumns(list.data.value.users.map(({ id }) => id))}
          idOf={({ id }) => id}
          nameOf={nameOf}
          page={p}
          pages={list.data.value.pages}
          onPage={next => change({ p: next })}
          isRefreshing={list.isFetching}
          onClearFilters={() => search('')}
          {...(canCreateLinks(session) && {
            actions: (user: UserItem) => [
              { label: own.resetLink, isDisabled: !canLink(user), onSelect: () => createLink(user) },
            ],
          })}
        />
      ) : (
        <QueryState query={list} />
      )}
      {link && <PasswordLinkDialog link={link} onClose={() => setLink(undefined)} />}
    </div>
  );
}

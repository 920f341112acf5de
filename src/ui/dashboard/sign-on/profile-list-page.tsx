import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { LogIn, Plus } from 'lucide-react';
import { useState } from 'react';
import { StatusPill } from '../../kit/badge.tsx';
import { buttonClass } from '../../kit/button.tsx';
import type { ArgumentsOf } from '../../kit/calls.ts';
import { CopyButton } from '../../kit/copy.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { FilterSelect } from '../../kit/field.tsx';
import { useListChange } from '../../kit/list-search.ts';
import { ListToolbar } from '../../kit/list-toolbar.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { signOnTexts } from '../../texts/en/sign-on.ts';
import { usePermission } from '../session/session.ts';
import { DeleteProfileDialog } from './delete-profile-dialog.tsx';
import type { ProfileData } from './profile-draft.ts';

const own = signOnTexts;
type ListQuery = NonNullable<ArgumentsOf<'GET /api/sso/profiles'>['query']>;

const columns: readonly Column<ProfileData>[] = [
  {
    id: 'name',
    title: own.columns.name,
    cell: ({ ID, Name }) => (
      <Link to="/sign-on/$profileId" params={{ profileId: ID }} className="row-link">
        {Name}
      </Link>
    ),
  },
  { id: 'provider', title: own.columns.provider, cell: ({ ProviderName }) => own.providers[ProviderName] },
  {
    id: 'state',
    title: own.columns.state,
    cell: ({ Active }) => (
      <StatusPill tone={Active ? 'success' : 'neutral'}>{Active ? own.states.active : own.states.inactive}</StatusPill>
    ),
  },
  {
    id: 'login',
    title: own.columns.login,
    cell: ({ LoginURL }) => (
      <span className="inline-flex items-center gap-1">
        <code className="font-mono text-small break-all">{LoginURL}</code>
        <CopyButton text={LoginURL} />
      </span>
    ),
  },
  { id: 'updated', title: own.columns.updated, cell: ({ UpdatedAt }) => <TimeText time={UpdatedAt} /> },
];

export function SignOnListPage() {
  const canWrite = usePermission('idm:write');
  const create = canWrite && (
    <Link to="/sign-on/new" data-new className={buttonClass('primary')}>
      <Plus size={16} aria-hidden />
      {own.create}
    </Link>
  );
  return (
    <PageFrame title={own.title} actions={create}>
      <ProfileList canWrite={canWrite} />
    </PageFrame>
  );
}

function ProfileList({ canWrite }: { canWrite: boolean }) {
  const { q = '', p = 1, state = '' } = useSearch({ from: '/shell/sign-on' });
  const { change, onSearch, clear } = useListChange();
  const navigate = useNavigate();
  const [pending, setPending] = useState<ProfileData>();
  const query = { q, p, ...(state ? { state } : {}) } as ListQuery;
  const list = useOperation('GET /api/sso/profiles', { query }, { keepPrevious: true });
  if (!list.data) return <QueryState query={list} />;
  const { profiles, pages } = list.data.value;
  if (profiles.length === 0 && q === '' && state === '' && p === 1)
    return (
      <Notice icon={LogIn} title={own.emptyTitle}>
        {own.emptyAbout}
      </Notice>
    );
  const actionsOf = (profile: ProfileData) => [
    {
      label: own.open,
      onSelect: () => void navigate({ to: '/sign-on/$profileId', params: { profileId: profile.ID } }),
    },
    'line' as const,
    { label: own.delete, isDanger: true, onSelect: () => setPending(profile) },
  ];
  return (
    <>
      <DataTable
        label={own.list}
        rows={profiles}
        columns={columns}
        idOf={({ ID }) => ID}
        nameOf={({ Name }) => Name}
        page={p}
        pages={pages}
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
      <DeleteProfileDialog profile={pending} onClose={() => setPending(undefined)} />
    </>
  );
}

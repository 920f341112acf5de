import { useSearch } from '@tanstack/react-router';
import { Download, ScrollText } from 'lucide-react';
import { useCallback } from 'react';
import { toActionText } from '../../kit/action-text.ts';
import { MethodBadge } from '../../kit/badge.tsx';
import { buttonClass } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { FilterText } from '../../kit/filter-text.tsx';
import { type ListSearch, useListChange } from '../../kit/list-search.ts';
import { ListToolbar } from '../../kit/list-toolbar.tsx';
import { OutcomePill } from '../../kit/outcome-pill.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { TimeText } from '../../kit/time-text.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { sharedTexts } from '../../texts/shared-texts.ts';
import { AdminList, adminPageRows } from '../lists/admin-list.tsx';

const own = sharedTexts.audit;
type AuditItem = ResultOf<'GET /portal-api/audit-logs'>[number];

type AuditSearch = ListSearch<'user' | 'action' | 'object' | 'from_date' | 'to_date'>;

const columns: readonly Column<AuditItem>[] = [
  { id: 'time', title: own.columns.time, cell: ({ timestamp }) => <TimeText time={timestamp} /> },
  { id: 'user', title: own.columns.user, cell: ({ user }) => <span className="break-all">{user}</span> },
  {
    id: 'action',
    title: own.columns.action,
    cell: ({ method, action, url }) => (
      <span className="flex flex-col gap-1">
        <span className="flex items-center gap-2">
          <MethodBadge method={method} />
          <span className="font-medium" title={action}>
            {toActionText(action)}
          </span>
        </span>
        <code className="text-small break-all text-dim">{url}</code>
      </span>
    ),
  },
  { id: 'object', title: own.columns.object, cell: ({ object }) => <code className="break-all">{object || '–'}</code> },
  { id: 'outcome', title: own.columns.outcome, cell: ({ status }) => <OutcomePill status={status} /> },
  { id: 'ip', title: own.columns.ip, cell: ({ ip }) => <span className="font-mono text-small">{ip}</span> },
];

const isDay = (text: string | undefined) => /^\d{4}-\d{2}-\d{2}$/.test(text ?? '');

/** Filters of a query; a day that is not complete yet is left out. */
const toQuery = ({ q, user, action, object, from_date, to_date }: AuditSearch) =>
  Object.fromEntries(
    Object.entries({
      url: q,
      user,
      action,
      object,
      from_date: isDay(from_date) ? from_date : undefined,
      to_date: isDay(to_date) ? to_date : undefined,
    }).filter(([, value]) => value !== undefined && value !== ''),
  );

const exportTypes = ['csv', 'json'] as const;

/** Audit records of the portal, with filters in the address; files have all records of the filters. */
export function PortalAuditPage() {
  const search = useSearch({ from: '/shell/admin/audit' });
  const { clear } = useListChange();
  const { p = 1 } = search;
  const query = { page: p, per_page: adminPageRows, ...toQuery(search) };
  const list = useOperation('GET /portal-api/audit-logs', { query }, { keepPrevious: true });
  return (
    <PageFrame
      title={own.title}
      about={adminTexts.audit.about}
      actions={exportTypes.map(type => (
        <a
          key={type}
          href={`/portal-api/audit-logs/export?${new URLSearchParams({ ...toQuery(search), type })}`}
          download={`audit-logs.${type}`}
          className={buttonClass()}
        >
          <Download size={16} strokeWidth={1.5} aria-hidden />
          {own.exports[type]}
        </a>
      ))}
    >
      <AdminList
        label={own.list}
        query={list}
        page={p}
        columns={columns}
        idOf={({ _id }) => _id}
        nameOf={({ action }) => toActionText(action)}
        toolbar={<AuditToolbar search={search} />}
        isFiltered={Object.keys(toQuery(search)).length > 0}
        onClearFilters={clear}
        empty={{ icon: ScrollText, title: own.emptyTitle, about: own.emptyAbout }}
      />
    </PageFrame>
  );
}

function AuditToolbar({ search }: { search: AuditSearch }) {
  const { change, onSearch } = useListChange();
  const setUser = useCallback((user: string) => change({ user }), [change]);
  const setAction = useCallback((action: string) => change({ action }), [change]);
  const setObject = useCallback((object: string) => change({ object }), [change]);
  return (
    <ListToolbar label={own.searchLabel} placeholder={own.search} value={search.q ?? ''} onSearch={onSearch}>
      <FilterText label={own.user} value={search.user ?? ''} onChange={setUser} />
      <FilterText label={own.action} value={search.action ?? ''} onChange={setAction} />
      <FilterText label={own.columns.object} value={search.object ?? ''} onChange={setObject} />
      {(['from_date', 'to_date'] as const).map(name => (
        <label key={name} className="flex items-center gap-2 text-small text-dim">
          {name === 'from_date' ? own.from : own.to}
          <input
            type="date"
            className="control border border-edge bg-surface px-2 text-ink"
            value={search[name] ?? ''}
            onChange={event => change({ [name]: event.target.value })}
          />
        </label>
      ))}
    </ListToolbar>
  );
}

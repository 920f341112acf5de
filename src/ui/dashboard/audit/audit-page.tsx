import { useSearch } from '@tanstack/react-router';
import { Download, ScrollText } from 'lucide-react';
import { useCallback, useMemo } from 'react';
import { toActionText } from '../../kit/action-text.ts';
import { MethodBadge } from '../../kit/badge.tsx';
import { buttonClass } from '../../kit/button.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { FilterSelect } from '../../kit/field.tsx';
import { FilterText } from '../../kit/filter-text.tsx';
import { useListChange } from '../../kit/list-search.ts';
import { ListToolbar } from '../../kit/list-toolbar.tsx';
import { OutcomePill } from '../../kit/outcome-pill.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { texts } from '../../texts/texts.ts';
import { AuditDetail } from './audit-detail.tsx';
import {
  type AuditRecordView,
  type AuditSearch,
  hasAuditFilters,
  toAuditExportAddress,
  toAuditQuery,
} from './audit-filters.ts';

const own = texts.audit;

const createColumns = (open: (id: string) => void): readonly Column<AuditRecordView>[] => [
  { id: 'time', title: own.columns.time, cell: ({ timestamp }) => <TimeText time={timestamp} /> },
  { id: 'user', title: own.columns.user, cell: ({ user }) => <span className="break-all">{user}</span> },
  {
    id: 'action',
    title: own.columns.action,
    cell: ({ _id, method, action }) => (
      <span className="flex items-center gap-2">
        <MethodBadge method={method} />
        <button type="button" className="row-link min-h-6 rounded-control text-left" onClick={() => open(_id)}>
          {toActionText(action)}
        </button>
      </span>
    ),
  },
  {
    id: 'object',
    title: own.columns.object,
    cell: ({ object, object_name: name }) => (
      <span className="flex flex-col">
        {name && <span className="break-words">{name}</span>}
        <code className={`font-mono text-small break-all ${name ? 'text-dim' : ''}`}>{object}</code>
      </span>
    ),
  },
  { id: 'outcome', title: own.columns.outcome, cell: ({ status }) => <OutcomePill status={status} /> },
  { id: 'ip', title: own.columns.ip, cell: ({ ip }) => <span className="font-mono text-small">{ip}</span> },
];

/** Audit records: changes and attempts, with filters in the address. */
export function AuditPage() {
  const search = useSearch({ from: '/shell/audit' });
  const { change, clear } = useListChange();
  const list = useOperation('GET /api/audit-logs', { query: toAuditQuery(search) }, { keepPrevious: true });
  const page = search.p ?? 1;
  const keepPage = useCallback((open: string | undefined) => change({ p: page, open }), [change, page]);
  const columns = useMemo(() => createColumns(keepPage), [keepPage]);
  const isEmpty = list.data?.value.audit_logs.length === 0 && !hasAuditFilters(search);
  return (
    <PageFrame title={own.title} actions={<ExportLinks search={search} />}>
      <div className="flex flex-col gap-3">
        <AuditToolbar search={search} />
        {!list.data || list.isError ? (
          <QueryState query={list} />
        ) : isEmpty ? (
          <Notice icon={ScrollText} title={own.emptyTitle}>
            {own.emptyAbout}
          </Notice>
        ) : (
          <DataTable
            label={own.list}
            rows={list.data.value.audit_logs}
            columns={columns}
            idOf={({ _id }) => _id}
            nameOf={({ action }) => toActionText(action)}
            page={page}
            pages={list.data.value.pages}
            onPage={next => change({ p: next })}
            isRefreshing={list.isFetching}
            onClearFilters={clear}
          />
        )}
      </div>
      {search.open && (
        <AuditDetail
          id={search.open}
          onClose={() => keepPage(undefined)}
          onFilter={it => change({ ...it, open: '' })}
        />
      )}
    </PageFrame>
  );
}

const exportTypes = ['csv', 'json'] as const;

/** Files with all records of the filters, not only those of the page. */
const ExportLinks = ({ search }: { search: AuditSearch }) =>
  exportTypes.map(type => (
    <a key={type} href={toAuditExportAddress(search, type)} download={`audit-logs.${type}`} className={buttonClass()}>
      <Download size={16} strokeWidth={1.5} aria-hidden />
      {own.exports[type]}
    </a>
  ));

const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'GET'];
const dayInput = 'control border border-edge bg-surface px-2 text-ink';

function AuditToolbar({ search }: { search: AuditSearch }) {
  const { change, onSearch } = useListChange();
  const setUser = useCallback((user: string) => change({ user }), [change]);
  const setAction = useCallback((action: string) => change({ action }), [change]);
  const setStatus = useCallback((status: string) => change({ status: status.replace(/\D/g, '') }), [change]);
  return (
    <ListToolbar label={own.searchLabel} placeholder={own.search} value={search.q ?? ''} onSearch={onSearch}>
      <FilterText label={own.user} value={search.user ?? ''} onChange={setUser} />
      <FilterText label={own.action} value={search.action ?? ''} onChange={setAction} />
      <FilterText label={own.status} inputMode="numeric" value={search.status ?? ''} onChange={setStatus} />
      <FilterSelect
        label={own.method}
        value={search.method ?? ''}
        onChange={event => change({ method: event.target.value })}
        options={[{ value: '', label: own.anyMethod }, ...methods.map(it => ({ value: it, label: it }))]}
      />
      <DayFilter label={own.from} value={search.from_date ?? ''} onChange={from_date => change({ from_date })} />
      <DayFilter label={own.to} value={search.to_date ?? ''} onChange={to_date => change({ to_date })} />
    </ListToolbar>
  );
}

interface DayFilterProps {
  readonly label: string;
  readonly value: string;
  onChange(day: string): void;
}

const DayFilter = ({ label, value, onChange }: DayFilterProps) => (
  <label className="flex items-center gap-2 text-small text-dim">
    {label}
    <input type="date" className={dayInput} value={value} onChange={event => onChange(event.target.value)} />
  </label>
);

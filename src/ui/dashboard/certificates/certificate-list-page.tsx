import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { BadgeCheck, Upload } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import { IdText } from '../../kit/copy.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { FilterSelect } from '../../kit/field.tsx';
import { useListChange } from '../../kit/list-search.ts';
import { ListToolbar } from '../../kit/list-toolbar.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { listColumnTexts } from '../../texts/en/list-columns.ts';
import { texts } from '../../texts/texts.ts';
import { usePermission } from '../session/session.ts';
import { CertificateState } from './certificate-state.tsx';
import { DeleteCertificateDialog } from './delete-certificate-dialog.tsx';
import { UploadDialog } from './upload-dialog.tsx';

const own = texts.certificates;
type CertificateItem = NonNullable<ResultOf<'GET /api/certs'>['cert_basics']>[number];
type ListQuery = NonNullable<ArgumentsOf<'GET /api/certs'>['query']>;
const nameOf = ({ subject_cn, dns_names }: CertificateItem) => subject_cn || dns_names[0] || own.noSubject;
const yesOrNo = (is: boolean) => (is ? texts.kit.yes : texts.kit.no);
const toOptions = (all: string, values: Readonly<Record<string, string>>) => [
  { value: '', label: all },
  ...Object.entries(values).map(([value, label]) => ({ value, label })),
];

const columns: readonly Column<CertificateItem>[] = [
  {
    id: 'subject',
    title: own.columns.subject,
    cell: certificate => (
      <Link to="/certificates/$certId" params={{ certId: certificate.id }} className="row-link">
        {nameOf(certificate)}
      </Link>
    ),
  },
  { id: 'state', title: own.columns.state, cell: certificate => <CertificateState certificate={certificate} /> },
  { id: 'until', title: own.columns.until, cell: ({ not_after }) => <TimeText time={not_after} /> },
  {
    id: 'names',
    title: own.columns.names,
    cell: ({ dns_names }) => <span className="break-all">{dns_names.join(', ') || '–'}</span>,
  },
  { id: 'issuer', title: own.columns.issuer, cell: ({ issuer_cn }) => issuer_cn || '–' },
  { id: 'key', title: own.columns.key, cell: ({ has_private }) => yesOrNo(has_private) },
  { id: 'authority', title: own.columns.authority, cell: ({ is_ca }) => yesOrNo(is_ca) },
  { id: 'id', title: own.columns.id, cell: ({ id }) => <IdText id={id} maxChars={10} /> },
];

export function CertificateListPage() {
  const canWrite = usePermission('certs:write');
  const [isUploading, setUploading] = useState(false);
  const upload = canWrite && (
    <Button kind="primary" icon={Upload} data-new onClick={() => setUploading(true)}>
      {own.upload}
    </Button>
  );
  return (
    <PageFrame title={own.title} actions={upload}>
      <CertificateList canWrite={canWrite} />
      {isUploading && <UploadDialog onClose={() => setUploading(false)} />}
    </PageFrame>
  );
}

function CertificateList({ canWrite }: { canWrite: boolean }) {
  const { q = '', p = 1, sort: _sort, ...filters } = useSearch({ from: '/shell/certificates' });
  const { change, onSearch, clear } = useListChange();
  const navigate = useNavigate();
  const [pending, setPending] = useState<CertificateItem>();
  const query = { q, p, mode: 'detailed', ...filters } as ListQuery;
  const list = useOperation('GET /api/certs', { query }, { keepPrevious: true });
  if (!list.data) return <QueryState query={list} />;
  const rows = list.data.value.cert_basics ?? [];
  if (rows.length === 0 && q === '' && Object.keys(filters).length === 0 && p === 1)
    return (
      <Notice icon={BadgeCheck} title={own.emptyTitle}>
        {own.emptyAbout}
      </Notice>
    );
  const actionsOf = ({ id, ...rest }: CertificateItem) => [
    { label: own.open, onSelect: () => void navigate({ to: '/certificates/$certId', params: { certId: id } }) },
    'line' as const,
    { label: own.delete, isDanger: true, onSelect: () => setPending({ id, ...rest }) },
  ];
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
        {...(canWrite ? { actions: actionsOf } : {})}
        toolbar={
          <ListToolbar label={own.searchLabel} placeholder={own.search} value={q} onSearch={onSearch}>
            <CertificateFilters filters={filters} change={change} />
          </ListToolbar>
        }
      />
      <DeleteCertificateDialog
        certificate={pending && { id: pending.id, name: nameOf(pending) }}
        onClose={() => setPending(undefined)}
      />
    </>
  );
}

interface CertificateFiltersProps {
  readonly filters: Readonly<Partial<Record<'state' | 'filter' | 'is_ca', string>>>;
  change(some: Readonly<Record<string, string>>): void;
}

const CertificateFilters = ({ filters, change }: CertificateFiltersProps) => (
  <>
    <FilterSelect
      label={own.anyState}
      value={filters.state ?? ''}
      onChange={event => change({ state: event.target.value })}
      options={toOptions(own.anyState, own.states)}
    />
    <FilterSelect
      label={own.columns.key}
      value={filters.filter ?? ''}
      onChange={event => change({ filter: event.target.value })}
      options={toOptions(own.anyKey, own.keyFilters)}
    />
    <FilterSelect
      label={own.columns.authority}
      value={filters.is_ca ?? ''}
      onChange={event => change({ is_ca: event.target.value })}
      options={toOptions(listColumnTexts.anyAuthority, listColumnTexts.authorities)}
    />
  </>
);

import { Link } from '@tanstack/react-router';
import { StatusPill } from '../../kit/badge.tsx';
import { formatMs, formatNumber, formatPercent } from '../../kit/format.ts';
import { texts } from '../../texts/texts.ts';
import { statusTone } from '../logs/log-columns.tsx';
import { RefusalText } from '../logs/refusal-text.tsx';
import { usePermission } from '../session/session.ts';
import { type TopColumn, TopTable } from './top-table.tsx';
import { toLogSearch, type UsageCount, type UsageScope } from './usage-filters.ts';

const own = texts.analytics;
const noKeyHash = '00000000';
const errorsOnly = 'only';
const linkClass = 'inline-flex min-h-6 items-center text-left text-accent-ink break-words hover:underline';

const countColumns: readonly TopColumn[] = [
  { title: own.columns.requests, align: 'right', cell: ({ hits }) => formatNumber(hits) },
  { title: own.meanLatency, align: 'right', cell: ({ latency }) => formatMs(latency) },
];

interface TopProps {
  readonly scope: UsageScope;
  onNarrow(change: { readonly api_id?: string; readonly key?: string; readonly tags?: string }): void;
}

/** Count of errors, with a link to them for users who may read logs. */
const errorColumn = (scope: UsageScope, canReadLogs: boolean, narrow: (item: UsageCount) => object): TopColumn => ({
  title: own.columns.errors,
  align: 'right',
  cell: item => {
    const text = `${formatNumber(item.error)} (${formatPercent(item.hits === 0 ? 0 : item.error / item.hits)})`;
    if (item.error === 0 || !canReadLogs) return text;
    return (
      <Link
        to="/logs"
        search={toLogSearch(scope, { ...narrow(item), errors: errorsOnly })}
        aria-label={own.seeErrors(formatNumber(item.error))}
        className={linkClass}
      >
        {text}
      </Link>
    );
  },
});

export function TopApis({ scope, onNarrow }: TopProps) {
  const canReadLogs = usePermission('log');
  const nameOf = ({ id }: UsageCount) => id.api_name || id.api_id;
  const nameColumn: TopColumn = {
    title: own.columns.api,
    cell: item => (
      <button
        type="button"
        className={linkClass}
        title={own.narrowTo(nameOf(item))}
        onClick={() => onNarrow({ api_id: item.id.api_id })}
      >
        {nameOf(item)}
      </button>
    ),
  };
  return (
    <TopTable
      title={own.topApis}
      scope={scope}
      query={{ group_by: 'api_id' }}
      idOf={({ id }) => id.api_id}
      columns={[nameColumn, ...countColumns, errorColumn(scope, canReadLogs, ({ id }) => ({ api_id: id.api_id }))]}
      emptyText={own.emptyTitle}
    />
  );
}

export function TopKeys({ scope, onNarrow }: TopProps) {
  const canReadLogs = usePermission('log');
  const nameColumn: TopColumn = {
    title: own.columns.key,
    cell: ({ id: { key, alias } }) => (
      <button type="button" className={linkClass} title={own.narrowTo(key)} onClick={() => onNarrow({ key })}>
        {alias || (key === noKeyHash ? own.noKey : <code className="font-mono text-small break-all">{key}</code>)}
      </button>
    ),
  };
  return (
    <TopTable
      title={own.topKeys}
      scope={scope}
      query={{ group_by: 'key' }}
      idOf={({ id }) => id.key}
      columns={[nameColumn, ...countColumns, errorColumn(scope, canReadLogs, ({ id }) => ({ key: id.key }))]}
      emptyText={own.emptyTitle}
    />
  );
}

/** A request counts under each of its tags. */
export function TopTags({ scope, onNarrow }: TopProps) {
  const canReadLogs = usePermission('log');
  const nameColumn: TopColumn = {
    title: own.columns.tag,
    cell: ({ id: { tag } }) =>
      canNarrow(tag) ? (
        <button type="button" className={linkClass} title={own.narrowTo(tag)} onClick={() => onNarrow({ tags: tag })}>
          {tag}
        </button>
      ) : (
        tag || <span className="text-dim">{own.noTag}</span>
      ),
  };
  return (
    <TopTable
      title={own.topTags}
      scope={scope}
      query={{ group_by: 'tag' }}
      idOf={({ id }) => id.tag}
      columns={[
        nameColumn,
        ...countColumns,
        errorColumn(scope, canReadLogs, ({ id: { tag } }) => (canNarrow(tag) ? { tags: tag } : {})),
      ]}
      emptyText={own.emptyTitle}
    />
  );
}

/** A comma separates the tags of the filter. */
const canNarrow = (tag: string) => tag !== '' && !tag.includes(',');

/** Errors by status and by what refused the request. */
export function ErrorReasons({ scope }: { scope: UsageScope }) {
  const canReadLogs = usePermission('log');
  const columns: readonly TopColumn[] = [
    {
      title: own.columns.code,
      cell: ({ id: { code } }) => <StatusPill tone={statusTone(code)}>{code}</StatusPill>,
    },
    {
      title: own.columns.refusal,
      cell: ({ id: { refusal } }) =>
        refusal ? <RefusalText code={refusal} /> : <span className="text-dim">{own.fromUpstream}</span>,
    },
    {
      title: own.columns.errors,
      align: 'right',
      cell: ({ id: { code }, hits }) =>
        canReadLogs ? (
          <Link
            to="/logs"
            search={toLogSearch(scope, { status: String(code), errors: errorsOnly })}
            aria-label={own.seeErrors(formatNumber(hits))}
            className={linkClass}
          >
            {formatNumber(hits)}
          </Link>
        ) : (
          formatNumber(hits)
        ),
    },
  ];
  return (
    <TopTable
      title={own.errorReasons}
      scope={scope}
      query={{ group_by: 'code,refusal', errors: 1 }}
      idOf={({ id }) => `${id.code} ${id.refusal}`}
      columns={columns}
      emptyText={own.noErrors}
    />
  );
}

import { toRefusalText } from '../../kit/action-text.ts';
import { MethodBadge, StatusPill, type Tone } from '../../kit/badge.tsx';
import type { Column } from '../../kit/data-table.tsx';
import { formatMs } from '../../kit/format.ts';
import { PathText } from '../../kit/path-text.tsx';
import { texts } from '../../texts/texts.ts';
import { ClockTime } from './clock-time.tsx';
import type { LogRow, TailedRequest } from './log-filters.ts';

const own = texts.logs;
/** Hash of a request without a key. */
const noKeyHash = '00000000';

export const statusTone = (status: number): Tone =>
  status >= 500 || status === 0 ? 'danger' : status >= 400 ? 'warning' : 'success';

export const hasKey = ({ api_key }: TailedRequest): boolean => api_key !== '' && api_key !== noKeyHash;

export const describeKey = (call: TailedRequest): string =>
  call.alias || (hasKey(call) ? call.api_key : call.refusal === 'key_not_found' ? own.unknownKey : own.noKey);

/** Columns of requests; the path opens the details. */
export const createLogColumns = (onOpen: (row: LogRow) => void): readonly Column<LogRow>[] => [
  { id: 'time', title: own.columns.time, cell: ({ call }) => <ClockTime time={call.timestamp} /> },
  { id: 'method', title: own.columns.method, cell: ({ call }) => <MethodBadge method={call.method} /> },
  {
    id: 'path',
    title: own.columns.path,
    cell: row => (
      <button
        type="button"
        className="row-link min-h-6 max-w-md text-left font-mono text-small"
        aria-label={own.open(row.call.method, row.call.raw_path)}
        onClick={() => onOpen(row)}
      >
        <PathText path={row.call.raw_path} />
      </button>
    ),
  },
  { id: 'api', title: own.columns.api, cell: ({ call }) => call.api_name || call.api_id },
  {
    id: 'status',
    title: own.columns.status,
    cell: ({ call }) => (
      <span className="inline-flex flex-wrap items-center gap-2">
        <StatusPill tone={statusTone(call.response_code)}>{call.response_code}</StatusPill>
        {call.refusal && (
          <span className="text-small text-dim" title={call.refusal}>
            {toRefusalText(call.refusal)}
          </span>
        )}
      </span>
    ),
  },
  {
    id: 'duration',
    title: own.columns.duration,
    align: 'right',
    cell: ({ call }) => <span className="whitespace-nowrap">{formatMs(call.latency.total)}</span>,
  },
  {
    id: 'key',
    title: own.columns.key,
    cell: ({ call }) => (
      <span className={hasKey(call) ? 'block max-w-48 truncate' : 'whitespace-nowrap text-dim'} title={call.api_key}>
        {describeKey(call)}
      </span>
    ),
  },
  {
    id: 'address',
    title: own.columns.address,
    cell: ({ call }) => <code className="font-mono text-small">{call.ip_address}</code>,
  },
];

import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import type { ListSearch } from '../../kit/list-search.ts';
import type { TimeRange } from '../monitor/time-range.ts';

/** Filters of the logs in the address. */
export const logFilterNames = ['range', 'start', 'end', 'api_id', 'key', 'status', 'errors', 'tags', 'live'] as const;
export type LogSearch = ListSearch<(typeof logFilterNames)[number]>;

export type LoggedRequest = ResultOf<'GET /api/logs'>['data'][number];
/** A request of the live tail, which has no headers and bodies. */
export type TailedRequest = Omit<LoggedRequest, 'raw_request' | 'raw_response'> &
  Partial<Pick<LoggedRequest, 'raw_request' | 'raw_response'>>;

export interface LogRow {
  readonly id: string;
  readonly call: TailedRequest;
}

/** Parameters that list, live tail and export share. Named: the server refuses others. */
export const toLogFilters = ({ api_id, key, status, errors, tags }: LogSearch) => ({
  ...(api_id ? { api_id } : {}),
  ...(key ? { key } : {}),
  ...(status ? { status } : {}),
  ...(errors ? { errors: '1' } : {}),
  ...(tags ? { tags } : {}),
});

export const toLogQuery = (search: LogSearch, { start, end }: TimeRange, p: number) =>
  ({ ...toLogFilters(search), start, end, p }) as unknown as ArgumentsOf<'GET /api/logs'>['query'];

export type LogExportType = 'csv' | 'ndjson';

export const toExportAddress = (search: LogSearch, { start, end }: TimeRange, type: LogExportType): string =>
  `/api/logs?${new URLSearchParams({ ...toLogFilters(search), start: String(start), end: String(end), type })}`;

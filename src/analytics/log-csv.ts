import type { z } from 'zod';
import { formatCsv } from '#operations/csv.ts';
import type { LoggedCall, logPage } from './schema.ts';

const columns = [
  'timestamp',
  'api_id',
  'api_name',
  'api_version',
  'method',
  'host',
  'path',
  'raw_path',
  'response_code',
  'refusal',
  'upstream_error',
  'api_key',
  'alias',
  'oauth_id',
  'ip_address',
  'user_agent',
  'content_length',
  'response_length',
  'request_time',
] as const satisfies readonly (keyof LoggedCall)[];

/** One line per request, without raw requests and responses; tags are separated by spaces. */
export function formatLogCsv({ data }: z.output<typeof logPage>): string {
  return formatCsv(
    [...columns, 'upstream_latency', 'gateway_latency', 'tags', 'request_id'],
    data.map(call => [
      ...columns.map(name => call[name]),
      call.latency.upstream,
      call.latency.gateway,
      call.tags.join(' '),
      call.request_id ?? '',
    ]),
  );
}

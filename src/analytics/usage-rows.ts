import { createHash } from 'node:crypto';
import type { UsageRow } from '#storage/analytics-tables.ts';
import type { CallRecord } from './batch.ts';

export const minuteMs = 60_000;
/** Replaces folded paths and, above a second bound, folded keys and clients. */
export const otherName = 'other';

/** Dimensions that identify a row. */
export type Dimensions = Pick<
  UsageRow,
  | 'minute'
  | 'org_id'
  | 'api_id'
  | 'version'
  | 'key_hash'
  | 'oauth_id'
  | 'path'
  | 'method'
  | 'country'
  | 'user_agent'
  | 'status'
  | 'refusal'
  | 'mcp_method'
  | 'mcp_primitive_type'
  | 'mcp_primitive_name'
  | 'tag_set'
>;

export const rowNameOf = (it: Dimensions): string =>
  `${it.minute}\n${it.org_id}\n${it.api_id}\n${it.version}\n${it.key_hash}\n${it.oauth_id}\n` +
  `${it.path}\n${it.method}\n${it.country}\n${it.user_agent}\n${it.status}\n${it.refusal}` +
  (it.tag_set && `\n${it.tag_set}`) +
  nameMcpPart(it);

/** JSON: methods and names are texts of clients, which may have line breaks. */
const nameMcpPart = ({ mcp_method, mcp_primitive_type, mcp_primitive_name }: Dimensions): string =>
  mcp_method === '' ? '' : JSON.stringify([mcp_method, mcp_primitive_type, mcp_primitive_name]);

/** Truncated SHA-256: short enough for an index, collision-resistant. */
export const digestRowName = (name: string): string =>
  createHash('sha256').update(name).digest('base64url').slice(0, 22);

export const toMicros = (ms: number) => Math.round(ms * 1000);

/** A row without any calls yet. */
export function createUsageRow(dimensions: Dimensions, expires_at: number): UsageRow {
  return {
    ...dimensions,
    id: '',
    api_name: '',
    alias: '',
    hits: 0,
    last_hit: 0,
    total_us: 0,
    min_us: 0,
    max_us: 0,
    upstream_hits: 0,
    upstream_us: 0,
    min_upstream_us: 0,
    max_upstream_us: 0,
    request_bytes: 0,
    answer_bytes: 0,
    expires_at,
  };
}

/** Counts one call in its row. */
export function countCall(row: UsageRow, record: CallRecord): void {
  const total = toMicros(record.number('totalMs'));
  const upstream = toMicros(record.number('upstreamMs'));
  row.min_us = row.hits === 0 ? total : Math.min(row.min_us, total);
  row.max_us = Math.max(row.max_us, total);
  row.total_us += total;
  row.hits++;
  if (upstream > 0) {
    row.min_upstream_us = row.upstream_hits === 0 ? upstream : Math.min(row.min_upstream_us, upstream);
    row.max_upstream_us = Math.max(row.max_upstream_us, upstream);
    row.upstream_us += upstream;
    row.upstream_hits++;
  }
  row.request_bytes += record.number('requestBytes');
  row.answer_bytes += record.number('answerBytes');
  row.last_hit = Math.max(row.last_hit, record.number('atMs'));
  row.api_name = record.api.name;
  row.alias = record.word('alias');
}

/** Adds an unwritten row to a newer row of the same dimensions. */
export function mergeUsageRow(into: UsageRow, row: UsageRow): void {
  into.min_us = Math.min(into.min_us, row.min_us);
  into.max_us = Math.max(into.max_us, row.max_us);
  if (row.upstream_hits > 0)
    into.min_upstream_us =
      into.upstream_hits === 0 ? row.min_upstream_us : Math.min(into.min_upstream_us, row.min_upstream_us);
  into.max_upstream_us = Math.max(into.max_upstream_us, row.max_upstream_us);
  into.last_hit = Math.max(into.last_hit, row.last_hit);
  for (const sum of ['hits', 'total_us', 'upstream_hits', 'upstream_us', 'request_bytes', 'answer_bytes'] as const)
    into[sum] += row[sum];
}

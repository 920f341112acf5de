import { formatIsoTime } from '#base/clock.ts';
import { type CallRecord, tagSeparator } from './batch.ts';
import type { GeoPlace } from './geo/geo-database.ts';
import type { LogEntry } from './log-store.ts';

/** `expireAt` without any retention. */
const foreverMs = 100 * 365 * 86_400_000;

const roundToMicros = (ms: number) => Math.round(ms * 1000) / 1000;

/** Log entry of a call. `retentionMs` is the retention of the installation; 0 is unlimited. */
export function toLogEntry(record: CallRecord, retentionMs: number, geo?: GeoPlace): LogEntry {
  const { api } = record;
  const at = record.number('atMs');
  const time = new Date(at);
  const total = roundToMicros(record.number('totalMs'));
  const upstream = roundToMicros(record.number('upstreamMs'));
  const status = record.number('status');
  const refusal = record.word('refusal');
  const key = record.word('keyHash');
  const tags = record.word('tags');
  const ownMs = Math.max(0, api.retentionSeconds) * 1000;
  return {
    at,
    failed: status >= 400 || refusal !== '',
    expiresAt: ownMs && at + ownMs,
    call: {
      timestamp: formatIsoTime(at),
      request_id: record.word('requestId'),
      day: time.getUTCDate(),
      month: time.getUTCMonth() + 1,
      year: time.getUTCFullYear(),
      hour: time.getUTCHours(),
      method: record.word('method'),
      ...describeMcpCall(record),
      ...describeGraphqlCall(record),
      host: record.word('host'),
      path: record.word('path'),
      raw_path: record.word('rawPath'),
      original_path: record.word('originalPath'),
      listen_path: api.listenPath,
      track_path: record.number('trackedPath') === 1,
      content_length: record.number('requestBytes'),
      response_length: record.number('answerBytes'),
      user_agent: record.word('userAgent'),
      ip_address: record.word('address'),
      response_code: status,
      refusal,
      upstream_error: record.word('upstreamError'),
      api_key: key,
      alias: record.word('alias'),
      oauth_id: record.word('oauthId'),
      api_version: record.word('version'),
      api_name: api.name,
      api_id: api.id,
      org_id: api.orgId,
      request_time: total,
      latency: { total, upstream, gateway: roundToMicros(Math.max(0, total - upstream)) },
      ...(geo ? { geo } : {}),
      tags: [`key-${key}`, `org-${api.orgId}`, `api-${api.id}`, ...api.tags, ...(tags ? tags.split(tagSeparator) : [])],
      raw_request: record.word('rawRequest'),
      raw_response: record.word('rawResponse'),
      expireAt: formatIsoTime(at + Math.min(ownMs || foreverMs, retentionMs || foreverMs)),
    },
  };
}

/** Members of a call of an MCP proxy; a call of another API has none of them. */
function describeMcpCall(record: CallRecord) {
  const [method, type] = [record.word('mcpMethod'), record.word('mcpPrimitiveType')];
  if (method === '') return {};
  if (type === '') return { mcp_method: method };
  return { mcp_method: method, mcp_primitive_type: type, mcp_primitive_name: record.word('mcpPrimitiveName') };
}

/** Members of a call with a GraphQL operation; a call of another API has none of them. */
function describeGraphqlCall(record: CallRecord) {
  const [type, fields] = [record.word('graphqlType'), record.word('graphqlFields')];
  if (type === '') return {};
  return {
    graphql_operation_type: type,
    graphql_operation_name: record.word('graphqlName'),
    graphql_fields: fields === '' ? [] : fields.split(tagSeparator),
  };
}

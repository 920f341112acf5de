import type { Settings } from '#base/settings.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { InvalidRequestReport } from '../pipeline/invalid-request.ts';
import { readMaskedQuery } from '../pipeline/mask-query.ts';
import { ensureRequestId } from '../pipeline/request-id.ts';
import { formatUpstreamFailure, type UpstreamFailure } from '../pipeline/upstream-failure.ts';
import { formatLoggedBody, stripUrlSecrets } from './access-log-mask.ts';
import { type ApiAnalytics, readCredentialLocations } from './api-analytics.ts';
import {
  cacheTexts,
  createTimeFormats,
  formatMilliseconds,
  quoteCombined,
  quoteJson,
  toCombinedWord,
} from './log-text.ts';

/** End of a request, as record, metrics and access log have it. */
export interface RequestOutcome {
  readonly status: number;
  readonly totalMs: number;
  /** Refusal code; empty without one. */
  readonly refusal: string;
}

/** Formats lines of the access log, with their line feed. */
export interface AccessLogFormat {
  formatRequest(call: Exchange, api: ApiAnalytics | undefined, outcome: RequestOutcome): string;
  /** A request that could not be parsed or was invalid, at the time `atMs`. */
  formatInvalid(request: InvalidRequestReport, atMs: number): string;
}

export interface FormatOptions {
  readonly settings: Settings;
  /** Redacts secrets of definitions. */
  readonly redact: (text: string) => string;
}

/** Bounds of client-supplied texts in a line. */
const maxPathCharacters = 2048;
const maxFieldCharacters = 512;

const truncate = (text: string, max: number) => (text.length > max ? text.slice(0, max) : text);
const roundToMicros = (ms: number) => Math.round(ms * 1000) / 1000;

export function createAccessLogFormat(options: FormatOptions): AccessLogFormat {
  return options.settings['access_log.format'] === 'json' ? createJsonFormat(options) : createCombinedFormat(options);
}

/** Path as received, and the query where it is logged. */
function createTargetReader({ settings, redact }: FormatOptions) {
  const logsQuery = settings['access_log.query'];
  return (call: Exchange, api: ApiAnalytics | undefined): string => {
    const { target } = call;
    const at = target.indexOf('?');
    if (at < 0) return truncate(target, maxPathCharacters);
    const path = target.slice(0, at);
    const query = logsQuery ? redact(readMaskedQuery(call, api?.secrets.parameters)) : '';
    return truncate(query === '' ? path : `${path}?${query}`, maxPathCharacters);
  };
}

const readUserAgent = ({ headers }: Exchange) => truncate(headers.get('user-agent') ?? '', maxFieldCharacters);
const readReferer = ({ headers }: Exchange) =>
  truncate(stripUrlSecrets(headers.get('referer') ?? ''), maxFieldCharacters);
const readInvalidTarget = ({ target = '' }: InvalidRequestReport) =>
  truncate(stripUrlSecrets(target), maxPathCharacters);

/** Member with a leading comma; absent where the text is empty. */
const addMember = (name: string, text: string) => (text === '' ? '' : `,"${name}":${quoteJson(text)}`);

/** Members whose values many requests share, cached with their names. */
const createMemberFormats = (redact: FormatOptions['redact']) => ({
  client: cacheTexts(text => `,"client_address":${quoteJson(text)}`),
  host: cacheTexts(text => `,"host":${quoteJson(truncate(text, maxFieldCharacters))}`),
  keyHash: cacheTexts(text => addMember('key_hash', text)),
  alias: cacheTexts(text => addMember('alias', truncate(text, maxFieldCharacters))),
  userAgent: cacheTexts(text => addMember('user_agent', truncate(text, maxFieldCharacters))),
  referer: cacheTexts(text => addMember('referer', truncate(stripUrlSecrets(text), maxFieldCharacters))),
  upstreamAddress: (text: string) => addMember('upstream_address', redact(text)),
  upstreamError: (failure: UpstreamFailure) =>
    addMember('upstream_error', redact(truncate(formatUpstreamFailure(failure), maxFieldCharacters))),
});

function createJsonFormat(options: FormatOptions): AccessLogFormat {
  const readTarget = createTargetReader(options);
  const times = createTimeFormats();
  const members = createMemberFormats(options.redact);
  const formatBodies = options.settings['access_log.bodies'] ? createBodyMembers(options) : () => '';
  return {
    formatRequest(call, api, { status, totalMs, refusal }) {
      const { headers, upstreamMs } = call;
      // Of the rounded durations, so that they add up.
      const gatewayMs = Math.max(0, roundToMicros(totalMs) - roundToMicros(upstreamMs));
      return (
        `{"time":"${times.iso(call.receivedAtMs)}","request_id":"${ensureRequestId(call)}"` +
        `${members.client(call.clientAddress)},"method":"${call.receivedMethod}"` +
        `${members.host(call.host)},"path":${quoteJson(readTarget(call, api))}` +
        `,"protocol":"${call.protocol}","status":${status}` +
        `,"bytes_in":${call.body.length ?? 0},"bytes_out":${call.responseBytes}` +
        `,"duration_ms":${formatMilliseconds(totalMs)},"upstream_ms":${formatMilliseconds(upstreamMs)}` +
        `,"gateway_ms":${formatMilliseconds(gatewayMs)}` +
        (api === undefined ? '' : formatApiMembers(api)) +
        addMember('api_version', call.versionName) +
        members.keyHash(call.keyHash) +
        members.alias(call.session?.alias ?? '') +
        members.upstreamAddress(call.upstreamOrigin) +
        addMember('refusal', refusal) +
        (call.upstreamFailure ? members.upstreamError(call.upstreamFailure) : '') +
        addMember('trace_id', call.traceId) +
        members.userAgent(headers.get('user-agent') ?? '') +
        members.referer(headers.get('referer') ?? '') +
        formatBodies(call, api) +
        '}\n'
      );
    },
    formatInvalid(request, atMs) {
      const { peer, protocol, status, fault, method = '' } = request;
      return (
        `{"time":"${times.iso(atMs)}"${members.client(peer.address)}` +
        addMember('method', truncate(method, maxFieldCharacters)) +
        addMember('path', readInvalidTarget(request)) +
        `,"protocol":"${protocol}","status":${status},"reason":${quoteJson(fault)}}\n`
      );
    },
  };
}

/** Members that are the same for all requests of an API, formatted once. */
function formatApiMembers(api: ApiAnalytics): string {
  const { id, name, orgId } = api.facts;
  api.accessLogMembers ||=
    addMember('api_id', id) + addMember('api_name', truncate(name, maxFieldCharacters)) + addMember('org_id', orgId);
  return api.accessLogMembers;
}

/** Bodies that are buffered anyway, never those of requests without a record, which carry credentials. */
function createBodyMembers({ settings, redact }: FormatOptions) {
  const maxBytes = settings['access_log.max_body_bytes'];
  return (call: Exchange, api: ApiAnalytics | undefined): string => {
    if (api === undefined || !call.isRecorded) return '';
    const request = readCredentialLocations(call, api).requestBody ? undefined : call.body.bytes;
    return (
      addMember('request_body', formatLoggedBody(request, maxBytes, redact)) +
      addMember('response_body', formatLoggedBody(call.response?.body.bytes, maxBytes, redact))
    );
  };
}

function createCombinedFormat(options: FormatOptions): AccessLogFormat {
  const readTarget = createTargetReader(options);
  const times = createTimeFormats();
  const quoteOptional = (text: string) => (text === '' ? '"-"' : quoteCombined(text));
  return {
    formatRequest(call, api, { status, totalMs }) {
      const user = toCombinedWord(truncate(call.session?.alias || call.keyHash, maxFieldCharacters));
      const line = `${call.receivedMethod} ${readTarget(call, api)} ${call.protocol}`;
      return (
        `${toCombinedWord(call.clientAddress)} - ${user} [${times.common(call.receivedAtMs)}] ${quoteCombined(line)} ` +
        `${status} ${call.responseBytes} ${quoteOptional(readReferer(call))} ${quoteOptional(readUserAgent(call))} ` +
        `${(totalMs / 1000).toFixed(6)}\n`
      );
    },
    formatInvalid(request, atMs) {
      const { peer, protocol, status, method = '' } = request;
      const target = readInvalidTarget(request);
      const line = target === '' ? '' : `${truncate(method, maxFieldCharacters)} ${target} ${protocol}`;
      return (
        `${toCombinedWord(peer.address)} - - [${times.common(atMs)}] ${quoteOptional(line)} ` +
        `${status} 0 "-" "-" 0.000000\n`
      );
    },
  };
}

import { describeError } from '#base/describe-error.ts';
import { problem as bodyProblem } from '../http/body.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import type { UpstreamFailure, UpstreamFailureReason } from '../pipeline/upstream-failure.ts';
import { upstreamErrors } from './http1/errors.ts';
import { describeOpenSslError, TlsHandshakeError } from './tls-errors.ts';

export class ResponseTooLarge extends Error {
  constructor() {
    super('the response body is larger than allowed');
  }
}

export class UpstreamBusy extends Error {}

/** Codes of Node, undici, the HTTP/1.1 engine and the address policy. */
const reasonsByCode: ReadonlyMap<string, UpstreamFailureReason> = new Map([
  ...listCodes('connection_refused', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN'),
  ...listCodes('connection_refused', upstreamErrors.proxyRefused),
  ...listCodes('name_not_resolved', 'ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_NONAME', 'EAI_FAIL'),
  ...listCodes('tls_failed', 'EPROTO', upstreamErrors.identity),
  ...listCodes('connect_timed_out', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'),
  ...listCodes('response_timed_out', upstreamErrors.timeout, upstreamErrors.headersTimeout, 'UND_ERR_BODY_TIMEOUT'),
  ...listCodes(
    'connection_reset',
    upstreamErrors.socket,
    'ECONNRESET',
    'ECONNABORTED',
    'EPIPE',
    upstreamErrors.truncated,
  ),
  ...listCodes('connection_reset', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_HTTP2_STREAM_ERROR', 'ERR_HTTP2_SESSION_ERROR'),
  ...listCodes('connection_reset', 'ERR_HTTP2_STREAM_CANCEL', 'ERR_HTTP2_GOAWAY_SESSION'),
  ...listCodes('address_refused', 'GW_ADDRESS_REFUSED'),
  ...listCodes('invalid_response', 'GW_HTTP1_INVALID', upstreamErrors.invalidResponse, 'UND_ERR_HEADERS_OVERFLOW'),
  ...listCodes('invalid_response', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'UND_ERR_RESPONSE', 'ERR_HTTP2_ERROR'),
  ...listCodes('too_busy', upstreamErrors.queueFull),
]);

function listCodes(reason: UpstreamFailureReason, ...codes: string[]): [code: string, reason: UpstreamFailureReason][] {
  return codes.map(code => [code, reason]);
}

function findReason(error: Error): UpstreamFailureReason {
  if (error instanceof TlsHandshakeError) return 'tls_failed';
  if (error instanceof UpstreamBusy) return 'too_busy';
  if (error instanceof ResponseTooLarge) return 'invalid_response';
  const { code = '' } = error as { code?: string };
  const reason = reasonsByCode.get(code);
  if (reason) return reason;
  if (code.startsWith('ERR_SSL_')) return 'tls_failed';
  // Parse errors of Node have a code, those of undici sometimes only a name.
  return code.startsWith('HPE_') || error.name === 'HTTPParserError' ? 'invalid_response' : 'unknown';
}

/** Bound of the detail, parts of which the upstream may have chosen; control and format characters are removed. */
const maxDetailCharacters = 500;

export function toUpstreamFailure(error: Error): UpstreamFailure {
  const reason = findReason(error);
  const isRaw = reason === 'tls_failed' && 'reason' in error;
  const text = isRaw ? describeOpenSslError(error) : describeError(error);
  return { reason, detail: text.slice(0, maxDetailCharacters).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ') };
}

const refusalsByReason: Partial<Readonly<Record<UpstreamFailureReason, RefusalCode>>> = {
  name_not_resolved: 'upstream_dns_failed',
  connect_timed_out: 'upstream_timeout',
  response_timed_out: 'upstream_timeout',
  address_refused: 'upstream_address_refused',
  too_busy: 'upstream_busy',
};

/** Failures that the client caused: its disconnect, or its body. */
function findClientFault(call: Exchange, error: Error): RefusalCode | undefined {
  if (call.isClientDisconnected) return 'client_disconnected';
  if (call.sessionEndCode !== '') return call.sessionEndCode;
  const { code = '' } = error as { code?: string };
  if (code === bodyProblem.too_large.code) return 'body_too_large';
  return code === bodyProblem.too_slow.code ? 'body_too_slow' : undefined;
}

/** Time of an upstream that failed before its response was passed on: until the failure, such as a timeout. */
function setFailedUpstreamTime(call: Exchange, clientFault: RefusalCode | undefined): void {
  const isUpstreamTime = clientFault === undefined || clientFault === 'client_disconnected';
  if (isUpstreamTime && call.upstreamStartedAt > 0 && call.response === undefined)
    call.upstreamMs = performance.now() - call.upstreamStartedAt;
}

/** Classifies the failure of an upstream request: sets `upstreamFailure`, unless the client is at fault. */
export function classifyUpstreamFailure(call: Exchange, error: Error): RefusalCode {
  const clientFault = findClientFault(call, error);
  setFailedUpstreamTime(call, clientFault);
  if (clientFault) return clientFault;
  const failure = toUpstreamFailure(error);
  call.upstreamFailure = failure;
  return error instanceof ResponseTooLarge
    ? 'response_too_large'
    : (refusalsByReason[failure.reason] ?? 'upstream_failed');
}

/** Safe methods (RFC 9110, 9.2.1): the upstream may have handled a request whose connection it closed. */
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Retry only when a reused connection was closed before any response byte, for a safe request without a body.
 * A fresh connection that closes is an upstream failure.
 */
export function isRetryable(error: Error, call: Exchange, method: string): boolean {
  const { code, socket } = error as { code?: string; socket?: { bytesRead?: number } };
  return (
    (code === upstreamErrors.socket || code === 'ECONNRESET') &&
    (socket?.bytesRead ?? 0) > 0 &&
    !call.isClientDisconnected &&
    call.body.isEmpty &&
    safeMethods.has(method)
  );
}

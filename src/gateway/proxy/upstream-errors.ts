import { problem as bodyProblem } from '../http/body.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import { upstreamErrors } from './http1/errors.ts';

export class ResponseTooLarge extends Error {}

export class UpstreamBusy extends Error {}

export const upstreamTimeoutCode = 'GW_UPSTREAM_TIMEOUT';

const timeoutErrors = new Set([
  upstreamTimeoutCode,
  upstreamErrors.headersTimeout,
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const dnsErrors = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_NONAME']);

/** Refusal of a request whose upstream request failed. */
export function toRefusalCode(call: Exchange, error: Error): RefusalCode {
  if (call.isClientDisconnected) return 'client_disconnected';
  if (error instanceof ResponseTooLarge) return 'response_too_large';
  if (error instanceof UpstreamBusy) return 'upstream_busy';
  const { code = '' } = error as { code?: string };
  if (code === bodyProblem.too_large.code) return 'body_too_large';
  if (code === bodyProblem.too_slow.code) return 'body_too_slow';
  if (code === upstreamErrors.queueFull) return 'upstream_busy';
  if (timeoutErrors.has(code)) return 'upstream_timeout';
  if (code === 'GW_ADDRESS_REFUSED') return 'upstream_address_refused';
  // Everything else: refused, reset, TLS handshake, certificate, invalid response.
  return dnsErrors.has(code) ? 'upstream_dns_failed' : 'upstream_failed';
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

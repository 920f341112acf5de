import type { Duplex } from 'node:stream';
import { describeError } from '#base/describe-error.ts';
import type { Log } from '#base/log.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { Problem } from '#base/problems.ts';
import { toDatabaseProblem } from '#storage/database-errors.ts';
import { problem as bodyProblem, noBody, noBytes } from '../http/body.ts';
import { grpcHttpStatus, readGrpcType, toGrpcStatus, toTrailersOnly } from '../http/grpc.ts';
import type { HeaderList } from '../http/headers.ts';
import type { GatewayResponse } from '../http/response.ts';
import { bodyTooLargeResponse } from './body-limit.ts';
import {
  collectBodyCaptures,
  finalizeResponse,
  notifyFinished,
  notifyRefusal,
  notifyUpstreamResult,
  replaceRefusal,
  runResponseSteps,
} from './chain.ts';
import type { BodyCapture, Exchange } from './exchange.ts';
import { refusalResponse, refuse } from './refusals.ts';
import type { RefusalCode } from './refusals-table.ts';
import { ensureRequestId } from './request-id.ts';
import type { ResponseWriter } from './response-writer.ts';
import { toRpcError } from './rpc-error.ts';
import { formatUpstreamFailure } from './upstream-failure.ts';

/*
 * The only file that runs response steps and writes response heads, whether a step, an error or the upstream made the
 * response:
 *
 *   response of a step       respond                                       response phase, head, body, end
 *   refusal, cached response writeLocalReply                               head, body, end
 *   error                    handleError, failExchange                     a refusal, or an aborted connection
 *   upstream, streamed       runUpstreamResponsePhase, writeStreamHead     the proxy writes the body and the end
 *   upstream, buffered       runUpstreamResponsePhase, writeBufferedResponse
 *   upstream, replaced       runUpstreamResponsePhase, finalizeUpstreamResponse, writeLocalReply
 *   upstream, upgrade        runUpstreamResponsePhase, switchProtocol
 *   upstream, failed         handleUpstreamFailure, handleStreamFailure    a refusal, a stored response, or an abort
 *   outside of APIs          writeUnroutedResponse                         no chain, no record
 *
 * Every exchange of an API ends in finishExchange.
 */

/** Services of a thread for responses; created once. */
export interface Responder {
  readonly log: Log;
  /** Applies the error messages and error overrides of the gateway and the API to a refusal. */
  overrideRefusal(call: Exchange, response: GatewayResponse): void;
  /** Records a finished exchange; never waits. */
  record(call: Exchange, isComplete: boolean): void;
  /** Explanations: receives the reason of an upstream failure, which callers never see. */
  readonly onUpstreamFailure: ((call: Exchange, code: RefusalCode, reason: string) => void) | undefined;
}

/** Response of a step in place of the upstream. Never throws. */
export function respond(responder: Responder, call: Exchange, writer: ResponseWriter, response: GatewayResponse): void {
  try {
    if (response.isGatewayError || response.skipsResponseSteps)
      return writeLocalReply(responder, call, writer, response);
    const pending = runResponsePhase(call, response);
    if (pending instanceof Promise)
      pending
        .then(() => writeCaptured(responder, call, writer, response))
        .catch(error => failExchange(responder, call, writer, error));
    else writeCaptured(responder, call, writer, response);
  } catch (error) {
    failExchange(responder, call, writer, error);
  }
}

/** Local reply: a response of the gateway itself, without the response steps. */
export function writeLocalReply(
  responder: Responder,
  call: Exchange,
  writer: ResponseWriter,
  response: GatewayResponse,
): void {
  addExtraHeaders(call, response);
  writeResponse(responder, call, writer, response);
}

/** Response phase of an upstream response; a promise delays its head. */
export function runUpstreamResponsePhase(call: Exchange, response: GatewayResponse): MaybePromise<void> {
  call.response = response;
  call.status = response.status;
  if (call.chain) notifyUpstreamResult(call.chain, call, { status: response.status, failure: '' });
  return runResponsePhase(call, response);
}

/** After the response phase of an upstream response: the response to send in its place; undefined for itself. */
export function finalizeUpstreamResponse(call: Exchange, response: GatewayResponse): GatewayResponse | undefined {
  return call.chain && finalizeResponse(call.chain, call, response);
}

/** Head of an upstream response whose body streams, held for it. Returns the captures of its body. */
export function writeStreamHead(
  call: Exchange,
  writer: ResponseWriter,
  response: GatewayResponse,
): BodyCapture[] | undefined {
  const captures = call.chain && collectBodyCaptures(call.chain, call, response);
  writer.writeHead(response.status, response.headers.flat, response.headers.parsed, true);
  return captures;
}

/** Upstream response that was buffered for a step. */
export function writeBufferedResponse(call: Exchange, writer: ResponseWriter, response: GatewayResponse): void {
  captureWhole(call, response);
  writeWhole(call, writer, response);
}

/** Head of a 101 response; returns the connection of the client. */
export function switchProtocol(
  call: Exchange,
  writer: ResponseWriter,
  { headers }: GatewayResponse,
  onServerClose: () => void,
): Duplex {
  const upgradeHeaders = ['Connection', 'Upgrade', 'Upgrade', call.upgrade];
  return writer.switchProtocol!([...headers.flat, ...upgradeHeaders], onServerClose);
}

/** No response from the upstream; the exchange has the reason where the upstream is at fault. */
export function handleUpstreamFailure(
  responder: Responder,
  call: Exchange,
  writer: ResponseWriter,
  code: RefusalCode,
  error: Error,
): void {
  if (call.chain) notifyUpstreamResult(call.chain, call, { status: 0, failure: code });
  reportUpstreamFailure(responder, call, code, error);
  const replacement = call.chain && code !== 'client_disconnected' ? replaceRefusal(call.chain, call) : undefined;
  writeLocalReply(responder, call, writer, replacement ?? toUpstreamRefusal(call, code));
}

/** The upstream failed after the head was written: only closing the connection signals a truncated body. */
export function handleStreamFailure(
  responder: Responder,
  call: Exchange,
  writer: ResponseWriter,
  code: RefusalCode,
  error: Error,
): void {
  if (call.upstreamFailure) reportUpstreamFailure(responder, call, code, error);
  writer.abort();
}

function reportUpstreamFailure(responder: Responder, call: Exchange, code: RefusalCode, error: Error): void {
  const reason = call.upstreamFailure ? formatUpstreamFailure(call.upstreamFailure) : describeError(error);
  if (code !== 'client_disconnected')
    responder.log.warn({ api: call.api?.id, code, reason, request_id: ensureRequestId(call) }, 'upstream failed');
  responder.onUpstreamFailure?.(call, code, reason);
}

/** Error of a step, or of what runs around the steps, before a response head was written. */
export function handleError(responder: Responder, call: Exchange, writer: ResponseWriter, error: unknown): void {
  writeLocalReply(responder, call, writer, toRefusal(responder, call, error));
}

/** Error boundary outside the steps, also for promise callbacks; aborts a response that has begun. */
export function failExchange(responder: Responder, call: Exchange, writer: ResponseWriter, error: unknown): void {
  if (!call.response) return handleError(responder, call, writer, error);
  responder.log.error({ err: error, api: call.api?.id }, 'response failed, connection aborted');
  writer.abort();
  finishExchange(responder, call, false);
}

/** End of an exchange, whatever its outcome: the only place that runs `onFinish` hooks and records. */
export function finishExchange(responder: Responder, call: Exchange, isComplete: boolean): void {
  if (call.chain) notifyFinished(call.chain, call);
  responder.record(call, isComplete);
}

/** Response outside of any API: to an invalid request, of a health endpoint, of the control API. */
export function writeUnroutedResponse(
  writer: ResponseWriter,
  status: number,
  headers: string[],
  body: Uint8Array | undefined,
): void {
  writer.writeHead(status, headers, undefined, true);
  writer.end(body);
}

/** Trailers-Only response: gRPC clients read status and message from headers. */
export function writeTrailersOnly(
  writer: ResponseWriter,
  headers: HeaderList,
  type: string,
  grpcStatus: number,
  message: string,
): void {
  toTrailersOnly(headers, type, grpcStatus, message);
  writer.writeHead(grpcHttpStatus, headers.flat, undefined, true);
  writer.end();
}

export function deliverCaptures(captures: readonly BodyCapture[], bytes: Buffer | undefined): void {
  for (const { maxBytes, complete } of captures) complete(bytes && bytes.length <= maxBytes ? bytes : undefined);
}

/** Response phase: headers that earlier steps left for the response, then the response steps. */
function runResponsePhase(call: Exchange, response: GatewayResponse): MaybePromise<void> {
  addExtraHeaders(call, response);
  if (call.chain) return runResponseSteps(call.chain, call, response);
}

function addExtraHeaders(call: Exchange, response: GatewayResponse): void {
  if (call.extraResponseHeaders) response.headers.flat.push(...call.extraResponseHeaders);
  // Replaces the header of an upstream or a cached response that carries an id itself.
  if (call.requestIdHeader !== '') response.headers.set(call.requestIdHeader, call.requestId);
}

function writeCaptured(responder: Responder, call: Exchange, writer: ResponseWriter, response: GatewayResponse): void {
  captureWhole(call, response);
  writeResponse(responder, call, writer, response);
}

/** Captures of a body that is whole, before its head is written: an error of theirs still gets a refusal. */
function captureWhole(call: Exchange, response: GatewayResponse): void {
  if (call.chain === undefined || call.chain.captureBody.length === 0) return;
  setContentLength(response);
  const captures = collectBodyCaptures(call.chain, call, response);
  if (captures) deliverCaptures(captures, response.body.bytes ?? noBytes);
}

/** Writes a response that the gateway made, and ends the exchange. */
function writeResponse(responder: Responder, call: Exchange, writer: ResponseWriter, response: GatewayResponse): void {
  if (call.isClientDisconnected) return finishExchange(responder, call, false);
  let grpcType: string | undefined;
  if (response.isGatewayError) {
    if (call.chain) notifyRefusal(call.chain, call, response);
    responder.overrideRefusal(call, response);
    if (call.rpcMessage) toRpcError(call, response);
    grpcType = readGrpcType(call.receivedMethod, call.headers);
  }
  call.response = response;
  call.status = response.status;
  if (grpcType === undefined) writeWhole(call, writer, response);
  else refuseGrpc(call, writer, response, grpcType);
  finishExchange(responder, call, true);
}

function writeWhole(call: Exchange, writer: ResponseWriter, response: GatewayResponse): void {
  const { bytes } = response.body;
  setContentLength(response);
  call.responseBytes = bytes?.length ?? 0;
  writer.writeHead(response.status, response.headers.flat, response.headers.parsed, true);
  writer.end(call.receivedMethod === 'HEAD' ? undefined : bytes);
}

function setContentLength({ status, headers, body }: GatewayResponse): void {
  const length = status === 304 ? undefined : (body.bytes?.length ?? body.length);
  if (length === undefined) headers.remove('content-length');
  else headers.set('Content-Length', String(length));
}

/** Analytics keep the HTTP status, so that errors are counted as errors. */
function refuseGrpc(call: Exchange, writer: ResponseWriter, response: GatewayResponse, type: string): void {
  const message = response.message || (response.body.bytes?.toString() ?? '');
  response.body = noBody();
  writeTrailersOnly(writer, response.headers, type, toGrpcStatus(response.status, call.errorCode), message);
}

function toRefusal({ log }: Responder, call: Exchange, error: unknown): GatewayResponse {
  const { code } = error as { code?: string };
  if (code === bodyProblem.too_large.code) return bodyTooLargeResponse(call);
  if (code === bodyProblem.too_slow.code) return refuse(call, 'body_too_slow');
  const unavailable = toDatabaseProblem(error);
  if (unavailable) {
    // Fails closed: the key cannot be looked up. The response does not reveal where the database is.
    log.warn({ api: call.api?.id, reason: unavailable.message }, 'database unavailable, request refused');
    return refuse(call, 'database_unavailable');
  }
  if (error instanceof Problem && (error.status < 500 || error.status === 503)) {
    call.errorCode = error.code;
    return refusalResponse(call, error.status, error.message);
  }
  log.error({ err: error, api: call.api?.id }, 'step failed');
  return refuse(call, 'internal');
}

/** Retry-After of a request that found no upstream connection free. */
const busyRetrySeconds = 1;

function toUpstreamRefusal(call: Exchange, code: RefusalCode): GatewayResponse {
  if (code === 'body_too_large') return bodyTooLargeResponse(call);
  const refusal = refuse(call, code);
  if (code === 'upstream_busy') refusal.headers.append('Retry-After', String(busyRetrySeconds));
  return refusal;
}

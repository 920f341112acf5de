import type { Dispatcher } from 'undici';
import type { TimeoutEntry, TimeoutQueue } from '#base/timeout-queue.ts';
import { bodyFromBytes, problem as bodyProblem, noBody } from '../http/body.ts';
import { BodyBuffer } from '../http/body-buffer.ts';
import { HeaderList, hopByHopHeaders, removeConnectionHeaders } from '../http/headers.ts';
import { GatewayResponse } from '../http/response.ts';
import type { BodyCapture, Exchange } from '../pipeline/exchange.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import type { ResponseWriter } from '../pipeline/response-writer.ts';
import type { Admission, Admittable, Holder } from './admission.ts';
import type { ReleasePreread } from './body-preread.ts';

/** Callbacks of a proxied request; the engine implements them. */
export interface ProxyEvents {
  /** Bound of a response body. */
  readonly maxResponseBytes: number;
  /** Bound of a buffered response body. */
  readonly maxBufferedBytes: number;
  /** True when a step reads the whole body: `onHead` then gets a complete response. */
  buffersResponse(call: Exchange, response: GatewayResponse): boolean;
  /** Body captures, requested after `onHead`. */
  bodyCaptures(call: Exchange, response: GatewayResponse): BodyCapture[] | undefined;
  /** May change the head; a promise delays the body until it resolves. */
  onHead(call: Exchange, response: GatewayResponse): Promise<void> | void;
  /** The response was sent completely, or was truncated. */
  onEnd(call: Exchange, isComplete: boolean): void;
  /** No response from the upstream. */
  onFailure(call: Exchange, writer: ResponseWriter, code: RefusalCode, error: Error): void;
}

/** Idempotent methods (RFC 9110, 9.2.2), retried when a reused connection was closed. */
const idempotentMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** 1xx responses accepted; each restarts the headers timeout. */
const maxInformationalResponses = 16;

type Handler = Dispatcher.DispatchHandler;

/** Dispatcher with optional admission control. */
export type AdmittingPool = Pick<Dispatcher, 'dispatch'> & { readonly admission?: Admission };

/**
 * Proxies one request to the upstream and streams the response back with backpressure. One object per request, no
 * closures.
 */
export class ProxyRequest implements Handler, TimeoutEntry, Admittable {
  expiresAtMs = 0;
  state: Admittable['state'] = 'none';
  client: Holder | undefined = undefined;
  key: Holder | undefined = undefined;
  organisation: Holder | undefined = undefined;
  blocker: Holder | undefined = undefined;
  waitTimeout: TimeoutEntry | undefined = undefined;
  readonly #call: Exchange;
  readonly #writer: ResponseWriter;
  readonly #events: ProxyEvents;
  readonly #pool: AdmittingPool;
  readonly #options: Dispatcher.DispatchOptions;
  /** Enforced timeout, where it is not the default of the pool. */
  #timeouts: TimeoutQueue | undefined;
  /** Timeout of a buffered response. */
  readonly #bufferingTimeouts: TimeoutQueue;
  /** Set while preread bytes wait for a connection. */
  #releasePreread: ReleasePreread | undefined;
  /** The streamed body was partly or wholly preread. */
  #wasPreread = false;
  #informationalResponses = 0;
  #abort: ((error?: Error) => void) | undefined;
  #resume: (() => void) | undefined;
  /** Content-Length left; negative when unknown. */
  #remainingBytes = -1;
  #isHeadSent = false;
  #isEnded = false;
  #isRetried = false;
  #headPending: Promise<void> | undefined;
  /** Response that is buffered before its head is sent. */
  #buffered: { readonly given: GatewayResponse; readonly buffer: BodyBuffer } | undefined;
  #capture: { readonly captures: BodyCapture[]; readonly buffer: BodyBuffer } | undefined;

  constructor(
    call: Exchange,
    writer: ResponseWriter,
    events: ProxyEvents,
    pool: AdmittingPool,
    options: Dispatcher.DispatchOptions,
    bufferingTimeouts: TimeoutQueue,
  ) {
    this.#call = call;
    this.#writer = writer;
    this.#events = events;
    this.#pool = pool;
    this.#options = options;
    this.#timeouts = call.enforcedTimeout;
    this.#bufferingTimeouts = bufferingTimeouts;
  }

  /** `orgId`: organisation for admission; empty where one has the gateway to itself. */
  send(orgId = '', releasePreread?: ReleasePreread): void {
    this.#releasePreread = releasePreread;
    this.#wasPreread = releasePreread !== undefined;
    this.#timeouts?.start(this);
    const { admission } = this.#pool;
    const call = this.#call;
    const place = admission?.admit(this, call, orgId) ?? 'active';
    if (place === 'active') this.#dispatch();
    else if (place === 'refused') this.onError(new UpstreamBusy('too many requests wait for the upstream'));
    else call.onDisconnect = () => this.onError(new Error('the client left while its request waited for the upstream'));
  }

  onAdmitted(): void {
    this.#dispatch();
  }

  onWaitTimeout(): void {
    this.onError(new UpstreamBusy('no connection to the upstream was free in time'));
  }

  #dispatch(): void {
    this.#call.upstreamStartedAt = performance.now();
    this.#releasePreread?.(true);
    this.#releasePreread = undefined;
    try {
      this.#pool.dispatch(this.#options, this);
    } catch (error) {
      // Releases the admission slot.
      this.onError(error as Error);
    }
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort;
    const call = this.#call;
    if (call.isClientDisconnected || this.#isEnded) {
      abort();
      return;
    }
    call.onDisconnect = () => this.#abort?.();
  }

  /**
   * Upstream timeout: for the head, for the whole of a buffered response, and between chunks of a streamed one. Paused
   * while the client is slow to read.
   */
  onTimeout(): void {
    const abort = this.#abort;
    this.onError(Object.assign(new Error('the upstream timed out'), { code: 'GW_UPSTREAM_TIMEOUT' }));
    abort?.();
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    if (status < 200) {
      if (++this.#informationalResponses > maxInformationalResponses)
        this.#abort?.(new Error('too many informational responses'));
      return true;
    }
    const call = this.#call;
    call.upstreamMs = performance.now() - call.upstreamStartedAt;
    this.#resume = resume;
    const response = new GatewayResponse(status, this.#toHeaders(raw), noBody());
    if (this.#remainingBytes > this.#events.maxResponseBytes && this.#options.method !== 'HEAD' && status !== 304) {
      this.#abort?.(new ResponseTooLarge());
      return true;
    }
    const hasBody = this.#options.method !== 'HEAD' && status !== 204 && status !== 304;
    if (hasBody && this.#events.buffersResponse(call, response)) {
      this.#buffered = { given: response, buffer: new BodyBuffer() };
      if (!this.#timeouts) {
        this.#timeouts = this.#bufferingTimeouts;
        this.#timeouts.start(this);
      }
      return true;
    }
    this.#timeouts?.clear(this);
    const waiting = this.#events.onHead(call, response);
    if (waiting instanceof Promise) {
      this.#headPending = waiting.then(
        () => {
          this.#sendHead(response);
          resume();
        },
        error => this.onError(error as Error),
      );
      return false;
    }
    this.#sendHead(response);
    return true;
  }

  #toHeaders(raw: Buffer[]): HeaderList {
    const headers = new HeaderList();
    let connectionValue = '';
    for (let i = 0; i < raw.length; i += 2) {
      const name = raw[i]!.toString('latin1');
      const lower = name.toLowerCase();
      const value = raw[i + 1]!.toString('latin1');
      if (lower === 'connection') connectionValue = connectionValue ? `${connectionValue},${value}` : value;
      if (hopByHopHeaders.has(lower)) continue;
      if (lower === 'content-length') this.#remainingBytes = Number(value);
      headers.flat.push(name, value);
    }
    if (connectionValue !== '') removeConnectionHeaders(headers, connectionValue);
    return headers;
  }

  #sendHead(response: GatewayResponse): void {
    if (this.#isEnded) return;
    this.#isHeadSent = true;
    this.#adjustFraming(response);
    const captures = this.#events.bodyCaptures(this.#call, response);
    if (captures) this.#capture = { captures, buffer: new BodyBuffer() };
    this.#writer.onDrain = this.#timeouts ? () => this.#resumeUpstream() : this.#resume;
    this.#timeouts?.start(this);
    this.#writer.writeHead(response.status, response.headers.flat);
  }

  #resumeUpstream(): void {
    if (!this.#isEnded) this.#timeouts?.start(this);
    this.#resume?.();
  }

  /** Corrects the framing when a step changed the method to or from HEAD. */
  #adjustFraming(response: GatewayResponse): void {
    const { receivedMethod } = this.#call;
    if (receivedMethod === 'HEAD' || this.#options.method === 'HEAD') this.#remainingBytes = -1;
    if (receivedMethod !== 'HEAD' && this.#options.method === 'HEAD') response.headers.set('Content-Length', '0');
  }

  onData(chunk: Buffer): boolean {
    const call = this.#call;
    call.responseBytes += chunk.length;
    if (call.responseBytes > (this.#buffered ? this.#events.maxBufferedBytes : this.#events.maxResponseBytes)) {
      this.#abort?.(new ResponseTooLarge());
      return true;
    }
    if (this.#buffered) {
      this.#buffered.buffer.add(chunk);
      return true;
    }
    if (call.receivedMethod === 'HEAD') return true;
    if (this.#capture) this.#captureChunk(chunk);
    if (this.#remainingBytes >= 0) {
      this.#remainingBytes -= chunk.length;
      if (this.#remainingBytes === 0) {
        // The last chunk and the end are one write.
        this.#end(chunk);
        return true;
      }
    }
    const more = this.#writer.write(chunk);
    if (this.#timeouts) {
      if (more) this.#timeouts.start(this);
      else this.#timeouts.clear(this);
    }
    return more;
  }

  onComplete(trailers?: readonly (string | Buffer)[] | null): void {
    const after = toTrailers(trailers);
    if (this.#buffered) return this.#sendBuffered(this.#buffered.given, this.#buffered.buffer.bytes());
    if (this.#headPending && !this.#isHeadSent) this.#headPending.then(() => this.#end(undefined, after));
    else this.#end(undefined, after);
  }

  /** Runs the response phase on the buffered response, then sends it. */
  #sendBuffered(response: GatewayResponse, whole: Buffer): void {
    response.body = bodyFromBytes(whole);
    this.#timeouts?.clear(this);
    const send = () => {
      if (this.#isEnded) return;
      const bytes = response.body.bytes!;
      response.headers.set('Content-Length', String(bytes.length));
      this.#remainingBytes = -1;
      this.#call.responseBytes = bytes.length;
      this.#sendHead(response);
      if (this.#capture) this.#captureChunk(bytes);
      this.#end(this.#call.receivedMethod === 'HEAD' ? undefined : bytes);
    };
    const waiting = this.#events.onHead(this.#call, response);
    if (waiting instanceof Promise) this.#headPending = waiting.then(send, error => this.onError(error as Error));
    else send();
  }

  #captureChunk(chunk: Buffer): void {
    this.#capture!.buffer.add(chunk);
    if (this.#capture!.captures.every(({ maxBytes }) => this.#call.responseBytes > maxBytes))
      this.#endCapture(undefined);
  }

  #endCapture(bytes: Buffer | undefined): void {
    const capture = this.#capture;
    this.#capture = undefined;
    if (capture) deliverCaptures(capture.captures, bytes);
  }

  #end(last?: Buffer, trailers?: string[]): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#timeouts?.clear(this);
    this.#call.onDisconnect = undefined;
    if (this.#capture) this.#endCapture(this.#capture.buffer.bytes());
    this.#writer.end(last, trailers);
    this.#pool.admission?.release(this);
    this.#events.onEnd(this.#call, true);
  }

  onError(error: Error): void {
    if (this.#isEnded) return;
    const call = this.#call;
    if (!this.#isHeadSent && !this.#isRetried && this.#isRetryable(error)) {
      this.#isRetried = true;
      this.#dispatch();
      return;
    }
    this.#isEnded = true;
    this.#pool.admission?.release(this);
    this.#releasePreread?.(false);
    this.#timeouts?.clear(this);
    call.onDisconnect = undefined;
    this.#endCapture(undefined);
    if (!this.#isHeadSent) {
      this.#events.onFailure(call, this.#writer, toRefusalCode(call, error), error);
      return;
    }
    // The head is sent: only closing the connection tells the client that the body is truncated.
    this.#writer.abort();
    this.#events.onEnd(call, false);
  }

  /**
   * Retry only when a reused connection was closed before any response byte, for an idempotent request without a
   * streamed body. A fresh connection that closes is an upstream failure.
   */
  #isRetryable(error: Error): boolean {
    const { code, socket } = error as { code?: string; socket?: { bytesRead?: number } };
    return (
      (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET') &&
      (socket?.bytesRead ?? 0) > 0 &&
      this.#resume === undefined &&
      !this.#call.isClientDisconnected &&
      !this.#wasPreread &&
      this.#call.body.stream === undefined &&
      idempotentMethods.has(this.#options.method as string)
    );
  }
}

export function deliverCaptures(captures: readonly BodyCapture[], bytes: Buffer | undefined): void {
  for (const { maxBytes, complete } of captures) complete(bytes && bytes.length <= maxBytes ? bytes : undefined);
}

/** Fields that may not be trailers (RFC 9110, 6.5.1): they would change how the message is read. */
const forbiddenTrailers =
  /^(?:content-(?:length|type|encoding|range)|host|authorization|cookie|set-cookie|cache-control)$/;

function toTrailers(raw: readonly (string | Buffer)[] | null | undefined): string[] | undefined {
  if (!raw || raw.length === 0) return undefined;
  const trailers: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toString('latin1').toLowerCase();
    if (!hopByHopHeaders.has(name) && !forbiddenTrailers.test(name))
      trailers.push(raw[i]!.toString('latin1'), raw[i + 1]!.toString('latin1'));
  }
  return trailers;
}

class ResponseTooLarge extends Error {}

class UpstreamBusy extends Error {}

const timeoutErrors = new Set([
  'GW_UPSTREAM_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const dnsErrors = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_NONAME']);

export function toRefusalCode(call: Exchange, error: Error): RefusalCode {
  if (call.isClientDisconnected) return 'client_disconnected';
  if (error instanceof ResponseTooLarge) return 'response_too_large';
  if (error instanceof UpstreamBusy) return 'upstream_busy';
  const { code = '' } = error as { code?: string };
  if (code === bodyProblem.too_large.code) return 'body_too_large';
  if (code === bodyProblem.too_slow.code) return 'body_too_slow';
  if (timeoutErrors.has(code)) return 'upstream_timeout';
  if (code === 'GW_ADDRESS_REFUSED') return 'upstream_address_refused';
  return dnsErrors.has(code) ? 'upstream_dns_failed' : 'upstream_failed';
}

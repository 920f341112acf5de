import type { Dispatcher } from 'undici';
import { bodyFromBytes, problem as bodyProblem, noBody } from '../http/body.ts';
import { BodyBuffer } from '../http/body-buffer.ts';
import { HeaderList, hopByHopHeaders, removeConnectionHeaders } from '../http/headers.ts';
import { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { RefusalCode } from '../pipeline/refusals.ts';
import type { ResponseWriter } from '../pipeline/response-writer.ts';
import type { BodyCapture } from '../pipeline/step.ts';
import type { Admission, Admittable, Holder } from './admission.ts';
import type { ReleasePreread } from './body-preread.ts';
import type { TimeoutEntry, TimeoutQueue } from './timeout-queue.ts';

/** What happens around an answer of the upstream; the engine supplies it. */
export interface ProxyEvents {
  /** Bytes of a body that are taken of an upstream. */
  readonly maxResponseBytes: number;
  /** Bytes of a body that are held back for steps that need the whole of it. */
  readonly maxBufferedBytes: number;
  /** Whether a step needs the whole body: the answer is then complete when `onHead` gets it. */
  buffersResponse(call: Exchange, response: GatewayResponse): boolean;
  /** Whoever wants a copy of the body, once the head is settled. */
  bodyCaptures(call: Exchange, response: GatewayResponse): BodyCapture[] | undefined;
  /** May change the answer's head; a promise holds the body back until it is kept. */
  onHead(call: Exchange, response: GatewayResponse): Promise<void> | void;
  /** The answer has gone out completely, or can no longer. */
  onEnd(call: Exchange, isComplete: boolean): void;
  /** The upstream gave no answer. */
  onFailure(call: Exchange, writer: ResponseWriter, code: RefusalCode, error: Error): void;
}

/** Methods that may be sent again when a kept connection turned out to be closed. */
const idempotentMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** Heads that say that the answer is still to come; each begins the time for it anew. */
const maxInformationalResponses = 16;

type Handler = Dispatcher.DispatchHandler;

/** A connection pool, with the admission in front of it where it has one. */
export type AdmittingPool = Pick<Dispatcher, 'dispatch'> & { readonly admission?: Admission };

/**
 * Carries one call to the upstream and its answer back. An object per call, no closures: chunk by chunk from one socket
 * to the other, at the speed of the slower one.
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
  /** The time the upstream has, where it is not the usual one. */
  #timeouts: TimeoutQueue | undefined;
  /** The time it has for the whole of an answer that is held back until then. */
  readonly #bufferingTimeouts: TimeoutQueue;
  /** Set while the bytes that were read ahead of its body wait for a connection. */
  #releasePreread: ReleasePreread | undefined;
  /** Its body came as a stream, and all or some of it was read ahead. */
  #wasPreread = false;
  #informationalResponses = 0;
  #abort: ((error?: Error) => void) | undefined;
  #resume: (() => void) | undefined;
  /** Body bytes still to come; below zero when the upstream did not say how many. */
  #remainingBytes = -1;
  #isHeadSent = false;
  #isEnded = false;
  #isRetried = false;
  #headPending: Promise<void> | undefined;
  /** Set while the whole body is collected before anything goes out. */
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

  /** `orgId` is the organisation the request counts for at the upstream; empty where there is one alone. */
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
      // Its place must not be lost with it.
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
   * The upstream has used up its time: for its head, or for the whole answer where that is held; and once it goes out, for
   * any part of it. A caller that is slow to take it is not the upstream's fault.
   */
  onTimeout(): void {
    const abort = this.#abort;
    this.onError(Object.assign(new Error('the upstream used up its time'), { code: 'GW_UPSTREAM_LATE' }));
    abort?.();
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    if (status < 200) {
      if (++this.#informationalResponses > maxInformationalResponses)
        this.#abort?.(new Error('the upstream announces an answer and gives none'));
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

  /** Where a step changed the method, the body is not what the caller waits for. */
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
        // The last bytes go out together with the end: a small answer is one write.
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

  /** The whole answer is here: steps may change it before any of it goes out. */
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
    // The head is out: only a broken connection tells the caller that the rest will not come.
    this.#writer.abort();
    this.#events.onEnd(call, false);
  }

  /**
   * Only when a kept connection was closed under a call that has no effect or no second effect, no body to lose, and no
   * answer yet: on one that never brought anything the upstream itself broke off.
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

/** Said after the body, they must not change how it was to be read. */
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
  'GW_UPSTREAM_LATE',
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

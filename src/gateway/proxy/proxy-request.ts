import type { TimeoutEntry, TimeoutQueue } from '#base/timeout-queue.ts';
import { bodyFromBytes, noBody } from '../http/body.ts';
import { BodyBuffer } from '../http/body-buffer.ts';
import { toLowerName } from '../http/header-names.ts';
import { HeaderList, hopByHopHeaders, removeConnectionHeaders } from '../http/headers.ts';
import type { ParsedFields } from '../http/http1/parsed-fields.ts';
import { GatewayResponse } from '../http/response.ts';
import { filterTrailers } from '../http/trailers.ts';
import { buffersResponse, startBodyTransform } from '../pipeline/chain.ts';
import type { BodyCapture, Exchange, StreamTransform } from '../pipeline/exchange.ts';
import {
  deliverCaptures,
  finalizeUpstreamResponse,
  finishExchange,
  handleStreamFailure,
  handleUpstreamFailure,
  runUpstreamResponsePhase,
  writeBufferedResponse,
  writeLocalReply,
  writeStreamHead,
} from '../pipeline/respond.ts';
import type { ResponseWriter } from '../pipeline/response-writer.ts';
import type { Admission, Admittable, Holder } from './admission.ts';
import type { PrereadBody } from './body-preread.ts';
import { createUpstreamError } from './http1/errors.ts';
import type { ProxyState } from './proxy-state.ts';
import type { ResponseContext } from './response-context.ts';
import type { UpstreamDispatcher, UpstreamHandler, UpstreamRequestOptions } from './upstream-dispatcher.ts';
import { classifyUpstreamFailure, isRetryable, ResponseTooLarge, UpstreamBusy } from './upstream-errors.ts';

/** 1xx responses accepted; each restarts the headers timeout. */
const maxInformationalResponses = 16;

/** The first attempt and one retry. */
const maxAttempts = 2;

/** Dispatcher with optional admission control. */
export type AdmittingPool = Pick<UpstreamDispatcher, 'dispatch'> & { readonly admission?: Admission };

/** Proxies one request and streams the response back with backpressure: a state machine, without closures. */
export class ProxyRequest implements UpstreamHandler, TimeoutEntry, Admittable {
  expiresAtMs = 0;
  admissionState: Admittable['admissionState'] = 'none';
  client: Holder | undefined = undefined;
  key: Holder | undefined = undefined;
  organisation: Holder | undefined = undefined;
  blocker: Holder | undefined = undefined;
  waitTimeout: TimeoutEntry | undefined = undefined;
  #state: ProxyState = 'waiting';
  #attempts = 0;
  readonly #call: Exchange;
  readonly #writer: ResponseWriter;
  readonly #context: ResponseContext;
  readonly #pool: AdmittingPool;
  readonly #options: UpstreamRequestOptions;
  /** Enforced timeout, where it is not the default of the pool; that of buffering for a buffered response. */
  #timeouts: TimeoutQueue | undefined;
  /** Body that is buffered, set until the request is sent. */
  #preread: PrereadBody | undefined;
  #informationalResponses = 0;
  #abort: ((error?: Error) => void) | undefined;
  #resume: (() => void) | undefined;
  /** Content-Length left; negative when unknown. */
  #remainingBytes = -1;
  #buffered: { readonly response: GatewayResponse; readonly buffer: BodyBuffer } | undefined;
  #transform: StreamTransform | undefined;
  #capture: { readonly captures: BodyCapture[]; readonly buffer: BodyBuffer } | undefined;
  /** Trailers of a response that was complete before its head was written. */
  #trailers: string[] | undefined;

  constructor(
    call: Exchange,
    writer: ResponseWriter,
    context: ResponseContext,
    pool: AdmittingPool,
    options: UpstreamRequestOptions,
  ) {
    this.#call = call;
    this.#writer = writer;
    this.#context = context;
    this.#pool = pool;
    this.#options = options;
    this.#timeouts = call.enforcedTimeout;
  }

  /** `orgId`: organisation for admission; empty where one has the gateway to itself. */
  send(orgId = '', preread?: PrereadBody): void {
    this.#preread = preread;
    this.#timeouts?.start(this);
    const call = this.#call;
    const admitted = this.#pool.admission?.admit(this, call, orgId) ?? 'active';
    if (admitted === 'active') this.#dispatch();
    else if (admitted === 'refused')
      this.onError(new UpstreamBusy('too many requests wait for an upstream connection'));
    else {
      call.onDisconnect = () =>
        this.onError(new Error('the client disconnected while its request waited for an upstream connection'));
      preread?.readWhileQueued(error => this.onError(error));
    }
  }

  onAdmitted(): void {
    this.#dispatch();
  }

  onWaitTimeout(): void {
    this.onError(new UpstreamBusy('no upstream connection was available in time'));
  }

  #dispatch(): void {
    this.#state = 'connecting';
    this.#attempts++;
    this.#call.upstreamStartedAt = performance.now();
    this.#call.trace?.startAttempt(this.#call, this.#options);
    this.#preread?.release(true);
    this.#preread = undefined;
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
    if (call.isClientDisconnected || this.#state === 'done') {
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
    const what = this.#state === 'streaming' ? 'no more of the response' : 'no response';
    this.#fail(createUpstreamError('timeout', `${what} in ${this.#timeouts?.timeoutMs} ms`));
  }

  onHead(status: number, received: readonly string[], resume: () => void, parsed?: ParsedFields): boolean {
    if (status < 200) return this.#countInformational();
    const headers = this.#toHeaders(received);
    headers.parsed = parsed;
    return this.#receiveHead(status, headers, resume);
  }

  #countInformational(): boolean {
    if (++this.#informationalResponses > maxInformationalResponses)
      this.#abort?.(createUpstreamError('invalidResponse', 'too many informational responses'));
    return true;
  }

  /** Header fields of the client's response, without those of the connection. Notes the Content-Length. */
  #toHeaders(received: readonly string[]): HeaderList {
    const flat: string[] = [];
    let connectionValue = '';
    for (let i = 0; i < received.length; i += 2) {
      const name = received[i]!;
      const lower = toLowerName(name);
      const value = received[i + 1]!;
      if (lower === 'connection') connectionValue = connectionValue ? `${connectionValue},${value}` : value;
      if (hopByHopHeaders.has(lower)) continue;
      if (lower === 'content-length') this.#remainingBytes = Number(value);
      flat.push(name, value);
    }
    const headers = new HeaderList(flat);
    if (connectionValue !== '') removeConnectionHeaders(headers, connectionValue);
    return headers;
  }

  /** False pauses the body until `resume` is called. */
  #receiveHead(status: number, headers: HeaderList, resume: () => void): boolean {
    if (this.#state === 'done') return true;
    const call = this.#call;
    const isHead = this.#options.method === 'HEAD';
    call.upstreamMs = performance.now() - call.upstreamStartedAt;
    call.trace?.receiveHead(status);
    this.#resume = resume;
    if (this.#remainingBytes > this.#context.maxResponseBytes && !isHead && status !== 304) {
      this.#abort?.(new ResponseTooLarge());
      return true;
    }
    const response = new GatewayResponse(status, headers, noBody());
    const hasBody = !isHead && status !== 204 && status !== 304;
    if (hasBody && call.chain !== undefined && buffersResponse(call.chain, call, response)) {
      this.#startBuffering(response);
      return true;
    }
    this.#state = 'head-pending';
    this.#timeouts?.clear(this);
    const pending = runUpstreamResponsePhase(call, response);
    if (pending instanceof Promise) {
      pending.then(() => this.#onStepsRun(response, hasBody)).catch(error => this.#fail(error as Error));
      return false;
    }
    this.#writeHead(response, hasBody);
    return true;
  }

  #onStepsRun(response: GatewayResponse, hasBody: boolean): void {
    if (this.#state === 'done') return;
    const isComplete = this.#state === 'received';
    if (!this.#writeHead(response, hasBody && !isComplete)) return isComplete ? undefined : this.#resume!();
    if (isComplete) return this.#end(undefined, this.#trailers);
    this.#resume!();
    this.onReadEnd();
  }

  /** False where a step replaced the response. */
  #writeHead(response: GatewayResponse, isBodyPending: boolean): boolean {
    const replacement = finalizeUpstreamResponse(this.#call, response);
    if (replacement) {
      this.#replace(replacement, isBodyPending);
      return false;
    }
    this.#adjustFraming(response);
    this.#transform = startBodyTransform(this.#call, response);
    if (this.#transform) this.#remainingBytes = -1;
    const captures = writeStreamHead(this.#call, this.#writer, response);
    this.#state = 'streaming';
    if (captures) this.#capture = { captures, buffer: new BodyBuffer() };
    this.#writer.onDrain = this.#timeouts ? () => this.#resumeUpstream() : this.#resume;
    this.#timeouts?.start(this);
    return true;
  }

  /** Sends another response than that of the upstream, whose body is then of no use. */
  #replace(replacement: GatewayResponse, isBodyPending: boolean): void {
    const abort = this.#abort;
    this.#settle();
    this.#pool.admission?.release(this);
    if (isBodyPending) abort?.();
    this.#call.responseBytes = 0;
    writeLocalReply(this.#context.responder, this.#call, this.#writer, replacement);
  }

  #resumeUpstream(): void {
    if (this.#state !== 'done') this.#timeouts?.start(this);
    this.#resume?.();
  }

  /** Corrects the framing when a step changed the method to or from HEAD. */
  #adjustFraming(response: GatewayResponse): void {
    const { receivedMethod } = this.#call;
    if (receivedMethod === 'HEAD' || this.#options.method === 'HEAD') this.#remainingBytes = -1;
    if (receivedMethod !== 'HEAD' && this.#options.method === 'HEAD') response.headers.set('Content-Length', '0');
  }

  #startBuffering(response: GatewayResponse): void {
    this.#state = 'buffering';
    this.#buffered = { response, buffer: new BodyBuffer() };
    if (this.#timeouts) return;
    this.#timeouts = this.#context.bufferingTimeouts;
    this.#timeouts.start(this);
  }

  onData(chunk: Buffer, isShared: boolean): boolean {
    const call = this.#call;
    const isBuffering = this.#state === 'buffering';
    call.responseBytes += chunk.length;
    if (call.responseBytes > (isBuffering ? this.#context.maxBufferedBytes : this.#context.maxResponseBytes)) {
      this.#abort?.(new ResponseTooLarge());
      return true;
    }
    if (isBuffering) {
      this.#buffered!.buffer.add(isShared ? Buffer.from(chunk) : chunk);
      return true;
    }
    if (call.receivedMethod === 'HEAD') return true;
    if (this.#transform) return this.#writeTransformed(this.#transform.write(chunk));
    const mustCopy = isShared && (this.#capture !== undefined || this.#writer.takesShared !== true);
    return mustCopy ? this.#writeChunk(Buffer.from(chunk), false) : this.#writeChunk(chunk, isShared);
  }

  #writeChunk(chunk: Buffer, isShared: boolean): boolean {
    if (this.#capture) this.#captureChunk(chunk);
    if (this.#remainingBytes >= 0) {
      this.#remainingBytes -= chunk.length;
      if (this.#remainingBytes === 0) {
        // The last chunk and the end are one write.
        this.#end(chunk, undefined, isShared);
        return true;
      }
    }
    const more = this.#writer.write(chunk, isShared);
    if (!more && this.#capture) for (const capture of this.#capture.captures) capture.onPause?.();
    if (this.#timeouts) {
      if (more) this.#timeouts.start(this);
      else this.#timeouts.clear(this);
    }
    return more;
  }

  #writeTransformed(changed: Buffer | Error | undefined): boolean {
    if (changed instanceof Error) this.#fail(changed);
    return !(changed instanceof Buffer) || this.#writeChunk(changed, false);
  }

  onReadEnd(): void {
    if (this.#state === 'streaming') this.#writer.flush?.();
  }

  onComplete(trailers: readonly string[]): void {
    if (this.#state === 'streaming') this.#end(this.#transform?.end(), filterTrailers(trailers));
    else if (this.#state === 'buffering') this.#completeBuffered();
    else if (this.#state === 'head-pending') {
      this.#state = 'received';
      this.#trailers = filterTrailers(trailers);
    }
  }

  /** Runs the response phase on the buffered response, then writes it. */
  #completeBuffered(): void {
    const { response, buffer } = this.#buffered!;
    this.#state = 'received';
    this.#timeouts?.clear(this);
    response.body = bodyFromBytes(buffer.bytes());
    const pending = runUpstreamResponsePhase(this.#call, response);
    if (pending instanceof Promise)
      pending.then(() => this.#writeBuffered(response)).catch(error => this.#fail(error as Error));
    else this.#writeBuffered(response);
  }

  #writeBuffered(response: GatewayResponse): void {
    if (this.#state === 'done') return;
    const replacement = finalizeUpstreamResponse(this.#call, response);
    if (replacement) return this.#replace(replacement, false);
    writeBufferedResponse(this.#call, this.#writer, response);
    this.#settle();
    this.#finish(true);
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

  #end(last?: Buffer, trailers?: string[], isShared = false): void {
    // Before the end: an error of a capture aborts the response.
    if (this.#capture) this.#endCapture(this.#capture.buffer.bytes());
    this.#settle();
    this.#writer.end(last, trailers, isShared);
    this.#finish(true);
  }

  onError(error: Error): void {
    const state = this.#state;
    if (state === 'done') return;
    const call = this.#call;
    if (state === 'connecting' && this.#canRetry(error)) {
      call.trace?.failAttempt('connection_reset');
      return this.#dispatch();
    }
    this.#settle();
    this.#preread?.release(false);
    this.#endCapture(undefined);
    const code = classifyUpstreamFailure(call, error);
    if (state === 'streaming') {
      handleStreamFailure(this.#context.responder, call, this.#writer, code, error);
      return this.#finish(false);
    }
    this.#pool.admission?.release(this);
    handleUpstreamFailure(this.#context.responder, call, this.#writer, code, error);
  }

  /** Fails on the gateway's side: aborts the upstream request too, whose body may be paused. */
  #fail(error: Error): void {
    const abort = this.#abort;
    this.onError(error);
    abort?.();
  }

  #canRetry(error: Error): boolean {
    return this.#attempts < maxAttempts && isRetryable(error, this.#call, this.#options.method);
  }

  #settle(): void {
    this.#state = 'done';
    this.#timeouts?.clear(this);
    this.#call.onDisconnect = undefined;
  }

  #finish(isComplete: boolean): void {
    this.#pool.admission?.release(this);
    finishExchange(this.#context.responder, this.#call, isComplete);
  }
}

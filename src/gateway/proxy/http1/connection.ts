import type { Socket } from 'node:net';
import type { TimeoutEntry, TimeoutQueue } from '#base/timeout-queue.ts';
import type { HeadLimits } from '../../http/http1/head-parser.ts';
import type { UpstreamHandler } from '../upstream-dispatcher.ts';
import { createUpstreamError } from './errors.ts';
import { formatFraming, type RequestBodyLength } from './request-head.ts';
import { RequestSender } from './request-sender.ts';
import { ResponseReader } from './response-reader.ts';

/** A request as the pool takes it: its head is formatted and valid. */
export interface PendingRequest {
  readonly handler: UpstreamHandler;
  readonly method: string;
  /** Head up to its framing. */
  readonly head: string;
  /** Bytes of the body, or a stream of them. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | undefined;
  readonly length: RequestBodyLength;
  /** The connection is closed after the response. */
  readonly isLast: boolean;
  /** Timeout of the response head; undefined where the caller has its own. */
  readonly timeouts: TimeoutQueue | undefined;
}

/** Pool of a connection. */
export interface ConnectionOwner {
  /** The connection may carry another request. `keepAliveMs`: hint of the upstream; -1 without one. */
  onIdle(connection: UpstreamConnection, keepAliveMs: number): void;
  onClose(connection: UpstreamConnection): void;
}

/** `idle` in the pool, `starting` before a request is written, `active` with a request, `closed`. */
export type ConnectionState = 'idle' | 'starting' | 'active' | 'closed';

/** Memory of request bodies that are joined with their head into one write. */
const maxJoinedBytes = 4096;

/**
 * HTTP/1.1 connection to an upstream: one request at a time. Whatever is not exactly a response to the request in
 * progress closes it, so that no request ever gets a response of another.
 */
export class UpstreamConnection implements TimeoutEntry {
  expiresAtMs = 0;
  state: ConnectionState = 'idle';
  /** End of the time in the pool. */
  idleExpiresAtMs = 0;
  /** A request was answered on it. */
  isReused = false;
  /** Its last response was complete while the socket was paused: bytes or an end may be unread. */
  mayHaveUnread = false;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #reader: ResponseReader;
  #request: PendingRequest | undefined;
  #sender: RequestSender | undefined;
  #isRequestSent = false;
  /** A byte of the response in progress arrived. */
  #hasResponseBytes = false;
  /** Bytes that arrived while the handler paused. */
  #backlog: Buffer | undefined;
  #hasEnded = false;
  #isReading = false;
  /** The socket is not read. */
  #isPaused = false;

  constructor(socket: Socket, owner: ConnectionOwner, limits: HeadLimits) {
    this.#socket = socket;
    this.#owner = owner;
    this.#reader = new ResponseReader(
      limits,
      () => this.#resume(),
      () => void (this.#isRequestSent && this.#startTimeout()),
    );
    socket.on('error', error => this.#fail(error));
    socket.on('end', () => this.#onEnd());
    socket.on('close', () => this.#fail(createUpstreamError('socket', 'the upstream closed the connection')));
    socket.on('drain', () => this.#onDrain());
  }

  /** Sends a request; a failure ends the request and the connection. */
  trySend(request: PendingRequest): void {
    try {
      this.#send(request);
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #send(request: PendingRequest): void {
    const { handler } = request;
    this.state = 'starting';
    this.#request = request;
    this.#isRequestSent = false;
    this.#hasResponseBytes = false;
    handler.onConnect(error =>
      this.#abort(request, error ?? createUpstreamError('aborted', 'the request was aborted')),
    );
    if (this.#request !== request) return;
    this.state = 'active';
    this.#reader.begin(handler, request.method);
    const { body } = request;
    if (body === undefined) {
      this.#socket.write(request.head + formatFraming(0, request.method), 'latin1');
      this.#onSent();
    } else if (body instanceof Uint8Array) this.#sendBytes(request, body);
    else {
      this.#sender = new RequestSender(this.#socket, body, request, {
        onStall: () => this.#startTimeout(),
        onSent: () => this.#onSent(),
        onError: error => this.#fail(error),
      });
      this.#sender.start();
    }
  }

  #abort(request: PendingRequest, error: Error): void {
    if (this.#request !== request) return;
    if (this.state !== 'starting') return this.#fail(error);
    // Abort before the first write: the connection serves another request.
    this.#request = undefined;
    this.state = 'idle';
    this.#owner.onIdle(this, -1);
    request.handler.onError(error);
  }

  #sendBytes({ head, method }: PendingRequest, body: Uint8Array): void {
    const socket = this.#socket;
    const text = head + formatFraming(body.byteLength, method);
    if (body.byteLength <= maxJoinedBytes) {
      const joined = Buffer.allocUnsafe(text.length + body.byteLength);
      joined.write(text, 'latin1');
      joined.set(body, text.length);
      socket.write(joined);
    } else {
      socket.cork();
      socket.write(text, 'latin1');
      socket.write(body);
      socket.uncork();
    }
    this.#onSent();
  }

  /** Bytes of the socket; false pauses it. `isShared`: overwritten by the next read. */
  receive(bytes: Buffer, isShared: boolean): boolean {
    if (this.state !== 'active') {
      if (this.state === 'idle') this.#fail(createUpstreamError('socket', 'the upstream sent bytes without a request'));
      return true;
    }
    this.#hasResponseBytes = true;
    if (this.#reader.isPaused || this.#isReading) {
      this.#backlog = this.#backlog ? Buffer.concat([this.#backlog, bytes]) : Buffer.from(bytes);
      this.#isPaused = true;
      return false;
    }
    return this.#read(bytes, isShared);
  }

  #read(bytes: Buffer, isShared: boolean): boolean {
    const reader = this.#reader;
    const request = this.#request!;
    let at = 0;
    this.#isReading = true;
    try {
      at = reader.read(bytes, 0, isShared);
    } catch (error) {
      this.#isReading = false;
      if (this.#request === request) this.#fail(error as Error);
      return true;
    }
    this.#isReading = false;
    if (this.#request !== request) return true;
    if (reader.state !== 'head') this.#clearTimeout();
    if (reader.state !== 'complete') request.handler.onReadEnd();
    if (reader.isPaused) {
      if (at < bytes.length) this.#backlog = isShared ? Buffer.from(bytes.subarray(at)) : bytes.subarray(at);
      this.#isPaused = true;
      return false;
    }
    if (reader.state === 'complete') this.#complete(at < bytes.length);
    return true;
  }

  /** Continues after a pause of the handler. */
  #resume(): void {
    const reader = this.#reader;
    if (this.#request === undefined || !reader.isPaused) return;
    reader.isPaused = false;
    if (this.#isReading) return;
    const backlog = this.#backlog;
    this.#backlog = undefined;
    reader.completeIfRead();
    if (reader.state === 'complete') this.#complete(backlog !== undefined);
    else if (backlog !== undefined && !this.#read(backlog, false)) return;
    if (this.#hasEnded && this.#request !== undefined) this.#onEnd();
    this.#isPaused = false;
    // Also when idle: an idle connection notices bytes and the end of the upstream.
    if (!this.#socket.destroyed) this.#socket.resume();
  }

  /** The response is complete. The connection is reused only when nothing about its state is in doubt. */
  #complete(hasLeftover: boolean): void {
    const { handler, isLast } = this.#request!;
    const reader = this.#reader;
    const { trailers } = reader;
    const keepAliveMs = reader.readKeepAliveMs();
    const isReusable =
      reader.isPersistent &&
      !isLast &&
      !hasLeftover &&
      this.#isRequestSent &&
      !this.#hasEnded &&
      !this.#socket.destroyed;
    this.#clearTimeout();
    this.#release();
    if (isReusable) {
      this.state = 'idle';
      this.isReused = true;
      this.mayHaveUnread = this.#isPaused;
      this.#owner.onIdle(this, keepAliveMs);
    } else this.close();
    try {
      handler.onComplete(trailers);
    } catch (error) {
      handler.onError(error as Error);
    }
  }

  #onSent(): void {
    this.#isRequestSent = true;
    this.#startTimeout();
  }

  #onDrain(): void {
    if (this.#sender === undefined || this.#isRequestSent) return;
    this.#clearTimeout();
    this.#sender.onDrain();
  }

  /** Half-close (FIN) of the upstream: ends a body without length, truncates everything else. */
  #onEnd(): void {
    this.#hasEnded = true;
    const reader = this.#reader;
    if (this.#request === undefined) return this.close();
    // The backlog comes first.
    if (reader.isPaused) return;
    if (reader.state === 'close') {
      reader.state = 'complete';
      this.#complete(false);
    } else this.#fail(createUpstreamError('socket', 'the upstream closed the connection'));
  }

  /** Timeout of the response head; also of a socket that takes no more of the body. */
  #startTimeout(): void {
    if (this.#reader.state === 'head') this.#request?.timeouts?.start(this);
  }

  #clearTimeout(): void {
    this.#request?.timeouts?.clear(this);
  }

  onTimeout(): void {
    const timeoutMs = this.#request?.timeouts?.timeoutMs;
    this.#fail(createUpstreamError('headersTimeout', `no response head in ${timeoutMs} ms`));
  }

  /** Fails the request in progress, if there is one, and closes the connection. */
  #fail(error: Error): void {
    if (this.state === 'closed') return;
    const request = this.#request;
    this.#clearTimeout();
    // Contract of the retry rule: a stale connection is one that was reused and brought nothing for this request.
    const bytesRead = this.isReused && !this.#hasResponseBytes ? this.#socket.bytesRead : 0;
    this.#release();
    this.close();
    request?.handler.onError(Object.assign(error, { socket: { bytesRead } }));
  }

  #release(): void {
    this.#request = undefined;
    this.#reader.stop();
    this.#backlog = undefined;
    if (this.#sender !== undefined) {
      this.#sender.stop();
      this.#sender = undefined;
    }
  }

  /** Closes the connection; a request in progress was released before. */
  close(): void {
    if (this.state === 'closed') return;
    this.state = 'closed';
    this.#socket.destroy();
    this.#owner.onClose(this);
  }

  /** Closes the connection and fails its request. */
  destroy(error: Error): void {
    this.#fail(error);
  }
}

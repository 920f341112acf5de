import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import type { TimeoutQueue } from '#base/timeout-queue.ts';
import { type ConnectTarget, toConnectTarget } from '../connect.ts';
import type { UpstreamDispatcher, UpstreamHandler, UpstreamRequestOptions } from '../upstream-dispatcher.ts';
import { type ConnectionOwner, type PendingRequest, UpstreamConnection } from './connection.ts';
import { createUpstreamError } from './errors.ts';
import { expectsContent, formatRequestHead, readBodyLength } from './request-head.ts';
import type { Http1SharedState } from './shared-state.ts';

export interface Http1PoolOptions {
  readonly connect: buildConnector.connector;
  readonly maxConnections: number;
  /** Requests that wait for a connection; admission control bounds them further. */
  readonly maxPending: number;
  readonly shared: Http1SharedState;
}

/** Idle connections are closed after this, unless the upstream names a time. */
const idleTimeoutMs = 30_000;
const maxIdleTimeoutMs = 600_000;
/** Subtracted from the time that the upstream names: the request needs time to arrive. */
const idleMarginMs = 2000;

/** HTTP/1.1 connection pool of one origin. The most recently used connection is reused first, so others can expire. */
export class Http1Pool implements ConnectionOwner, UpstreamDispatcher {
  readonly #target: ConnectTarget;
  readonly #options: Http1PoolOptions;
  readonly #idle: UpstreamConnection[] = [];
  readonly #pending: PendingRequest[] = [];
  readonly #connections = new Set<UpstreamConnection>();
  #connecting = 0;
  #state: 'open' | 'closing' | 'destroyed' = 'open';
  readonly #closed = Promise.withResolvers<void>();
  /** For a connection that closed before anything was written. */
  readonly #resend = (request: PendingRequest): void => this.#send(request);

  constructor(origin: string, options: Http1PoolOptions) {
    this.#target = toConnectTarget(origin);
    this.#options = options;
  }

  dispatch(options: UpstreamRequestOptions, handler: UpstreamHandler): void {
    this.#send(toPendingRequest(options, handler, this.#options.shared.headersTimeouts));
  }

  /** Ends requests in progress and keeps no connection. */
  async close(): Promise<void> {
    if (this.#state === 'open') this.#state = 'closing';
    for (const connection of [...this.#idle]) connection.close();
    if (this.#openCount > 0) await this.#closed.promise;
  }

  async destroy(): Promise<void> {
    this.#state = 'destroyed';
    for (const { handler } of this.#pending.splice(0)) handler.onError(createDestroyedError());
    for (const connection of [...this.#connections]) connection.destroy(createDestroyedError());
  }

  get #openCount(): number {
    return this.#connections.size + this.#connecting;
  }

  #send(request: PendingRequest): void {
    if (this.#state === 'destroyed') return failLater(request, createDestroyedError());
    const connection = this.#takeIdle();
    if (connection !== undefined) return this.#options.shared.schedule(connection, request, this.#resend);
    if (this.#pending.length >= this.#options.maxPending)
      return failLater(
        request,
        createUpstreamError('queueFull', 'too many requests wait for a connection to the upstream'),
      );
    this.#pending.push(request);
    this.#openForPending();
  }

  #takeIdle(): UpstreamConnection | undefined {
    let connection = this.#idle.pop();
    if (connection === undefined) return undefined;
    const now = this.#options.shared.now();
    while (connection !== undefined && connection.idleExpiresAtMs <= now) {
      connection.close();
      connection = this.#idle.pop();
    }
    return connection;
  }

  #openForPending(): void {
    const { connect, maxConnections } = this.#options;
    while (this.#pending.length > this.#connecting && this.#openCount < maxConnections) {
      this.#connecting++;
      connect({ ...this.#target }, (error, socket) => {
        this.#connecting--;
        if (error) this.#onConnectError(error);
        else this.#onConnected(socket!);
      });
    }
  }

  #onConnectError(error: Error): void {
    this.#pending.shift()?.handler.onError(error);
    this.#openForPending();
    this.#resolveClosed();
  }

  #onConnected(socket: Socket): void {
    const connection = new UpstreamConnection(socket, this, this.#options.shared.headLimits);
    this.#options.shared.attach(socket, connection);
    this.#connections.add(connection);
    if (this.#state === 'destroyed' || socket.destroyed) return connection.close();
    const request = this.#pending.shift();
    if (request) connection.trySend(request);
    else this.onIdle(connection, -1);
  }

  onIdle(connection: UpstreamConnection, keepAliveMs: number): void {
    const timeoutMs = keepAliveMs < 0 ? idleTimeoutMs : Math.min(keepAliveMs - idleMarginMs, maxIdleTimeoutMs);
    if (timeoutMs <= 0) return connection.close();
    const { shared } = this.#options;
    connection.idleExpiresAtMs = shared.now() + timeoutMs;
    const request = this.#pending.shift();
    if (request) shared.schedule(connection, request, this.#resend);
    else if (this.#state !== 'open') connection.close();
    else {
      this.#idle.push(connection);
      shared.sweepIdle(this.#idle);
    }
  }

  onClose(connection: UpstreamConnection): void {
    this.#connections.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#openForPending();
    this.#resolveClosed();
  }

  #resolveClosed(): void {
    if (this.#state !== 'open' && this.#openCount === 0) this.#closed.resolve();
  }
}

const createDestroyedError = () => createUpstreamError('destroyed', 'the connection pool is closed');

function failLater({ handler }: PendingRequest, error: Error): void {
  queueMicrotask(() => handler.onError(error));
}

/** Validates and formats a request. Throws for what cannot be sent. */
function toPendingRequest(
  options: UpstreamRequestOptions,
  handler: UpstreamHandler,
  timeouts: TimeoutQueue,
): PendingRequest {
  const { method, hasCallerTimeout } = options;
  const isBytes = options.body instanceof Uint8Array;
  const body = isBytes && options.body.byteLength === 0 ? undefined : options.body;
  return {
    handler,
    method,
    head: formatRequestHead(options),
    body,
    length: body === undefined || isBytes ? undefined : readBodyLength(options.headers),
    // A body where none is expected, or none where one may come, leaves the state of the connection in doubt.
    isLast: method === 'HEAD' || (body !== undefined && !expectsContent(method)),
    timeouts: hasCallerTimeout ? undefined : timeouts,
  };
}

import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { request as httpRequest } from '#base/node-http.ts';
import { TimeoutQueue } from '#base/timeout-queue.ts';
import { noBody } from '../http/body.ts';
import { HeaderList, hopByHopHeaders, removeConnectionHeaders } from '../http/headers.ts';
import { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import {
  finishExchange,
  handleUpstreamFailure,
  runUpstreamResponsePhase,
  switchProtocol,
} from '../pipeline/respond.ts';
import type { ResponseWriter } from '../pipeline/response-writer.ts';
import { createUpstreamError } from './http1/errors.ts';
import { ProxyRequest } from './proxy-request.ts';
import type { ResponseContext } from './response-context.ts';
import { notifyReadEnd, type UpstreamDispatcher } from './upstream-dispatcher.ts';
import { classifyUpstreamFailure } from './upstream-errors.ts';
import { relayWebSocket } from './websocket-relay.ts';

export interface TunnelOptions {
  /** Opens a socket that is never pooled. */
  open(): Promise<Socket>;
  readonly path: string;
  readonly headers: string[];
  /** Timeout of the upgrade response. */
  readonly timeoutMs: number;
  /** Timeout of the WebSocket closing handshake. */
  readonly closeTimeoutMs: number;
}

/**
 * Upgrade tunnel: sends the upgrade request to the upstream first; on 101 it relays bytes both ways with backpressure
 * until one side ends. Any other response is proxied as usual.
 */
export class Tunnel {
  readonly #call: Exchange;
  readonly #writer: ResponseWriter;
  readonly #context: ResponseContext;
  readonly #options: TunnelOptions;
  #request: ClientRequest | undefined;
  #isSettled = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(call: Exchange, writer: ResponseWriter, context: ResponseContext, options: TunnelOptions) {
    this.#call = call;
    this.#writer = writer;
    this.#context = context;
    this.#options = options;
  }

  send(): void {
    this.#call.onDisconnect = () => this.#fail(new Error('the client disconnected'));
    this.#timer = setTimeout(
      () => this.#fail(createUpstreamError('headersTimeout', `no response in ${this.#options.timeoutMs} ms`)),
      this.#options.timeoutMs,
    );
    this.#options.open().then(
      socket => this.#requestUpgrade(socket),
      error => this.#fail(error as Error),
    );
  }

  #requestUpgrade(socket: Socket): void {
    if (this.#isSettled) {
      socket.destroy();
      return;
    }
    const { path, headers } = this.#options;
    const { upgrade } = this.#call;
    let request: ClientRequest;
    try {
      request = httpRequest({
        createConnection: () => socket,
        method: 'GET',
        path,
        headers: [...headers, 'Connection', 'Upgrade', 'Upgrade', upgrade] as never,
      });
    } catch (error) {
      // Variables may contain characters that headers may not.
      socket.destroy();
      return this.#fail(error as Error);
    }
    this.#request = request;
    request.on('error', error => this.#fail(error));
    request.once('upgrade', (message, upstream, first) => this.#onUpgrade(message, upstream as Socket, first));
    request.once('response', message => this.#onResponse(message));
    request.end();
  }

  #onUpgrade(message: IncomingMessage, upstream: Socket, first: Buffer): void {
    upstream.on('error', () => upstream.destroy());
    if (this.#isSettled || message.headers.upgrade?.toLowerCase() !== this.#call.upgrade) {
      upstream.destroy();
      this.#fail(createUpstreamError('invalidResponse', 'the upstream switched to another protocol'));
      return;
    }
    this.#settle();
    const call = this.#call;
    call.onDisconnect = () => upstream.destroy();
    call.upstreamMs = performance.now() - call.upstreamStartedAt;
    call.trace?.receiveHead(101);
    const response = new GatewayResponse(101, toHeaders(message), noBody());
    // Response steps run on the 101 head too.
    Promise.try(() => runUpstreamResponsePhase(call, response)).then(
      () => this.#switch(response, upstream, first),
      error => {
        upstream.destroy();
        const code = classifyUpstreamFailure(call, error as Error);
        handleUpstreamFailure(this.#context.responder, call, this.#writer, code, error as Error);
      },
    );
  }

  #switch(response: GatewayResponse, upstream: Socket, first: Buffer): void {
    const call = this.#call;
    call.onDisconnect = undefined;
    if (call.isClientDisconnected) {
      upstream.destroy();
      finishExchange(this.#context.responder, call, false);
      return;
    }
    const client = switchProtocol(call, this.#writer, response, () => relay.goAway());
    if (first.length > 0) upstream.unshift(first);
    const relay = relayWebSocket(client, upstream, {
      closeTimeoutMs: this.#options.closeTimeoutMs,
      messageCheck: call.messageCheck,
      onMessageError: error =>
        this.#context.responder.log.error({ err: error, api: call.api?.id }, 'message check failed, WebSocket closed'),
      onEnd: () => {
        call.responseBytes = upstream.bytesRead;
        finishExchange(this.#context.responder, call, true);
      },
    });
  }

  /** The upstream declined: the response passes all response steps, so an upgrade header bypasses none. */
  #onResponse(message: IncomingMessage): void {
    if (this.#isSettled) {
      message.destroy();
      return;
    }
    // The request was checked as an upgrade only: what it returned as a plain GET is not passed on.
    if (this.#call.messageCheck && message.statusCode! < 300) {
      this.#fail(createUpstreamError('invalidResponse', 'the upstream ignored the upgrade'));
      return;
    }
    this.#settle();
    const { path, timeoutMs } = this.#options;
    const context = { ...this.#context, bufferingTimeouts: new TimeoutQueue(timeoutMs) };
    const options = { origin: '', path, method: 'GET', headers: [], body: undefined, hasCallerTimeout: true };
    new ProxyRequest(this.#call, this.#writer, context, dispatcherOfResponse(message), options).send();
  }

  #settle(): void {
    this.#isSettled = true;
    clearTimeout(this.#timer);
  }

  #fail(error: Error): void {
    if (this.#isSettled) return;
    this.#settle();
    this.#call.onDisconnect = undefined;
    this.#request?.destroy();
    const call = this.#call;
    const code = classifyUpstreamFailure(call, error);
    handleUpstreamFailure(this.#context.responder, call, this.#writer, code, error);
  }
}

/** Dispatcher of a response that was received already; its errors fail this request only. */
const dispatcherOfResponse = (message: IncomingMessage): Pick<UpstreamDispatcher, 'dispatch'> => ({
  dispatch(_options, handler) {
    let failure: Error | undefined;
    const abort = (error = new Error('the request was aborted')) => {
      failure ??= error;
      message.destroy();
    };
    const attempt = (work: () => boolean | undefined): void => {
      try {
        if (work() === false) message.pause();
      } catch (error) {
        abort(error as Error);
      }
    };
    // Never retried, whatever the error code.
    message.on('error', cause => abort(createUpstreamError('truncated', 'the upstream truncated its response', cause)));
    handler.onConnect(abort);
    message.on('data', (chunk: Buffer) => attempt(() => handler.onData(chunk, false)));
    process.nextTick(notifyReadEnd, handler);
    attempt(() => handler.onHead(message.statusCode!, message.rawHeaders, () => message.resume()));
    message.once('close', () => {
      if (!message.complete) abort(createUpstreamError('truncated', 'the upstream response is incomplete'));
      if (failure === undefined) attempt(() => void handler.onComplete(message.rawTrailers));
      if (failure !== undefined) handler.onError(failure);
    });
  },
});

/** Pipes both ways; the end of one side ends the other. */
export function pipeBoth(one: Duplex, other: Socket, onEnd: () => void): void {
  let open = 2;
  const onClose = () => {
    one.destroy();
    other.destroy();
    if (--open === 0) onEnd();
  };
  one.once('close', onClose);
  other.once('close', onClose);
  one.pipe(other);
  other.pipe(one);
}

function toHeaders({ rawHeaders, headers: { connection } }: IncomingMessage): HeaderList {
  const headers = new HeaderList();
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (!hopByHopHeaders.has(rawHeaders[i]!.toLowerCase())) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!);
  if (connection) removeConnectionHeaders(headers, connection);
  return headers;
}

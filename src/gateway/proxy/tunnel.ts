import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import { noBody } from '../http/body.ts';
import { dropNamed, HeaderList, hopByHop } from '../http/headers.ts';
import { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { ResponseWriter } from '../pipeline/response-writer.ts';
import { Forwarding, type Receiver, refusalOf } from './proxy-request.ts';
import { Deadlines } from './timeout-queue.ts';
import { relayWebSocket } from './websocket-relay.ts';

export interface TunnelOptions {
  /** A connection of the tunnel's own: it never comes back to a pool. */
  open(): Promise<Socket>;
  readonly path: string;
  readonly headers: string[];
  /** How long the upstream may take to agree. */
  readonly timeoutMs: number;
  /** How long both ends of a WebSocket may take to agree to its end. */
  readonly closeTimeoutMs: number;
}

/**
 * Carries a call that wants to go on in another protocol. The upstream is asked first; when it agrees, bytes are copied both
 * ways at the speed of the slower side, until one of them ends. When it does not, its answer is passed on like any other.
 */
export class Tunnel {
  readonly #call: Exchange;
  readonly #writer: ResponseWriter;
  readonly #receiver: Receiver;
  readonly #options: TunnelOptions;
  #request: ClientRequest | undefined;
  #settled = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(call: Exchange, writer: ResponseWriter, receiver: Receiver, options: TunnelOptions) {
    this.#call = call;
    this.#writer = writer;
    this.#receiver = receiver;
    this.#options = options;
  }

  send(): void {
    this.#call.onDisconnect = () => this.#fail(new Error('the caller left'));
    this.#timer = setTimeout(
      () => this.#fail(Object.assign(new Error('no answer in time'), { code: 'UND_ERR_HEADERS_TIMEOUT' })),
      this.#options.timeoutMs,
    );
    this.#options.open().then(
      socket => this.#ask(socket),
      error => this.#fail(error as Error),
    );
  }

  #ask(socket: Socket): void {
    if (this.#settled) {
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
      // Values of variables can hold characters that no header may have.
      socket.destroy();
      return this.#fail(error as Error);
    }
    this.#request = request;
    request.on('error', error => this.#fail(error));
    request.once('upgrade', (message, other, first) => this.#agreed(message, other as Socket, first));
    request.once('response', message => this.#declined(message));
    request.end();
  }

  #agreed(message: IncomingMessage, other: Socket, first: Buffer): void {
    other.on('error', () => other.destroy());
    if (this.#settled || message.headers.upgrade?.toLowerCase() !== this.#call.upgrade) {
      other.destroy();
      this.#fail(new Error('the upstream agreed to another protocol'));
      return;
    }
    this.#settle();
    const call = this.#call;
    call.onDisconnect = () => other.destroy();
    call.upstreamMs = performance.now() - call.upstreamStartedAt;
    const response = new GatewayResponse(101, headersOf(message), noBody());
    // What an API says in the head of every answer it says in this one too.
    Promise.try(() => this.#receiver.onHead(call, response)).then(
      () => this.#switch(response, other, first),
      error => {
        other.destroy();
        this.#receiver.onFailure(call, this.#writer, 'upstream_failed', error as Error);
      },
    );
  }

  #switch({ headers }: GatewayResponse, other: Socket, first: Buffer): void {
    const call = this.#call;
    call.onDisconnect = undefined;
    if (call.isClientDisconnected) {
      other.destroy();
      this.#receiver.onEnd(call, false);
      return;
    }
    const answerHeaders = [...headers.flat, 'Connection', 'Upgrade', 'Upgrade', call.upgrade];
    const caller = this.#writer.switchProtocol!(answerHeaders, () => relay.goAway());
    if (first.length > 0) other.unshift(first);
    const relay = relayWebSocket(caller, other, {
      closeTimeoutMs: this.#options.closeTimeoutMs,
      onEnd: () => {
        call.responseBytes = other.bytesRead;
        this.#receiver.onEnd(call, true);
      },
    });
  }

  /** An ordinary answer, and dealt with like one: nobody gets round a step by asking for another protocol. */
  #declined(message: IncomingMessage): void {
    if (this.#settled) {
      message.destroy();
      return;
    }
    this.#settle();
    const { path, timeoutMs } = this.#options;
    const heldWithin = new Deadlines(timeoutMs);
    const options = { path, method: 'GET' } as const;
    new Forwarding(this.#call, this.#writer, this.#receiver, arrived(message), options, heldWithin).send();
  }

  #settle(): void {
    this.#settled = true;
    clearTimeout(this.#timer);
  }

  #fail(error: Error): void {
    if (this.#settled) return;
    this.#settle();
    this.#call.onDisconnect = undefined;
    this.#request?.destroy();
    this.#receiver.onFailure(this.#call, this.#writer, refusalOf(this.#call, error), error);
  }
}

/** An answer that is already here, as a pool would bring it: what fails with it fails the call, and nothing else. */
const arrived = (message: IncomingMessage): Pick<Dispatcher, 'dispatch'> => ({
  dispatch(_options, handler) {
    let fault: Error | undefined;
    const giveUp = (error = new Error('the call was given up')) => {
      fault ??= error;
      message.destroy();
    };
    const attempt = (work: () => boolean | undefined): void => {
      try {
        if (work() === false) message.pause();
      } catch (error) {
        giveUp(error as Error);
      }
    };
    // It cannot be asked for again, whatever it broke off with.
    message.on('error', cause => giveUp(new Error('the upstream broke off its answer', { cause })));
    handler.onConnect?.(giveUp);
    const raw = message.rawHeaders.map(text => Buffer.from(text, 'latin1'));
    message.on('data', (chunk: Buffer) => attempt(() => handler.onData?.(chunk)));
    attempt(() => handler.onHeaders?.(message.statusCode!, raw, () => message.resume(), message.statusMessage!));
    message.once('close', () => {
      if (!message.complete) giveUp(new Error('the answer of the upstream is not whole'));
      if (fault === undefined) attempt(() => void handler.onComplete?.(message.rawTrailers));
      if (fault !== undefined) handler.onError?.(fault);
    });
    return true;
  },
});

/** Copies both ways; the end of one side ends the other. */
export function join(one: Duplex, other: Socket, onEnd: () => void): void {
  let open = 2;
  const closed = () => {
    one.destroy();
    other.destroy();
    if (--open === 0) onEnd();
  };
  one.once('close', closed);
  other.once('close', closed);
  one.pipe(other);
  other.pipe(one);
}

function headersOf({ rawHeaders, headers: { connection } }: IncomingMessage): HeaderList {
  const headers = new HeaderList();
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!hopByHop.has(rawHeaders[at]!.toLowerCase())) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  if (connection) dropNamed(headers, connection);
  return headers;
}

import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Body, bodyFromReceived, problem as bodyProblem, noBody } from '../../http/body.ts';
import { fromParsedFields } from '../../http/headers.ts';
import { isPersistent, readRequestFraming } from '../../http/http1/framing.ts';
import { HeadParser } from '../../http/http1/head-parser.ts';
import { Http1ParseError, toParseError } from '../../http/http1/parse-error.ts';
import { requestFaults } from '../../http/http1/request-faults.ts';
import { formatFieldLines } from '../../http/http1/write-message.ts';
import type { InvalidRequest } from '../../http/request-head.ts';
import { Exchange, type Peer } from '../../pipeline/exchange.ts';
import { createBadRequestResponse, createExchange, type RawRequest } from '../create-exchange.ts';
import { watchHalfClosed } from '../half-close.ts';
import {
  type ConnectionContext,
  emptyBody,
  type ManagedConnection,
  maxBufferedBodyBytes,
  noHeaders,
  type ServerConnectionState,
} from './connection-context.ts';
import { ConnectionTimeout } from './connection-timeout.ts';
import { LingeringClose } from './lingering-close.ts';
import { closeLines, formatStatusLine, NativeWriter, type ResponseConnection } from './native-writer.ts';
import { ReadAhead } from './read-ahead.ts';
import { type BodySource, RequestBody } from './request-body.ts';
import { SocketOutput } from './socket-output.ts';
import { isWebSocketUpgrade } from './websocket-upgrade.ts';

/** HTTP/1.1 client connection: reads one request at a time, and writes its response. */
export class ServerConnection implements ManagedConnection, RawRequest, BodySource, ResponseConnection {
  readonly peer: Peer;
  method = '';
  target = '';
  headers = noHeaders;
  upgrade = '';
  mayOmitHost = false;
  isClosing: boolean;
  readonly #socket: Socket;
  readonly #context: ConnectionContext;
  readonly #parser: HeadParser;
  readonly #ahead = new ReadAhead();
  #state: ServerConnectionState = 'idle';
  readonly #output: SocketOutput;
  /** Not cleared when a request arrives, but ignored: one operation less per request. */
  readonly #timeout = new ConnectionTimeout(() => this.#onTimeout());
  readonly #requestTimeout = new ConnectionTimeout(() => this.#onRequestTimeout());
  #requestBody = emptyBody;
  /** Body that is still arriving. */
  #bodyStream: RequestBody | undefined;
  /** Invalid body that arrived with its head. */
  #bodyError: Http1ParseError | undefined;
  #expectsContinue = false;
  #exchange: Exchange | undefined;
  #writer: NativeWriter | undefined;
  #isHandling = false;
  #isPaused = false;
  #lingering: LingeringClose | undefined;
  /** The client has ended its side. */
  #hasEnded = false;
  #goAway: (() => void) | undefined;

  constructor(socket: Socket, peer: Peer, context: ConnectionContext) {
    const { limits, closesAfterResponse = false } = context.options;
    this.#socket = socket;
    this.peer = peer;
    this.#context = context;
    this.isClosing = closesAfterResponse;
    this.#parser = new HeadParser('request', limits);
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.once('close', () => this.#onClose());
    this.#output = new SocketOutput(socket, context, () => this.#onDrain());
    this.#timeout.start(context.timeouts.head);
  }

  readonly #onData = (bytes: Buffer): void => {
    switch (this.#state) {
      case 'idle':
      case 'head':
        return this.#receive(bytes);
      case 'body':
        return this.#receiveBody(bytes, 0);
      case 'response':
      case 'flushing':
        return this.#holdAhead(bytes);
      case 'lingering':
        return this.#discard(bytes);
      case 'closing':
        return this.#pause();
    }
  };

  #receive(bytes: Buffer): void {
    let rest = bytes;
    for (;;) {
      try {
        const end = this.#parser.parse(rest, 0);
        if (end < 0) return this.#awaitHead();
        this.#readRequest(rest, end);
      } catch (error) {
        if (!(error instanceof Http1ParseError)) throw error;
        return this.#refuse({ status: error.status, fault: error.message });
      }
      this.#handle();
      // Pipelined: the response is complete, and the next request may have arrived.
      if (this.#state !== 'idle' || this.#ahead.byteLength === 0) return;
      rest = this.#ahead.take();
    }
  }

  #awaitHead(): void {
    if (this.#hasEnded) return this.#parser.hasBegun ? this.#refuse(requestFaults.malformed) : this.#close();
    this.#resume();
    if (this.#state === 'head' || !this.#parser.hasBegun) return;
    this.#state = 'head';
    this.#timeout.start(this.#context.timeouts.head);
    this.#startRequestTimeout();
  }

  /** Reads the request of a complete head, and its body as far as it has arrived. Throws Http1ParseError. */
  #readRequest(bytes: Buffer, bodyStart: number): void {
    const parser = this.#parser;
    const framing = readRequestFraming(parser);
    this.method = parser.method;
    this.target = parser.target;
    this.headers = fromParsedFields(parser.fields.flat, parser.fields.parsed);
    this.mayOmitHost = parser.minorVersion === 0;
    this.upgrade = this.#context.options.webSockets && isWebSocketUpgrade(parser) ? 'websocket' : '';
    // An upgrade that is declined ends the connection: the client may have begun with the other protocol.
    if (this.upgrade !== '' || !isPersistent(parser)) this.isClosing = true;
    this.#state = 'response';
    if (framing === 'none') {
      this.#requestBody = noBody();
      this.#requestTimeout.clear();
      return this.#holdRest(bytes, bodyStart);
    }
    const length = framing === 'length' ? parser.fields.contentLength : undefined;
    const bodyEnd = bodyStart + (length ?? Number.POSITIVE_INFINITY);
    if (bodyEnd <= bytes.length) {
      this.#requestBody = bodyFromReceived(bytes.subarray(bodyStart, bodyEnd));
      this.#requestTimeout.clear();
      return this.#holdRest(bytes, bodyEnd);
    }
    const stream = new RequestBody(this, length, this.#context.options.limits);
    this.#requestBody = this.#context.bodyRate.body(stream, length);
    this.#bodyStream = stream;
    this.#state = 'body';
    this.#startRequestTimeout();
    if (bodyStart < bytes.length) this.#receiveBody(bytes, bodyStart);
    else this.#resume();
  }

  #holdRest(bytes: Buffer, at: number): void {
    if (at === bytes.length) this.#resume();
    else this.#holdAhead(bytes.subarray(at));
  }

  #holdAhead(bytes: Buffer): void {
    this.#ahead.hold(bytes);
    if (this.#ahead.isFull) this.#pause();
    else this.#resume();
  }

  /** Hands the request to the gateway; the response may be complete when it returns. */
  #handle(): void {
    const parser = this.#parser;
    const { minorVersion, fields } = parser;
    const { expect, te } = fields;
    parser.reset();
    this.#expectsContinue = minorVersion === 1 && expect !== '';
    if (this.#expectsContinue && expect.toLowerCase() !== '100-continue')
      return this.#refuse(requestFaults.expectation);
    const { options } = this.#context;
    const exchange = createExchange(this, options);
    if (!(exchange instanceof Exchange)) return this.#refuse(exchange);
    const acceptsTrailers = te !== '' && /\btrailers\b/i.test(te);
    const writer = new NativeWriter(this, this.#context, this.method === 'HEAD', minorVersion, acceptsTrailers);
    this.#exchange = exchange;
    this.#writer = writer;
    this.#isHandling = true;
    options.handler.handle(exchange, writer);
    this.#isHandling = false;
    const bodyError = this.#bodyError;
    this.#bodyError = undefined;
    if (bodyError !== undefined && this.#state === 'body') this.#failBody(bodyError);
    // The rest of the body cannot arrive.
    else if (this.#hasEnded && this.#state === 'body') this.destroy();
  }

  body(): Body {
    return this.#requestBody;
  }

  #receiveBody(bytes: Buffer, at: number): void {
    const stream = this.#bodyStream!;
    let end: number;
    try {
      end = stream.receive(bytes, at);
    } catch (error) {
      // With the head: the request fails once it was handed over.
      if (this.#writer === undefined) this.#bodyError = error as Http1ParseError;
      else this.#failBody(error as Http1ParseError);
      return;
    }
    if (stream.isComplete) {
      this.#bodyStream = undefined;
      this.#state = 'response';
      this.#requestTimeout.clear();
      this.#holdRest(bytes, end);
    } else if (stream.bufferedBytes >= maxBufferedBodyBytes || stream.isAbandoned) this.#pause();
    else this.#resume();
  }

  /** 100 Continue only when the body is read: a refused request needs none (RFC 9110, 10.1.1). */
  onBodyRead(): void {
    if (!this.#expectsContinue || this.#writer === undefined || this.#writer.hasHead) return;
    this.#expectsContinue = false;
    this.#socket.write(`${formatStatusLine(100)}\r\n`, 'latin1');
  }

  onBodyDrain(): void {
    if (this.#state === 'body') this.#resume();
  }

  /** Invalid body or timeout. Answered only where no response has begun. */
  #failBody({ status, message }: Http1ParseError): void {
    const writer = this.#writer;
    if (writer === undefined || writer.hasHead) return this.destroy();
    this.#abandonExchange();
    this.#writeRefusal({ status, fault: message });
  }

  /** Client disconnect: ends the exchange, whose response has no recipient. */
  #abandonExchange(): void {
    const exchange = this.#exchange;
    this.#writer?.detach();
    this.#writer = undefined;
    this.#exchange = undefined;
    this.#bodyStream?.fail(bodyProblem.client_disconnected());
    if (!exchange || exchange.isClientDisconnected) return;
    exchange.isClientDisconnected = true;
    exchange.onDisconnect?.();
  }

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  /** Request smuggling: behind a body that arrived late or was refused unread, no request is read. The last response. */
  onResponseHead(): void {
    if (this.#state === 'body' || (this.#isHandling && !this.#requestBody.isEmpty)) this.isClosing = true;
    else if (this.#hasEnded && this.#ahead.byteLength === 0) this.isClosing = true;
  }

  send(before: string, chunk: Uint8Array | undefined, after: string, isShared: boolean): boolean {
    return this.#output.write(before, chunk, after, isShared);
  }

  #onDrain(): void {
    if (this.#state === 'flushing') this.#becomeIdle();
    else this.#writer?.onDrain?.();
  }

  onResponseEnd(): void {
    this.#exchange = undefined;
    this.#writer = undefined;
    // An idle connection holds no text of its last request.
    this.headers = noHeaders;
    this.target = '';
    this.#requestBody = emptyBody;
    if (this.#state === 'body') this.#linger();
    else if (this.isClosing) this.#close();
    else if (this.#output.isBlocked) this.#state = 'flushing';
    else this.#becomeIdle();
  }

  #becomeIdle(): void {
    if (this.#hasEnded && this.#ahead.byteLength === 0) return this.#close();
    this.#state = 'idle';
    this.#timeout.start(this.#context.timeouts.keepAlive);
    if (!this.#isHandling && this.#ahead.byteLength > 0) this.#receive(this.#ahead.take());
  }

  #refuse(fault: InvalidRequest): void {
    const { peer, method, target } = this;
    const isParsed = this.#state === 'response' || this.#state === 'body';
    const parts = isParsed ? { method, target } : { method: undefined, target: undefined };
    this.#context.options.onInvalidRequest?.({ ...fault, ...parts, peer, protocol: 'HTTP/1.1' });
    this.#writeRefusal(fault);
  }

  /** Responds to what is not a request; nothing after it is read as one. */
  #writeRefusal(fault: InvalidRequest): void {
    const { headers, body } = createBadRequestResponse(fault);
    const isComplete = this.#state === 'response';
    const head = `${formatStatusLine(fault.status)}${formatFieldLines(headers)}${this.#context.dateLine()}${closeLines}`;
    this.isClosing = true;
    this.send(head, isComplete && this.method === 'HEAD' ? undefined : body, '', false);
    if (isComplete) this.#close();
    else this.#linger();
  }

  /** Closes when all is written, or when the client reads nothing for the write timeout. */
  #close(): void {
    this.#state = 'closing';
    this.#output.watch();
    this.#socket.destroySoon();
  }

  /** Closes when the client has sent the rest of its request, or too much, or nothing in time. */
  #linger(): void {
    this.#state = 'lingering';
    this.#requestTimeout.clear();
    this.#timeout.start(this.#context.timeouts.linger);
    this.#lingering = new LingeringClose(this.#socket, this.#bodyStream);
    this.#resume();
  }

  #discard(bytes: Buffer): void {
    const rest = this.#lingering!.discard(bytes);
    if (rest === 'complete') this.#close();
    else if (rest === 'exceeded') this.destroy();
  }

  /** Upgraded: `goAway` closes in the new protocol on shutdown; without it the connection is destroyed. */
  switchProtocol(head: string, goAway: (() => void) | undefined): Duplex {
    const socket = this.#socket;
    this.#state = 'switched';
    this.#goAway = goAway;
    this.#exchange = undefined;
    this.#writer = undefined;
    this.#timeout.clear();
    this.#output.release();
    socket.off('data', this.#onData);
    socket.off('end', this.#onEnd);
    socket.write(head, 'latin1');
    if (this.#ahead.byteLength > 0) socket.unshift(this.#ahead.take());
    this.#resume();
    return socket;
  }

  /** Graceful shutdown: closes now when idle, else after the response in progress. */
  closeWhenIdle(): void {
    this.isClosing = true;
    if (this.#state === 'switched') (this.#goAway ?? (() => this.destroy()))();
    else if (this.#state !== 'body' && this.#state !== 'response') this.#close();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #onTimeout(): void {
    if (this.#state === 'idle') this.#close();
    else if (this.#state === 'head') this.#refuse(requestFaults.late);
    else if (this.#state === 'lingering') this.destroy();
  }

  #startRequestTimeout(): void {
    const { request } = this.#context.timeouts;
    if (request !== undefined && !this.#requestTimeout.isStarted) this.#requestTimeout.start(request);
  }

  #onRequestTimeout(): void {
    if (this.#state === 'head') this.#refuse(requestFaults.late);
    else if (this.#state === 'body') this.#failBody(toParseError(requestFaults.late));
  }

  /** Half-close (FIN) of the client: complete requests are answered; an incomplete one remains so. */
  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    if (this.#state === 'response' || this.#state === 'flushing') {
      if (this.upgrade !== '') this.destroy();
      else watchHalfClosed(this.#socket, this.#context.timeouts.halfClose);
    } else if (this.#state === 'body') this.destroy();
    else {
      if (this.#state === 'head') this.#refuse(requestFaults.malformed);
      this.#close();
    }
  };

  #onClose(): void {
    this.#state = 'closing';
    this.#timeout.clear();
    this.#requestTimeout.clear();
    this.#abandonExchange();
    this.#context.onClose(this);
  }
}

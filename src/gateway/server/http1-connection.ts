import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TimeoutQueue } from '#base/timeout-queue.ts';
import { requestFaults } from '../http/http1/request-faults.ts';
import type { InvalidRequest } from '../http/request-head.ts';
import type { Exchange, Peer } from '../pipeline/exchange.ts';
import type { ReportInvalidRequest } from '../pipeline/invalid-request.ts';
import { createBadRequestResponse } from './create-exchange.ts';
import { watchHalfClosed } from './half-close.ts';

/** Lingering close: bytes and time for which an unread body is drained, so that the response arrives. */
const maxLingerBytes = 1_048_576;
const lingerTimeoutMs = 5000;

/** Pipelining: requests beyond which the connection is not read until those that wait are answered. */
const maxPipelinedCalls = 100;

/** An HTTP/1.1 client connection and its requests. */
export class Http1Connection {
  readonly peer: Peer;
  readonly #socket: Socket;
  #activeCalls = 0;
  #last:
    | { readonly request: IncomingMessage; readonly response: ServerResponse; readonly call: Exchange | undefined }
    | undefined;
  readonly #pipelined: (() => void)[] = [];
  #goAway: (() => void) | undefined;
  #isClosing = false;
  #hasParseError = false;

  readonly #onInvalidRequest: ReportInvalidRequest | undefined;

  constructor(socket: Socket, peer: Peer, onInvalidRequest: ReportInvalidRequest | undefined) {
    this.#socket = socket;
    this.peer = peer;
    this.#onInvalidRequest = onInvalidRequest;
  }

  /** No request is in progress. */
  get isIdle(): boolean {
    return this.#activeCalls === 0;
  }

  /** The request in progress is the last one. */
  get isClosing(): boolean {
    return this.#isClosing || this.#hasParseError;
  }

  closeAfterResponse(): void {
    this.#isClosing = true;
  }

  /**
   * Queues a pipelined request until the response in progress ends (RFC 9112, 9.3.2). What was read at once is queued,
   * then the connection pauses, as Node pauses it for a full output: until `drain`.
   */
  queuePipelined(start: () => void): void {
    if (this.#pipelined.push(start) < maxPipelinedCalls) return;
    Object.assign(this.#socket, { _paused: true });
    this.#socket.pause();
  }

  #startPipelined(): void {
    const start = this.#pipelined.shift();
    start?.();
    if (start !== undefined && this.#pipelined.length === 0) this.#socket.emit('drain');
  }

  /** Half-close (FIN) of the client: Node closes an idle connection itself. */
  onHalfClose(timeouts: TimeoutQueue | undefined): void {
    if (!this.isIdle && timeouts !== undefined) watchHalfClosed(this.#socket, timeouts);
  }

  /** Upgraded: `goAway` closes in the new protocol on shutdown; without it the connection is destroyed. */
  switchProtocol(goAway: (() => void) | undefined): void {
    this.#activeCalls = 0;
    this.#goAway = goAway;
  }

  /** Closes now when idle, else after the response in progress. */
  closeWhenIdle(): void {
    this.#isClosing = true;
    if (this.#goAway) this.#goAway();
    else if (this.isIdle) this.#socket.destroy();
  }

  /** Begins a request, valid or not; `call` is notified when the client disconnects before the response is complete. */
  beginCall(request: IncomingMessage, response: ServerResponse, call: Exchange | undefined): void {
    this.#activeCalls++;
    this.#last = { request, response, call };
    response.once('close', () => {
      this.#activeCalls--;
      if (this.#hasParseError && this.#activeCalls === 0) this.#socket.destroySoon();
      else this.#startPipelined();
      if (call && !response.writableFinished) notifyDisconnect(call);
    });
  }

  /**
   * Lingering close (RFC 9112, 9.6): drains a body still arriving after the response, within bounds. Closing with
   * unread bytes would send a TCP reset, and the client would lose the response.
   */
  linger(request: IncomingMessage): void {
    const socket = this.#socket;
    const maxBytesRead = socket.bytesRead + maxLingerBytes;
    socket.destroySoon = () => {
      if (socket.destroyed) return;
      socket.end();
      const timer = setTimeout(() => socket.destroy(), lingerTimeoutMs);
      socket.once('close', () => clearTimeout(timer));
      request.on('data', () => void (socket.bytesRead > maxBytesRead && socket.destroy()));
      request.once('end', () => socket.destroy());
      if (request.complete) socket.destroy();
    };
  }

  /** Parse error or timeout. Answered only where the response cannot be mistaken for that of another request. */
  onParseError(error: NodeJS.ErrnoException): void {
    const socket = this.#socket;
    const isInBody = this.#last !== undefined && this.#activeCalls > 0 && !this.#last.request.complete;
    const mayAnswer = isInBody ? this.#activeCalls === 1 && !this.#last!.response.headersSent : this.#activeCalls === 0;
    if (!isInBody && this.#activeCalls > 0 && socket.writable) {
      this.#hasParseError = true;
      return;
    }
    if (!mayAnswer || this.#hasParseError || !socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    this.#hasParseError = true;
    if (isInBody && this.#last!.call) notifyDisconnect(this.#last!.call);
    const refusal = parseErrorResponses[error.code ?? ''] ?? requestFaults.malformed;
    const { status } = refusal;
    // A request in progress is recorded as disconnected.
    if (!isInBody) this.#reportInvalid(refusal);
    const { headers, body } = createBadRequestResponse(refusal);
    socket.end(
      `HTTP/1.1 ${status} ${parseErrorReasons[status]}\r\n${formatHeaderLines(headers)}Connection: close\r\n\r\n${body}`,
    );
    const timer = setTimeout(() => socket.destroy(), lingerTimeoutMs);
    socket.once('close', () => clearTimeout(timer));
  }

  #reportInvalid(fault: InvalidRequest): void {
    const unparsed = { method: undefined, target: undefined };
    this.#onInvalidRequest?.({ ...fault, ...unparsed, peer: this.peer, protocol: 'HTTP/1.1' });
  }
}

function notifyDisconnect(call: Exchange): void {
  if (call.isClientDisconnected) return;
  call.isClientDisconnected = true;
  call.onDisconnect?.();
}

const parseErrorResponses: Readonly<Record<string, InvalidRequest>> = {
  HPE_HEADER_OVERFLOW: requestFaults.headTooLarge,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: requestFaults.extensionsTooLarge,
  HPE_INVALID_METHOD: requestFaults.method,
  HPE_INVALID_VERSION: requestFaults.version,
  ERR_HTTP_REQUEST_TIMEOUT: requestFaults.late,
};

const parseErrorReasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  431: 'Request Header Fields Too Large',
  505: 'HTTP Version Not Supported',
};

function formatHeaderLines(headers: readonly string[]): string {
  let text = '';
  for (let at = 0; at < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`;
  return text;
}

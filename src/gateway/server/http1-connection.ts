import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Exchange, Peer } from '../pipeline/exchange.ts';
import { createBadRequestResponse } from './create-exchange.ts';

/** How much of a body nobody wants is still taken, and for how long, so that the answer before it arrives. */
const maxLingerBytes = 1_048_576;
const lingerTimeoutMs = 5000;

/** Calls sent ahead that may wait for the one under way. */
const maxPipelinedCalls = 100;

/** One connection of a caller and the calls on it. */
export class Http1Connection {
  readonly peer: Peer;
  readonly #socket: Socket;
  #open = 0;
  #last:
    | { readonly request: IncomingMessage; readonly response: ServerResponse; readonly call: Exchange | undefined }
    | undefined;
  readonly #ahead: (() => void)[] = [];
  #goAway: (() => void) | undefined;
  #ending = false;
  #broken = false;

  constructor(socket: Socket, peer: Peer) {
    this.#socket = socket;
    this.peer = peer;
  }

  /** No call is under way. */
  get isIdle(): boolean {
    return this.#open === 0;
  }

  /** The call under way is the last one. */
  get isClosing(): boolean {
    return this.#ending || this.#broken;
  }

  closeAfterResponse(): void {
    this.#ending = true;
  }

  /** For a call that was sent before the one under way was answered. */
  queuePipelined(start: () => void): void {
    if (this.#ahead.length < maxPipelinedCalls) this.#ahead.push(start);
    else this.#socket.destroy();
  }

  /** Another protocol from here on: `goAway` ends it in that protocol; without it the connection is broken. */
  switchProtocol(goAway: (() => void) | undefined): void {
    this.#open = 0;
    this.#goAway = goAway;
  }

  /** Now, where no call is under way; else with its answer. */
  closeWhenIdle(): void {
    this.#ending = true;
    if (this.#goAway) this.#goAway();
    else if (this.isIdle) this.#socket.destroy();
  }

  /** A call begins, or what would have been one; `call` is told when the caller leaves before its answer is complete. */
  beginCall(request: IncomingMessage, response: ServerResponse, call: Exchange | undefined): void {
    this.#open++;
    this.#last = { request, response, call };
    response.once('close', () => {
      this.#open--;
      if (this.#broken && this.#open === 0) this.#socket.destroySoon();
      else this.#ahead.shift()?.();
      if (call && !response.writableFinished) notifyDisconnect(call);
    });
  }

  /**
   * Ends the connection after an answer whose call still has a body coming: what is left of it is read and thrown away for
   * a while. Closing over unread bytes would make the caller's system drop the answer too.
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

  /** What came is not HTTP, or came too slowly. Answered only where the answer cannot be taken for that of another call. */
  onParseError(error: NodeJS.ErrnoException): void {
    const socket = this.#socket;
    const isInBody = this.#last !== undefined && this.#open > 0 && !this.#last.request.complete;
    const mayAnswer = isInBody ? this.#open === 1 && !this.#last!.response.headersSent : this.#open === 0;
    if (!isInBody && this.#open > 0 && socket.writable) {
      this.#broken = true;
      return;
    }
    if (!mayAnswer || this.#broken || !socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    this.#broken = true;
    if (isInBody && this.#last!.call) notifyDisconnect(this.#last!.call);
    const [status, fault] = parseErrorResponses[error.code ?? ''] ?? [400, 'not HTTP as it should be'];
    const { headers, body } = createBadRequestResponse({ status, fault });
    socket.end(
      `HTTP/1.1 ${status} ${parseErrorReasons[status]}\r\n${formatHeaderLines(headers)}Connection: close\r\n\r\n${body}`,
    );
    const timer = setTimeout(() => socket.destroy(), lingerTimeoutMs);
    socket.once('close', () => clearTimeout(timer));
  }
}

function notifyDisconnect(call: Exchange): void {
  if (call.isClientDisconnected) return;
  call.isClientDisconnected = true;
  call.onDisconnect?.();
}

const parseErrorResponses: Readonly<Record<string, readonly [status: number, fault: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'the head is too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'the chunk extensions are too large'],
  HPE_INVALID_VERSION: [505, 'only HTTP/1.1, HTTP/1.0 and HTTP/2'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the call did not arrive in time'],
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

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { assertFinalStatus, type ResponseWriter } from '../pipeline/response-writer.ts';
import type { Http1Connection } from './http1-connection.ts';

/** Response writer over HTTP/1.1. */
export class Http1Writer implements ResponseWriter {
  readonly #connection: Http1Connection;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #writeTimeoutMs: number;
  readonly #onWriteError: (error: Error) => void;
  #hasWritten = false;
  #writeTimer: NodeJS.Timeout | undefined;
  onDrain: (() => void) | undefined;

  constructor(
    connection: Http1Connection,
    request: IncomingMessage,
    response: ServerResponse,
    writeTimeoutMs: number,
    onWriteError: (error: Error) => void,
  ) {
    this.#connection = connection;
    this.#request = request;
    this.#response = response;
    this.#writeTimeoutMs = writeTimeoutMs;
    this.#onWriteError = onWriteError;
  }

  writeHead(status: number, headers: string[]): void {
    const connection = this.#connection;
    if (!this.#request.complete && hasBody(this.#request)) {
      connection.closeAfterResponse();
      connection.linger(this.#request);
    }
    if (status === 204) removeContentLength(headers);
    if (connection.isClosing) headers.push('Connection', 'close');
    try {
      assertFinalStatus(status);
      this.#response.writeHead(status, headers);
    } catch (error) {
      // An invalid status or header: written as it is, it could split the response.
      this.#onWriteError(error as Error);
      this.#response.writeHead(500, connection.isClosing ? ['Connection', 'close'] : []);
    }
    process.nextTick(flushUnwritten, this);
  }

  /** Deferred head: sent with the first bytes, or on the next tick. */
  flush(): void {
    if (!this.#hasWritten && !this.#response.destroyed) this.#response.flushHeaders();
  }

  write(chunk: Uint8Array): boolean {
    this.#hasWritten = true;
    const more = this.#response.write(chunk);
    if (!more && !this.#response.destroyed) this.#startWriteTimer();
    return more;
  }

  /** Write timeout: a client that reads nothing for so long counts as disconnected. */
  #startWriteTimer(): void {
    if (this.#writeTimer) {
      this.#writeTimer.refresh();
      return;
    }
    this.#writeTimer = setTimeout(() => this.#response.socket?.writableNeedDrain && this.abort(), this.#writeTimeoutMs);
    this.#response.on('drain', () => this.onDrain?.());
    this.#response.once('close', () => clearTimeout(this.#writeTimer));
  }

  end(chunk?: Uint8Array, trailers?: readonly string[]): void {
    const response = this.#response;
    this.#hasWritten = true;
    if (trailers && trailers.length > 0 && response.chunkedEncoding && /\btrailers\b/i.test(this.#readTe()))
      response.addTrailers(toPairs(trailers));
    if (chunk) response.end(chunk);
    else response.end();
  }

  #readTe(): string {
    return String(this.#request.headers.te ?? '');
  }

  abort(): void {
    this.#response.destroy();
  }

  switchProtocol(headers: string[], goAway?: () => void): Duplex {
    const response = this.#response;
    const { socket } = response;
    response.writeHead(101, headers);
    response.flushHeaders();
    response.detachSocket(socket!);
    this.#connection.switchProtocol(goAway);
    return socket!;
  }
}

const flushUnwritten = (writer: Http1Writer) => writer.flush();

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

function removeContentLength(headers: string[]): void {
  for (let at = headers.length - 2; at >= 0; at -= 2)
    if (headers[at]!.toLowerCase() === 'content-length') headers.splice(at, 2);
}

function toPairs(flat: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at < flat.length; at += 2) pairs.push([flat[at]!, flat[at + 1]!]);
  return pairs;
}

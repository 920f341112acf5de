import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { assertFinalStatus, type ResponseWriter } from '../pipeline/response-writer.ts';
import type { Http1Connection } from './http1-connection.ts';

/** An answer over HTTP/1.1. */
export class Http1Writer implements ResponseWriter {
  readonly #connection: Http1Connection;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #stalledMs: number;
  readonly #onFault: (error: Error) => void;
  #written = false;
  #stalled: NodeJS.Timeout | undefined;
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
    this.#stalledMs = writeTimeoutMs;
    this.#onFault = onWriteError;
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
      // A status or header that no answer may have: written as it is, it could pass for something else.
      this.#onFault(error as Error);
      this.#response.writeHead(500, connection.isClosing ? ['Connection', 'close'] : []);
    }
    process.nextTick(flushUnwritten, this);
  }

  /** The head goes out together with the first bytes, unless those take their time. */
  flush(): void {
    if (!this.#written && !this.#response.destroyed) this.#response.flushHeaders();
  }

  write(chunk: Uint8Array): boolean {
    this.#written = true;
    const more = this.#response.write(chunk);
    if (!more && !this.#response.destroyed) this.#wait();
    return more;
  }

  /** A caller that takes nothing for too long has left, whatever its connection says. */
  #wait(): void {
    if (this.#stalled) {
      this.#stalled.refresh();
      return;
    }
    this.#stalled = setTimeout(() => this.#response.socket?.writableNeedDrain && this.abort(), this.#stalledMs);
    this.#response.on('drain', () => this.onDrain?.());
    this.#response.once('close', () => clearTimeout(this.#stalled));
  }

  end(chunk?: Uint8Array, trailers?: readonly string[]): void {
    const response = this.#response;
    this.#written = true;
    if (trailers && trailers.length > 0 && response.chunkedEncoding && /\btrailers\b/i.test(this.#te()))
      response.addTrailers(toPairs(trailers));
    if (chunk) response.end(chunk);
    else response.end();
  }

  #te(): string {
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

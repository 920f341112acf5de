import type { Socket } from 'node:net';
import { formatChunkSize, formatLastChunk } from '../../http/http1/write-message.ts';
import { createUpstreamError } from './errors.ts';
import { formatFraming, type RequestBodyLength } from './request-head.ts';

export interface RequestSenderEvents {
  /** The socket takes no more until it drains. */
  onStall(): void;
  /** The whole request was written. */
  onSent(): void;
  onError(error: Error): void;
}

/** Sends a streamed request body by its length or in chunks, with back-pressure. The head goes out with the first bytes. */
export class RequestSender {
  readonly #socket: Socket;
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #length: RequestBodyLength;
  readonly #method: string;
  readonly #events: RequestSenderEvents;
  readonly #onNext = (result: IteratorResult<Uint8Array>): void => this.#receive(result);
  readonly #onFailure = (error: unknown): void => this.#fail(error as Error);
  /** Sent with the first bytes. */
  #head: string;
  #sentBytes = 0;
  #isDone = false;
  #isStalled = false;

  constructor(
    socket: Socket,
    body: AsyncIterable<Uint8Array>,
    request: { readonly head: string; readonly length: RequestBodyLength; readonly method: string },
    events: RequestSenderEvents,
  ) {
    this.#socket = socket;
    this.#source = body[Symbol.asyncIterator]();
    this.#head = request.head;
    this.#length = request.length;
    this.#method = request.method;
    this.#events = events;
  }

  start(): void {
    this.#pull();
  }

  onDrain(): void {
    if (!this.#isStalled) return;
    this.#isStalled = false;
    this.#pull();
  }

  /** Ends sending: the source is notified that the rest of the body is not read. */
  stop(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    // Result and failure of a source that is no longer read have no reader.
    this.#source.return?.().then(undefined, () => undefined);
  }

  #pull(): void {
    if (!this.#isDone) this.#source.next().then(this.#onNext, this.#onFailure);
  }

  #receive({ done, value }: IteratorResult<Uint8Array>): void {
    if (this.#isDone) return;
    try {
      if (done) this.#finish();
      else if (value.byteLength === 0 || this.#write(value)) this.#pull();
      else {
        this.#isStalled = true;
        this.#events.onStall();
      }
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #write(chunk: Uint8Array): boolean {
    const length = this.#length;
    this.#sentBytes += chunk.byteLength;
    if (length !== undefined && this.#sentBytes > length) throw createLengthError();
    const socket = this.#socket;
    socket.cork();
    const start = this.#takeHead(length) + (length === undefined ? formatChunkSize(chunk.byteLength) : '');
    if (start !== '') socket.write(start, 'latin1');
    let more = socket.write(chunk);
    if (length === undefined) more = socket.write('\r\n', 'latin1');
    socket.uncork();
    return more;
  }

  #finish(): void {
    const length = this.#length;
    if (length !== undefined && this.#sentBytes !== length) throw createLengthError();
    this.#isDone = true;
    // A stream without bytes is no content, chunked or not.
    if (this.#sentBytes === 0) this.#socket.write(this.#takeHead(0), 'latin1');
    else if (length === undefined) this.#socket.write(formatLastChunk(), 'latin1');
    this.#events.onSent();
  }

  #takeHead(length: RequestBodyLength): string {
    const head = this.#head;
    if (head === '') return '';
    this.#head = '';
    return head + formatFraming(length, this.#method);
  }

  #fail(error: Error): void {
    if (this.#isDone) return;
    this.stop();
    this.#events.onError(error);
  }
}

const createLengthError = () =>
  createUpstreamError('lengthMismatch', 'the request body does not match its Content-Length');

import type { Socket } from 'node:net';
import type { TimeoutQueue } from '#base/timeout-queue.ts';
import { sliceLatin1 } from '../../http/http1/syntax.ts';
import type { ConnectionContext } from './connection-context.ts';
import { ConnectionTimeout } from './connection-timeout.ts';
import type { WriteBuffers } from './write-buffers.ts';

/** Text and bytes up to this size are written as one string: one copy and one system call, without a buffer. */
const maxJoinedBytes = 16_384;

/** Writing side of a client connection: joins small writes, and ends a connection whose client reads nothing. */
export class SocketOutput {
  readonly #socket: Socket;
  readonly #timeouts: TimeoutQueue;
  readonly #buffers: WriteBuffers;
  readonly #timeout = new ConnectionTimeout(() => this.#onTimeout());
  readonly #onDrain: () => void;
  /** Bytes that wait for the client, at the last check. */
  #waitingBytes = 0;
  #isWatching = false;
  #isReleased = false;

  constructor(
    socket: Socket,
    { timeouts, writeBuffers }: Pick<ConnectionContext, 'timeouts' | 'writeBuffers'>,
    onDrain: () => void,
  ) {
    this.#socket = socket;
    this.#timeouts = timeouts.write;
    this.#buffers = writeBuffers;
    this.#onDrain = onDrain;
    socket.once('close', () => this.#timeout.clear());
  }

  /** Written bytes wait for the client; `onDrain` follows. */
  get isBlocked(): boolean {
    return this.#socket.writableLength > 0 && this.#socket.writableNeedDrain;
  }

  /**
   * Writes text, bytes and text with one system call; false when they have to wait for the client. `isShared`: the bytes
   * are overwritten after the call.
   */
  write(before: string, chunk: Uint8Array | undefined, after: string, isShared: boolean): boolean {
    const socket = this.#socket;
    if (socket.destroyed || socket.writableEnded) return true;
    const isCopied = isShared && chunk !== undefined && before.length + chunk.length + after.length > maxJoinedBytes;
    if (isCopied ? this.#writeCopy(before, chunk, after) : writeJoined(socket, before, chunk, after, isShared))
      return true;
    this.watch();
    return false;
  }

  #writeCopy(before: string, chunk: Uint8Array, after: string): boolean {
    const buffer = this.#buffers.join(before, chunk, after);
    return this.#socket.write(buffer, error => {
      if (!error) this.#buffers.release(buffer);
    });
  }

  /** Write timeout: a client that reads nothing for so long counts as disconnected, whatever it sends meanwhile. */
  watch(): void {
    this.#startTimeout();
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#socket.on('drain', () => {
      if (this.#isReleased) return;
      this.#timeout.clear();
      this.#onDrain();
    });
  }

  #startTimeout(): void {
    this.#waitingBytes = countWaitingBytes(this.#socket);
    this.#timeout.start(this.#timeouts);
  }

  #onTimeout(): void {
    if (countWaitingBytes(this.#socket) === this.#waitingBytes) this.#socket.destroy();
    else this.#startTimeout();
  }

  /** Another protocol writes from here on. */
  release(): void {
    this.#isReleased = true;
    this.#timeout.clear();
  }
}

/** Bytes in the stream, and in the write queue of its handle: a large write shows its progress only there. */
function countWaitingBytes(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: { readonly writeQueueSize: number } | null };
  return socket.writableLength + (handle?.writeQueueSize ?? 0);
}

function writeJoined(
  socket: Socket,
  before: string,
  chunk: Uint8Array | undefined,
  after: string,
  isShared: boolean,
): boolean {
  if (chunk === undefined) return before + after === '' || socket.write(before + after, 'latin1');
  if (before === '' && after === '' && !isShared) return socket.write(chunk);
  if (before.length + chunk.length + after.length <= maxJoinedBytes)
    return socket.write(before + toLatin1Text(chunk) + after, 'latin1');
  socket.cork();
  if (before !== '') socket.write(before, 'latin1');
  let isBelowMark = socket.write(chunk);
  if (after !== '') isBelowMark = socket.write(after, 'latin1');
  socket.uncork();
  return isBelowMark;
}

const toLatin1Text = (chunk: Uint8Array): string => {
  const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return sliceLatin1(bytes, 0, bytes.length);
};

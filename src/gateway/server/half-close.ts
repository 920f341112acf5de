import type { Socket } from 'node:net';
import type { TimeoutEntry, TimeoutQueue } from '#base/timeout-queue.ts';

/**
 * Half-close (FIN) of a client with requests in progress: they are answered. A client that has left looks the same until
 * something is written to it, so it counts as disconnected when nothing was written for the timeout; undefined: at once.
 */
export function watchHalfClosed(socket: Socket, timeouts: TimeoutQueue | undefined): void {
  if (timeouts === undefined) return void socket.destroy();
  let { bytesWritten } = socket;
  const entry: TimeoutEntry = {
    expiresAtMs: 0,
    onTimeout() {
      // Bytes that wait for the client have the write timeout.
      if (socket.bytesWritten === bytesWritten && socket.writableLength === 0) return void socket.destroy();
      ({ bytesWritten } = socket);
      timeouts.start(entry);
    },
  };
  timeouts.start(entry);
  socket.once('close', () => timeouts.clear(entry));
}

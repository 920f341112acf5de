import type { OnReadOpts, Socket } from 'node:net';
import { sharedReadBytes } from '../../http/http1/shared-read.ts';
import type { UpstreamConnection } from './connection.ts';

const connectionOf = Symbol('connection');

interface ConnectedSocket extends Socket {
  [connectionOf]?: UpstreamConnection;
}

/**
 * One read buffer for all sockets of the thread: a read is handled before the next one begins, so a connection needs no
 * memory of its own. What outlives the callback is copied.
 */
export function createSharedReads(): { readonly onread: OnReadOpts; attach: typeof attachConnection } {
  const buffer = Buffer.allocUnsafeSlow(sharedReadBytes);
  return {
    onread: {
      buffer,
      callback(this: ConnectedSocket, byteCount: number): boolean {
        const connection = this[connectionOf];
        if (connection !== undefined) return connection.receive(buffer.subarray(0, byteCount), true);
        // Bytes before the first request: no response to anything.
        this.destroy();
        return true;
      },
    } as OnReadOpts,
    attach: attachConnection,
  };
}

/**
 * Routes the bytes of a socket to its connection. Node ignores `onread` for TLS inside a tunnel; the bytes of such a
 * socket come as a stream.
 */
function attachConnection(socket: Socket, connection: UpstreamConnection): void {
  (socket as ConnectedSocket)[connectionOf] = connection;
  socket.on('data', (chunk: Buffer) => {
    if (!connection.receive(chunk, false)) socket.pause();
  });
}

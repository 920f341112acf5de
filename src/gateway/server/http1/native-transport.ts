import { formatHttpDate } from '#base/clock.ts';
import { TimeoutQueue } from '#base/timeout-queue.ts';
import { createBodyRate } from '../body-rate.ts';
import { readPeer } from '../peer.ts';
import type { Transport, TransportOptions } from '../transport.ts';
import { ServerConnection } from './connection.ts';
import type { ConnectionContext, ManagedConnection } from './connection-context.ts';
import { WriteBuffers } from './write-buffers.ts';

/** Lingering close: time for which an unread request is drained, so that the response arrives. */
const lingerTimeoutMs = 5000;

/** Margin beyond the time in `Keep-Alive`: a request may be on its way when it ends. */
const keepAliveGraceMs = 1000;

/** HTTP/1.1 transport of the gateway's own engine. */
export function createNativeTransport(options: TransportOptions): Transport {
  const { limits, clock } = options;
  const { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, writeTimeoutMs, halfCloseTimeoutMs } = limits;
  const connections = new Set<ManagedConnection>();
  const keepAliveSeconds = Math.floor(keepAliveTimeoutMs / 1000);
  let isClosing = false;
  let dateSecond = -1;
  let dateLine = '';

  const context: ConnectionContext = {
    options,
    bodyRate: createBodyRate(limits.bodyRate),
    timeouts: {
      head: new TimeoutQueue(headersTimeoutMs),
      request: requestTimeoutMs > 0 ? new TimeoutQueue(Math.max(requestTimeoutMs, headersTimeoutMs)) : undefined,
      keepAlive: new TimeoutQueue(keepAliveTimeoutMs + keepAliveGraceMs),
      linger: new TimeoutQueue(lingerTimeoutMs),
      halfClose: halfCloseTimeoutMs > 0 ? new TimeoutQueue(halfCloseTimeoutMs) : undefined,
      write: new TimeoutQueue(writeTimeoutMs),
    },
    writeBuffers: new WriteBuffers(),
    keepAliveLines: `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}\r\n\r\n`,
    dateLine() {
      const second = Math.floor(clock.now() / 1000);
      if (second !== dateSecond) {
        dateSecond = second;
        dateLine = `Date: ${formatHttpDate(second * 1000)}\r\n`;
      }
      return dateLine;
    },
    onClose: connection => connections.delete(connection),
  };

  return {
    accept(socket, port) {
      // Socket errors surface as a disconnect in the 'close' event.
      socket.on('error', () => undefined);
      if (isClosing) socket.destroy();
      else connections.add(new ServerConnection(socket, readPeer(socket, port, options.clientAddress), context));
    },
    close() {
      isClosing = true;
      for (const connection of connections) connection.closeWhenIdle();
    },
    closePort(port) {
      for (const connection of connections) if (connection.peer.port === port) connection.closeWhenIdle();
    },
  };
}

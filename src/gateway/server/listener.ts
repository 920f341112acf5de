import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { TlsAcceptor } from './tls-acceptor.ts';
import type { Transport } from './transport.ts';

export interface ListenerOptions {
  readonly http1: Transport;
  /** HTTP/2 with prior knowledge or ALPN. */
  readonly http2?: Transport | undefined;
  /** TLS termination; absent for cleartext. */
  readonly tlsAcceptor?: TlsAcceptor | undefined;
  /** The API port; 0 for the gateway's own port. */
  readonly apiPort: number;
  /** Timeout for the first bytes, from which the protocol is detected. */
  readonly firstByteTimeoutMs: number;
  readonly maxConnections: number;
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly reusePort: boolean;
}

/** A listening port. */
export interface Listener {
  listen(address: ListenAddress): Promise<number>;
  /** Accepts no more connections; resolves when the last one has closed. */
  close(): Promise<void>;
}

export function createListener(options: ListenerOptions): Listener {
  const { http1, http2, tlsAcceptor, apiPort, firstByteTimeoutMs, maxConnections } = options;
  const acceptTls = tlsAcceptor?.createAcceptor(socket => {
    (http2 && socket.alpnProtocol === 'h2' ? http2 : http1).accept(socket, apiPort);
  });
  // Half-open: the transports decide about a client that has ended its side.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, socket => {
    if (acceptTls) acceptTls(socket);
    else if (http2)
      sniffProtocol(socket, firstByteTimeoutMs, isHttp2 => (isHttp2 ? http2 : http1).accept(socket, apiPort));
    else http1.accept(socket, apiPort);
  });
  server.maxConnections = maxConnections;
  return toListener(server);
}

/**
 * Opens and closes the port of a server. A close waits for a listen in progress: Node takes a server that resolves its
 * address for a closed one, and opens it afterwards, which keeps the thread alive.
 */
export function toListener(server: Server): Listener {
  let opening: Promise<unknown> = Promise.resolve();
  return {
    listen(address) {
      const listening = startListening(server, address);
      opening = listening.catch(() => undefined);
      return listening;
    },
    async close() {
      await opening;
      await new Promise<void>(resolve => server.close(() => resolve()));
    },
  };
}

/** HTTP/2 connection preface (RFC 9113, 3.4). */
const http2Preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** Detects HTTP/2 by its preface; unshifts the bytes read. */
function sniffProtocol(socket: Socket, timeoutMs: number, decide: (isHttp2: boolean) => void): void {
  const destroy = () => socket.destroy();
  let received: Buffer = Buffer.alloc(0);
  const onReadable = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const length = Math.min(received.length, http2Preface.length);
    const hasPreface = received.compare(http2Preface, 0, length, 0, length) === 0;
    if (hasPreface && length < http2Preface.length) return;
    socket.off('readable', onReadable).off('end', destroy).off('timeout', destroy).off('error', destroy);
    socket.setTimeout(0);
    socket.unshift(received);
    decide(hasPreface);
  };
  socket.on('readable', onReadable).once('end', destroy).once('error', destroy);
  socket.setTimeout(timeoutMs, destroy);
}

function startListening(server: Server, address: ListenAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(address, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

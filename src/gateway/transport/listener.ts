import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Transport } from './transport.ts';

export interface ListenerOptions {
  readonly http1: Transport;
  /** What an API with a port of its own is found by; 0 for the gateway's own port. */
  readonly listensFor: number;
  /** How long a connection may stay silent before it says what it wants. */
  readonly silenceMs: number;
  readonly connections: number;
}

/** A port on which callers are taken. */
export interface Listener {
  listen(at: { host: string; port: number; reusePort: boolean }): Promise<number>;
  /** Takes no more connections; resolves when the last one has ended. */
  close(): Promise<void>;
}

export function createListener({ http1, listensFor, connections }: ListenerOptions): Listener {
  const open = new Set<Socket>();
  // A caller that has said everything it wants to say still gets its answer over the other half.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, socket => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    http1.accept(socket, listensFor);
  });
  server.maxConnections = connections;
  return {
    listen: at => listening(server, at),
    close: () => new Promise(resolve => server.close(() => resolve())),
  };
}

function listening(server: Server, at: { host: string; port: number; reusePort: boolean }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(at, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

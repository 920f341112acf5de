import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Secured } from './tls-acceptor.ts';
import type { Transport } from './transport.ts';

export interface ListenerOptions {
  readonly http1: Transport;
  /** Also spoken, with callers that begin in it. */
  readonly http2?: Transport | undefined;
  /** Takes connections over TLS; absent for those in the clear. */
  readonly secured?: Secured | undefined;
  /** What an API with a port of its own is found by; 0 for the gateway's own port. */
  readonly listensFor: number;
  /** How long a connection may stay silent before it says what it wants. */
  readonly silenceMs: number;
  readonly connections: number;
}

export interface Place {
  readonly host: string;
  readonly port: number;
  readonly reusePort: boolean;
}

/** A port on which callers are taken. */
export interface Listener {
  listen(at: Place): Promise<number>;
  /** Takes no more connections; resolves when the last one has ended. */
  close(): Promise<void>;
}

export function createListener(options: ListenerOptions): Listener {
  const { http1, http2, secured, listensFor, silenceMs, connections } = options;
  const door = secured?.door(socket => {
    (http2 && socket.alpnProtocol === 'h2' ? http2 : http1).accept(socket, listensFor);
  });
  // A caller that has said everything it wants to say still gets its answer over the other half.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, socket => {
    if (door) door(socket);
    else if (http2) sniff(socket, silenceMs, isHttp2 => (isHttp2 ? http2 : http1).accept(socket, listensFor));
    else http1.accept(socket, listensFor);
  });
  server.maxConnections = connections;
  return {
    listen: at => listening(server, at),
    close: () => new Promise(resolve => server.close(() => resolve())),
  };
}

/** What a connection in HTTP/2 begins with, and none in HTTP/1.1 can. */
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** Looks at the first bytes, and puts them back. */
function sniff(socket: Socket, silenceMs: number, decide: (isHttp2: boolean) => void): void {
  const leave = () => socket.destroy();
  let seen: Buffer = Buffer.alloc(0);
  const look = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
    const length = Math.min(seen.length, preface.length);
    const isBegun = seen.compare(preface, 0, length, 0, length) === 0;
    if (isBegun && length < preface.length) return;
    socket.off('readable', look).off('end', leave).off('timeout', leave).off('error', leave);
    socket.setTimeout(0);
    socket.unshift(seen);
    decide(isBegun);
  };
  socket.on('readable', look).once('end', leave).once('error', leave);
  socket.setTimeout(silenceMs, leave);
}

function listening(server: Server, at: Place): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(at, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

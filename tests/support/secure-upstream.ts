import { createServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { TLSSocket, TlsOptions } from 'node:tls';

/** An upstream over TLS that reports its connection. */
export interface SecureUpstream {
  readonly port: number;
  connections: number;
  close(): Promise<void>;
}

export interface Reached {
  readonly protocol: string;
  readonly cipher: string;
  readonly caller: string | undefined;
  readonly serverName: string | false;
  readonly host: string;
  readonly url: string;
}

export const closing = (server: Server, sockets: ReadonlySet<Socket>) => () =>
  new Promise<void>(resolve => {
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });

export function trackSockets(server: Server): Set<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  return sockets;
}

export async function listen(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

export async function startSecure(options: TlsOptions): Promise<SecureUpstream> {
  const server = createServer({ requestCert: true, rejectUnauthorized: false, ...options }, (request, response) => {
    const socket = request.socket as TLSSocket;
    const reached: Reached = {
      protocol: socket.getProtocol()!,
      cipher: socket.getCipher().name,
      caller: socket.getPeerCertificate().subject?.CN as string | undefined,
      serverName: (socket as TLSSocket & { servername: string | false }).servername,
      host: request.headers.host!,
      url: request.url!,
    };
    response.end(JSON.stringify(reached));
  });
  const sockets = trackSockets(server);
  const upstream: SecureUpstream = { port: await listen(server), connections: 0, close: closing(server, sockets) };
  server.on('secureConnection', () => upstream.connections++);
  return upstream;
}

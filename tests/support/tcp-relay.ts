import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A line between a program and a server that a test can cut and mend. */
export interface Relay {
  /** The given address, through the relay. */
  readonly url: string;
  cut(): Promise<void>;
  mend(): Promise<void>;
}

export async function startRelay(target: string): Promise<Relay> {
  const url = new URL(target);
  const { hostname, port } = url;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  };
  let server: Server;
  const listen = (at: number) =>
    new Promise<void>((resolve, reject) => {
      server = createServer(near => {
        const far = connect(Number(port), hostname);
        for (const [one, other] of [
          [near, far],
          [far, near],
        ] as const) {
          keep(one);
          one.pipe(other);
          one.on('close', () => other.destroy());
        }
      });
      server.once('error', reject);
      server.listen(at, '127.0.0.1', () => resolve());
    });
  await listen(0);
  const own = (server!.address() as AddressInfo).port;
  url.host = `127.0.0.1:${own}`;
  return {
    url: url.href,
    cut: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
    mend: () => listen(own),
  };
}

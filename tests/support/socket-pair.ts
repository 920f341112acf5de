import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Both ends of a TCP connection over loopback. */
export interface SocketPair {
  readonly client: Socket;
  readonly server: Socket;
}

/** Opens a connection; `t` destroys both ends after its test. The half-close of one end leaves the other open. */
export async function openSocketPair(t: { after(end: () => void): void }): Promise<SocketPair> {
  const listening = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const accepted = once(listening, 'connection');
  const client = connect({ port: (listening.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  const [server] = (await accepted) as [Socket];
  listening.close();
  for (const socket of [client, server]) {
    socket.on('error', () => undefined);
    t.after(() => socket.destroy());
  }
  return { client, server };
}

import { connect, createServer, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createGuardedLookup, refuseHost } from '#base/address-policy.ts';
import { normalizeHostHeader } from '../http/request-head.ts';
import { watchHandshake } from '../proxy/tls-errors.ts';
import { pipeBoth } from '../proxy/tunnel.ts';
import { type Listener, toListener } from '../server/listener.ts';
import type { TlsAcceptor } from '../server/tls-acceptor.ts';
import type { Api } from './api.ts';
import { selectTcpService, type TcpService, type TcpTarget } from './tcp-proxy.ts';

export interface TcpListenerOptions {
  /** TCP services of the port, from the snapshot in service. */
  readonly services: () => readonly Api[];
  readonly tlsAcceptor: TlsAcceptor | undefined;
  readonly connectTimeoutMs: number;
  readonly maxConnections: number;
  readonly onConnectError: (api: Api, error: Error) => void;
}

/** TCP proxy listener: forwards the bytes of each connection to the service of its SNI name. */
export function createTcpListener(options: TcpListenerOptions): Listener {
  const { services, tlsAcceptor, maxConnections } = options;
  const open = new Set<Socket>();
  const acceptTls = tlsAcceptor?.createAcceptor(socket =>
    proxyConnection(socket, normalizeHostHeader(socket.servername || ''), options),
  );
  const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: false }, socket => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    const accept = () => (acceptTls ? acceptTls(socket) : proxyConnection(socket, '', options));
    if (services().some(api => api.tcpService?.usesProxyProtocol))
      stripProxyHeader(socket, options.connectTimeoutMs, accept);
    else accept();
  });
  server.maxConnections = maxConnections;
  const port = toListener(server);
  return {
    listen: port.listen,
    async close() {
      const closed = port.close();
      // Raw TCP has no message boundary to drain to.
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

function proxyConnection(
  client: Socket,
  serverName: string,
  { services, connectTimeoutMs, onConnectError }: TcpListenerOptions,
): void {
  client.on('error', () => client.destroy());
  const api = selectTcpService(services(), serverName);
  if (!api?.tcpService || api.unavailableReason) {
    client.destroy();
    return;
  }
  client.pause();
  connectToService(api.tcpService, api, connectTimeoutMs).then(
    upstream => {
      upstream.on('error', () => upstream.destroy());
      if (client.destroyed) upstream.destroy();
      else pipeBoth(client, upstream, () => undefined);
    },
    error => {
      onConnectError(api, error as Error);
      client.destroy();
    },
  );
}

async function connectToService(service: TcpService, api: Api, timeoutMs: number): Promise<Socket> {
  const target = await service.next();
  if (!target) throw new Error('service discovery returned no host');
  return openSocket(target, api, timeoutMs);
}

function openSocket(
  { host, port, isSecure }: TcpTarget,
  { connectionOptionsFor }: Api,
  timeoutMs: number,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const connection = connectionOptionsFor({ origin: `https://${host.includes(':') ? `[${host}]` : host}:${port}` });
    const refusal = refuseHost(connection.policy, host, port);
    if (refusal) return reject(refusal);
    const lookup = createGuardedLookup(connection.policy, port);
    const socket = isSecure
      ? connectTls({
          host,
          port,
          lookup,
          ...connection.tls,
          servername: /[a-z]/i.test(host) && !host.includes(':') ? host : '',
        })
      : connect({ host, port, lookup, noDelay: true });
    const describeHandshake = isSecure ? watchHandshake(socket, host) : undefined;
    const timer = setTimeout(() => socket.destroy(createConnectTimeout(timeoutMs)), timeoutMs);
    socket.once('error', error => {
      clearTimeout(timer);
      reject(describeHandshake?.(error) ?? error);
    });
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer);
      const fault = isSecure ? connection.verifyIdentity?.(socket as TLSSocket, host) : undefined;
      if (fault) socket.destroy(fault);
      else resolve(socket);
    });
  });
}

const createConnectTimeout = (timeoutMs: number) =>
  Object.assign(new Error(`no connection in ${timeoutMs} ms`), { code: 'UND_ERR_CONNECT_TIMEOUT' });

const proxyV2Signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const maxProxyHeaderBytes = 536;

/** Strips the PROXY protocol header, v1 or v2, from the front of a connection. */
function stripProxyHeader(socket: Socket, timeoutMs: number, onStripped: () => void): void {
  let received: Buffer = Buffer.alloc(0);
  const destroy = () => socket.destroy();
  const onReadable = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    received = Buffer.concat([received, chunk]);
    const length = measureProxyHeader(received);
    if (length === 0 && received.length < maxProxyHeaderBytes) return;
    socket.off('readable', onReadable).off('end', destroy).off('timeout', destroy);
    socket.setTimeout(0);
    if (length <= 0) return destroy();
    if (received.length > length) socket.unshift(received.subarray(length));
    onStripped();
  };
  socket.on('readable', onReadable).once('end', destroy);
  socket.setTimeout(timeoutMs, destroy);
}

/** Length of the PROXY header; 0 while incomplete, negative when there is none. */
function measureProxyHeader(received: Buffer): number {
  const prefixLength = Math.min(received.length, proxyV2Signature.length);
  if (received.compare(proxyV2Signature, 0, prefixLength, 0, prefixLength) === 0) {
    if (received.length < 16) return 0;
    const length = 16 + received.readUInt16BE(14);
    return length > maxProxyHeaderBytes ? -1 : received.length < length ? 0 : length;
  }
  if (!'PROXY '.startsWith(received.subarray(0, 6).toString('latin1'))) return -1;
  const end = received.indexOf('\r\n');
  return end < 0 ? (received.length > 107 ? -1 : 0) : end + 2;
}

import { isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { buildConnector, Client } from 'undici';
import { type AddressPolicy, createGuardedLookup, type LookupAll, refuseHost } from '#base/address-policy.ts';
import type { UpstreamConnectionOptions } from './connection-options.ts';

type Connector = buildConnector.connector;
type ConnectTarget = buildConnector.Options;

export interface ConnectOptions {
  readonly timeoutMs: number;
  readonly alpn: AlpnMode;
  /** How names are resolved. */
  readonly resolve?: LookupAll | undefined;
}

/** Whether the upstream may choose HTTP/2. */
export type AlpnMode = 'http1' | 'both';

/**
 * Opens connections over a link. The name an upstream has to prove is the one of its address, never the `Host` of a call:
 * that one is the caller's to choose.
 */
export function createConnector(connection: UpstreamConnectionOptions, options: ConnectOptions): Connector {
  const { timeoutMs, alpn } = options;
  const { verifyIdentity, tls, proxy, policy } = connection;
  const checksIdentity = verifyIdentity !== undefined;
  // A session that is taken up again shows no certificate to check.
  const direct = createGuardedConnector(policy, options, {
    timeout: timeoutMs,
    allowH2: alpn === 'both',
    ...(checksIdentity ? { maxCachedSessions: 0 } : {}),
    ...tls,
  });
  const open: Connector = proxy ? createProxyConnector(proxy, connection, options) : direct;
  return (target, callback) => {
    // Behind a proxy too: what the proxy would resolve is out of reach, what is literal is not.
    const refused = proxy && refuseHost(policy, target.hostname, portOf(target));
    if (refused) return callback(refused, null);
    const { servername: _theirs, ...plain } = target;
    const name = isIP(target.hostname) === 0 ? target.hostname : undefined;
    open(
      { ...plain, ...(name ? { servername: name } : {}) },
      (...[error, socket]: Parameters<buildConnector.Callback>) => {
        if (error) return callback(error, null);
        const identityError =
          target.protocol === 'https:' ? verifyIdentity?.(socket as TLSSocket, target.hostname) : undefined;
        if (!identityError) return callback(null, recordBytesRead(socket!));
        socket!.destroy();
        callback(identityError, null);
      },
    );
  };
}

const portOf = ({ port, protocol }: Pick<ConnectTarget, 'port' | 'protocol'>): number =>
  Number(port || (protocol === 'https:' ? '443' : '80'));

/** A connector that opens connections to addresses of the policy alone, checked after DNS resolution. */
export function createGuardedConnector(
  policy: AddressPolicy,
  { resolve }: Pick<ConnectOptions, 'resolve'>,
  options: buildConnector.BuildOptions,
): Connector {
  // `net.connect` takes one lookup for all ports: it is bound to the port by a connector for each.
  const byPort = new Map<number, Connector>();
  return (target, callback) => {
    const port = portOf(target);
    const refused = refuseHost(policy, target.hostname, port);
    if (refused) return callback(refused, null);
    let connector = byPort.get(port);
    if (!connector) {
      connector = buildConnector({ ...options, lookup: createGuardedLookup(policy, port, resolve) });
      byPort.set(port, connector);
    }
    connector(target, callback);
  };
}

/** What breaks it says how much came over it before: a connection that brought nothing was never a kept one. */
function recordBytesRead(socket: Socket): Socket {
  socket.on('error', error => Object.assign(error, { socket: { bytesRead: socket.bytesRead } }));
  return socket;
}

/** Asks a forward proxy for a tunnel, and speaks TLS with the upstream inside of it where that is asked for. */
function createProxyConnector(
  proxy: URL,
  { tls, policy }: UpstreamConnectionOptions,
  options: ConnectOptions,
): Connector {
  const { timeoutMs, alpn } = options;
  const connect = createGuardedConnector(policy, options, { timeout: timeoutMs });
  const ALPNProtocols = alpn === 'both' ? ['http/1.1', 'h2'] : ['http/1.1'];
  const headers = proxyHeaders(proxy);
  return (target, callback) => {
    const port = portOf(target);
    const client = new Client(proxy.origin, { connect, headersTimeout: timeoutMs });
    client
      .connect({ path: `${target.hostname}:${port}`, headers: { host: `${target.hostname}:${port}`, ...headers } })
      .then(
        ({ socket, statusCode }) => {
          if (statusCode !== 200) {
            socket.on('error', () => undefined).destroy();
            callback(Object.assign(new Error(`the forward proxy answered ${statusCode}`), { code: 'GW_PROXY' }), null);
          } else if (target.protocol === 'https:')
            startTls(socket as Socket, target, { ...tls, ALPNProtocols }, timeoutMs, callback);
          else callback(null, socket as Socket);
        },
        error => callback(error as Error, null),
      );
  };
}

function startTls(
  socket: Socket,
  target: ConnectTarget,
  tls: ConnectionOptions,
  timeoutMs: number,
  callback: buildConnector.Callback,
): void {
  const tlsSocket = connectTls({
    ...tls,
    socket,
    ...(target.servername ? { servername: target.servername } : {}),
  });
  const timeoutError = new Error('the upstream took too long to agree on TLS');
  const timer = setTimeout(
    () => tlsSocket.destroy(Object.assign(timeoutError, { code: 'UND_ERR_CONNECT_TIMEOUT' })),
    timeoutMs,
  );
  const onError = (error: Error) => {
    clearTimeout(timer);
    callback(error, null);
  };
  tlsSocket.once('error', onError);
  tlsSocket.once('secureConnect', () => {
    clearTimeout(timer);
    tlsSocket.off('error', onError);
    callback(null, tlsSocket);
  });
}

/** What a forward proxy is told beside the address. */
export function proxyHeaders({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}

import { isIP, type OnReadOpts, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import { type AddressPolicy, createGuardedLookup, type LookupAll, refuseHost } from '#base/address-policy.ts';
import { loadUndici } from '#base/lazy-packages.ts';
import type { UpstreamConnectionOptions } from './connection-options.ts';
import { createUpstreamError } from './http1/errors.ts';
import { watchHandshake } from './tls-errors.ts';

type Connector = buildConnector.connector;
export type ConnectTarget = buildConnector.Options;

/** Splits an origin for a connector; an IPv6 address without its brackets. */
export function toConnectTarget(origin: string): ConnectTarget {
  const { protocol, hostname, port, host } = new URL(origin);
  return { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), port, host };
}

export interface ConnectOptions {
  readonly timeoutMs: number;
  readonly alpn: AlpnMode;
  /** DNS resolver; that of the system by default. */
  readonly resolve?: LookupAll | undefined;
  /** Reads into a buffer of the caller, who owns the sockets; not for TLS through a forward proxy. */
  readonly onread?: OnReadOpts | undefined;
}

/** ALPN protocols offered: HTTP/1.1 only, or HTTP/2 as well. */
export type AlpnMode = 'http1' | 'both';

/**
 * Creates the connector of one upstream connection. TLS verifies the host name of the URL, never the `Host` header,
 * which the client controls.
 */
export function createConnector(connection: UpstreamConnectionOptions, options: ConnectOptions): Connector {
  const { timeoutMs, alpn, onread } = options;
  const { verifyIdentity, tls, proxy, policy } = connection;
  const checksIdentity = verifyIdentity !== undefined;
  // A resumed TLS session has no certificate to verify.
  const direct = createGuardedConnector(policy, options, {
    timeout: timeoutMs,
    allowH2: alpn === 'both',
    ...(onread ? { onread } : {}),
    ...(checksIdentity ? { maxCachedSessions: 0 } : {}),
    ...tls,
  });
  const open: Connector = proxy ? createProxyConnector(proxy, connection, options) : direct;
  return (target, callback) => {
    // Behind a forward proxy too: a name is resolved by the proxy, a literal address is checked here.
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

/** Guarded connector: connects to addresses of the policy only, checked after DNS resolution. */
export function createGuardedConnector(
  policy: AddressPolicy,
  { resolve }: Pick<ConnectOptions, 'resolve'>,
  options: buildConnector.BuildOptions,
): Connector {
  // `net.connect` takes one lookup for all ports, so each port has its own connector.
  const byPort = new Map<number, Connector>();
  return (target, callback) => {
    const port = portOf(target);
    const refused = refuseHost(policy, target.hostname, port);
    if (refused) return callback(refused, null);
    let connector = byPort.get(port);
    if (!connector) {
      connector = withSession(
        loadUndici().buildConnector({ ...options, lookup: createGuardedLookup(policy, port, resolve) }),
      );
      byPort.set(port, connector);
    }
    connector(target, callback);
  };
}

/**
 * TLS session resumption: undici refers to its sessions weakly, so the last one of an upstream is held here. Errors of
 * the handshake are described by the certificate.
 */
function withSession(connector: Connector): Connector {
  const held: { session?: Buffer } = {};
  return (target, callback) => {
    if (target.protocol !== 'https:') return connector(target, callback);
    let describeHandshake: ReturnType<typeof watchHandshake> | undefined;
    const socket = connector(target, (...[error, opened]: Parameters<buildConnector.Callback>) => {
      const describe = describeHandshake;
      // The listener below outlives the handshake: a certificate must not.
      describeHandshake = undefined;
      if (error) callback(describe?.(error) ?? error, null);
      else callback(null, opened!);
    }) as unknown as Socket;
    describeHandshake = watchHandshake(socket, target.hostname);
    socket.on('session', (session: Buffer) => {
      held.session = session;
    });
    return socket;
  };
}

/** Adds `bytesRead` to socket errors: a retry is safe only on a reused connection, one that received bytes before. */
function recordBytesRead(socket: Socket): Socket {
  socket.on('error', error => Object.assign(error, { socket: { bytesRead: socket.bytesRead } }));
  return socket;
}

/** CONNECT through a forward proxy, with TLS to the upstream inside the tunnel for https. */
function createProxyConnector(
  proxy: URL,
  { tls, policy }: UpstreamConnectionOptions,
  options: ConnectOptions,
): Connector {
  const { timeoutMs, alpn } = options;
  const connect = createGuardedConnector(policy, options, { timeout: timeoutMs });
  const ALPNProtocols = alpn === 'both' ? ['http/1.1', 'h2'] : ['http/1.1'];
  const tlsOptions = { ...tls, ALPNProtocols };
  const headers = proxyHeaders(proxy);
  return (target, callback) => {
    const port = portOf(target);
    const client = new (loadUndici().Client)(proxy.origin, { connect, headersTimeout: timeoutMs });
    client
      .connect({ path: `${target.hostname}:${port}`, headers: { host: `${target.hostname}:${port}`, ...headers } })
      .then(
        ({ socket, statusCode }) => {
          if (statusCode !== 200) {
            socket.on('error', () => undefined).destroy();
            callback(
              createUpstreamError('proxyRefused', `the forward proxy responded with status ${statusCode}`),
              null,
            );
          } else if (target.protocol === 'https:') startTls(socket as Socket, target, tlsOptions, timeoutMs, callback);
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
  const timeoutError = new Error(`no TLS handshake in ${timeoutMs} ms`);
  const timer = setTimeout(
    () => tlsSocket.destroy(Object.assign(timeoutError, { code: 'UND_ERR_CONNECT_TIMEOUT' })),
    timeoutMs,
  );
  const describeHandshake = watchHandshake(tlsSocket, target.hostname);
  const onError = (error: Error) => {
    clearTimeout(timer);
    callback(describeHandshake(error), null);
  };
  tlsSocket.once('error', onError);
  tlsSocket.once('secureConnect', () => {
    clearTimeout(timer);
    tlsSocket.off('error', onError);
    callback(null, tlsSocket);
  });
}

/** Proxy-Authorization from the proxy URL. */
export function proxyHeaders({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}

import { isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { buildConnector, Client } from 'undici';
import { type AddressPolicy, createGuardedLookup, type LookupAll, refuseHost } from '#base/address-policy.ts';
import type { Link } from './connection-options.ts';

type Connector = buildConnector.connector;
type Asked = buildConnector.Options;

export interface ConnectOptions {
  readonly timeoutMs: number;
  readonly ways: Ways;
  /** How names are resolved. */
  readonly resolve?: LookupAll | undefined;
}

/** Whether the upstream may choose HTTP/2. */
export type Ways = 'http1' | 'both';

/**
 * Opens connections over a link. The name an upstream has to prove is the one of its address, never the `Host` of a call:
 * that one is the caller's to choose.
 */
export function connectorOf(link: Link, options: ConnectOptions): Connector {
  const { timeoutMs, ways } = options;
  const { check, tls, proxy, policy } = link;
  const isSpecial = check !== undefined;
  // A session that is taken up again shows no certificate to check.
  const direct = createGuardedConnector(policy, options, {
    timeout: timeoutMs,
    allowH2: ways === 'both',
    ...(isSpecial ? { maxCachedSessions: 0 } : {}),
    ...tls,
  });
  const open: Connector = proxy ? throughProxy(proxy, link, options) : direct;
  return (asked, callback) => {
    // Behind a proxy too: what the proxy would resolve is out of reach, what is literal is not.
    const refused = proxy && refuseHost(policy, asked.hostname, portOf(asked));
    if (refused) return callback(refused, null);
    const { servername: _theirs, ...plain } = asked;
    const name = isIP(asked.hostname) === 0 ? asked.hostname : undefined;
    open(
      { ...plain, ...(name ? { servername: name } : {}) },
      (...[error, socket]: Parameters<buildConnector.Callback>) => {
        if (error) return callback(error, null);
        const fault = asked.protocol === 'https:' ? check?.(socket as TLSSocket, asked.hostname) : undefined;
        if (!fault) return callback(null, measured(socket!));
        socket!.destroy();
        callback(fault, null);
      },
    );
  };
}

const portOf = ({ port, protocol }: Pick<Asked, 'port' | 'protocol'>): number =>
  Number(port || (protocol === 'https:' ? '443' : '80'));

/** A connector that opens connections to addresses of the policy alone, checked after DNS resolution. */
export function createGuardedConnector(
  policy: AddressPolicy,
  { resolve }: Pick<ConnectOptions, 'resolve'>,
  options: buildConnector.BuildOptions,
): Connector {
  // `net.connect` takes one lookup for all ports: it is bound to the port by a connector for each.
  const byPort = new Map<number, Connector>();
  return (asked, callback) => {
    const port = portOf(asked);
    const refused = refuseHost(policy, asked.hostname, port);
    if (refused) return callback(refused, null);
    let connector = byPort.get(port);
    if (!connector) {
      connector = buildConnector({ ...options, lookup: createGuardedLookup(policy, port, resolve) });
      byPort.set(port, connector);
    }
    connector(asked, callback);
  };
}

/** What breaks it says how much came over it before: a connection that brought nothing was never a kept one. */
function measured(socket: Socket): Socket {
  socket.on('error', error => Object.assign(error, { socket: { bytesRead: socket.bytesRead } }));
  return socket;
}

/** Asks a forward proxy for a tunnel, and speaks TLS with the upstream inside of it where that is asked for. */
function throughProxy(proxy: URL, { tls, policy }: Link, options: ConnectOptions): Connector {
  const { timeoutMs, ways } = options;
  const connect = createGuardedConnector(policy, options, { timeout: timeoutMs });
  const ALPNProtocols = ways === 'both' ? ['http/1.1', 'h2'] : ['http/1.1'];
  const headers = proxyHeaders(proxy);
  return (asked, callback) => {
    const port = portOf(asked);
    const client = new Client(proxy.origin, { connect, headersTimeout: timeoutMs });
    client
      .connect({ path: `${asked.hostname}:${port}`, headers: { host: `${asked.hostname}:${port}`, ...headers } })
      .then(
        ({ socket, statusCode }) => {
          if (statusCode !== 200) {
            socket.on('error', () => undefined).destroy();
            callback(Object.assign(new Error(`the forward proxy answered ${statusCode}`), { code: 'GW_PROXY' }), null);
          } else if (asked.protocol === 'https:')
            secured(socket as Socket, asked, { ...tls, ALPNProtocols }, timeoutMs, callback);
          else callback(null, socket as Socket);
        },
        error => callback(error as Error, null),
      );
  };
}

function secured(
  socket: Socket,
  asked: Asked,
  tls: ConnectionOptions,
  timeoutMs: number,
  callback: buildConnector.Callback,
): void {
  const secure = connectTls({
    ...tls,
    socket,
    ...(asked.servername ? { servername: asked.servername } : {}),
  });
  const late = new Error('the upstream took too long to agree on TLS');
  const timer = setTimeout(() => secure.destroy(Object.assign(late, { code: 'UND_ERR_CONNECT_TIMEOUT' })), timeoutMs);
  const failed = (error: Error) => {
    clearTimeout(timer);
    callback(error, null);
  };
  secure.once('error', failed);
  secure.once('secureConnect', () => {
    clearTimeout(timer);
    secure.off('error', failed);
    callback(null, secure);
  });
}

/** What a forward proxy is told beside the address. */
export function proxyHeaders({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}

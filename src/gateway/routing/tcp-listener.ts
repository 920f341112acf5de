import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createGuardedLookup, refuseHost } from '#base/address-policy.ts';
import { normalizeHostHeader } from '../http/request-head.ts';
import { pipeBoth } from '../proxy/tunnel.ts';
import type { Listener } from '../server/listener.ts';
import type { Secured } from '../server/tls-acceptor.ts';
import type { Api } from './api.ts';
import { type Passage, type PassageTarget, passageFor } from './tcp-proxy.ts';

export interface RawListenerOptions {
  /** Those that have the port, from the snapshot in service. */
  readonly services: () => readonly Api[];
  readonly secured: Secured | undefined;
  readonly connectMs: number;
  readonly connections: number;
  readonly onFault: (api: Api, error: Error) => void;
}

/** A port whose connections are passed on as they are. */
export function createRawListener(options: RawListenerOptions): Listener {
  const { services, secured, connections } = options;
  const open = new Set<Socket>();
  const door = secured?.door(socket => pass(socket, normalizeHostHeader(socket.servername || ''), options));
  const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: false }, socket => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    const begin = () => (door ? door(socket) : pass(socket, '', options));
    if (services().some(api => api.tcpService?.saysOrigin)) withoutOrigin(socket, options.connectMs, begin);
    else begin();
  });
  server.maxConnections = connections;
  return {
    listen: at =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(at, () => {
          server.off('error', reject);
          resolve((server.address() as AddressInfo).port);
        });
      }),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        // Nobody can tell when such a connection has said what it had to say.
        for (const socket of open) socket.destroy();
      }),
  };
}

function pass(caller: Socket, serverName: string, { services, connectMs, onFault }: RawListenerOptions): void {
  caller.on('error', () => caller.destroy());
  const api = passageFor(services(), serverName);
  if (!api?.tcpService || api.unavailableReason) {
    caller.destroy();
    return;
  }
  caller.pause();
  reached(api.tcpService, api, connectMs).then(
    upstream => {
      upstream.on('error', () => upstream.destroy());
      if (caller.destroyed) upstream.destroy();
      else pipeBoth(caller, upstream, () => undefined);
    },
    error => {
      onFault(api, error as Error);
      caller.destroy();
    },
  );
}

async function reached(passage: Passage, api: Api, withinMs: number): Promise<Socket> {
  const target = await passage.next();
  if (!target) throw new Error('its registry names no host');
  return opened(target, api, withinMs);
}

function opened(
  { host, port, isSecure }: PassageTarget,
  { connectionOptionsFor: links }: Api,
  withinMs: number,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const connection = links({ origin: `https://${host.includes(':') ? `[${host}]` : host}:${port}` });
    const refused = refuseHost(connection.policy, host, port);
    if (refused) return reject(refused);
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
    const timer = setTimeout(() => socket.destroy(new Error('the upstream took too long to connect')), withinMs);
    socket.once('error', error => {
      clearTimeout(timer);
      reject(error);
    });
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer);
      const fault = isSecure ? connection.verifyIdentity?.(socket as TLSSocket, host) : undefined;
      if (fault) socket.destroy(fault);
      else resolve(socket);
    });
  });
}

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const longestOrigin = 536;

/** Takes the line, or the block, that says where a connection comes from off its front. */
function withoutOrigin(socket: Socket, withinMs: number, begin: () => void): void {
  let seen: Buffer = Buffer.alloc(0);
  const leave = () => socket.destroy();
  const look = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    seen = Buffer.concat([seen, chunk]);
    const length = originLength(seen);
    if (length === 0 && seen.length < longestOrigin) return;
    socket.off('readable', look).off('end', leave).off('timeout', leave);
    socket.setTimeout(0);
    if (length <= 0) return leave();
    if (seen.length > length) socket.unshift(seen.subarray(length));
    begin();
  };
  socket.on('readable', look).once('end', leave);
  socket.setTimeout(withinMs, leave);
}

/** How long it is; 0 as long as it cannot be told, below 0 when there is none. */
function originLength(seen: Buffer): number {
  const begun = Math.min(seen.length, signature.length);
  if (seen.compare(signature, 0, begun, 0, begun) === 0) {
    if (seen.length < 16) return 0;
    const length = 16 + seen.readUInt16BE(14);
    return length > longestOrigin ? -1 : seen.length < length ? 0 : length;
  }
  if (!'PROXY '.startsWith(seen.subarray(0, 6).toString('latin1'))) return -1;
  const end = seen.indexOf('\r\n');
  return end < 0 ? (seen.length > 107 ? -1 : 0) : end + 2;
}

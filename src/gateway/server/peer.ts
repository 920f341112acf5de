import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { normalizeHostHeader } from '../http/request-head.ts';
import type { ClientAddressResolver } from '../pipeline/client-address.ts';
import type { Peer } from '../pipeline/exchange.ts';

/** Peer facts of a connection, read once for all its requests. */
export function readPeer(socket: Socket, port: number, clientAddress: ClientAddressResolver): Peer {
  const tls = 'encrypted' in socket ? (socket as TLSSocket) : undefined;
  const address = stripMappedPrefix(socket.remoteAddress ?? '');
  return {
    address,
    port,
    isTls: tls !== undefined,
    isTrusted: clientAddress.isTrusted(address),
    serverName: normalizeHostHeader(tls?.servername || ''),
    certificate: tls?.getPeerX509Certificate()?.raw,
  };
}

const stripMappedPrefix = (address: string) => (address.startsWith('::ffff:') ? address.slice(7) : address);

import { BlockList, isIP } from 'node:net';
import type { HeaderList } from '../http/headers.ts';
import type { Peer } from './exchange.ts';

/** Client address: that of the socket, or behind trusted proxies that of the forwarding headers. */
export interface ClientAddressResolver {
  /** True for a trusted proxy, whose forwarding headers are believed. */
  isTrusted(peer: string): boolean;
  resolve(peer: Pick<Peer, 'address' | 'isTrusted'>, headers: HeaderList): string;
}

export function createClientAddressResolver(trusted: readonly string[]): ClientAddressResolver {
  if (trusted.length === 0) return { isTrusted: () => false, resolve: peer => peer.address };
  const proxies = parseCidrList(trusted);
  const isTrusted = (address: string) => includesAddress(proxies, address);
  return {
    isTrusted,
    resolve(peer, headers) {
      if (!peer.isTrusted) return peer.address;
      const hops = headers
        .all('x-forwarded-for')
        .flatMap(value => value.split(','))
        .map(address => address.trim())
        .reverse();
      // From the nearest hop outwards: the first address that is not a trusted proxy is the client.
      for (const address of hops) {
        if (isIP(address) === 0) return peer.address;
        if (!isTrusted(address)) return address;
      }
      const realIp = headers.get('x-real-ip')?.trim() ?? '';
      return isIP(realIp) === 0 ? (hops.at(-1) ?? peer.address) : realIp;
    },
  };
}

/** Parses addresses and CIDR ranges of both families. */
export function parseCidrList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of ranges) {
    const [address, bits] = text.split('/') as [string, string | undefined];
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (isIP(address) === 0) throw new Error(`${text} is not an address or a network`);
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

export function includesAddress(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

import { BlockList, isIP } from 'node:net';
import type { HeaderList } from '../http/headers.ts';
import type { Peer } from './exchange.ts';

/** Who is calling, seen from the socket and, behind trusted proxies only, from what they say. */
export interface ClientAddress {
  /** Whether what this peer says about others is believed. */
  isTrusted(peer: string): boolean;
  of(peer: Pick<Peer, 'address' | 'isTrusted'>, headers: HeaderList): string;
}

export function clientAddressReader(trusted: readonly string[]): ClientAddress {
  if (trusted.length === 0) return { isTrusted: () => false, of: peer => peer.address };
  const proxies = networks(trusted);
  const isTrusted = (address: string) => isInside(proxies, address);
  return {
    isTrusted,
    of(peer, headers) {
      if (!peer.isTrusted) return peer.address;
      const chain = headers
        .all('x-forwarded-for')
        .flatMap(value => value.split(','))
        .map(address => address.trim())
        .reverse();
      // From the nearest hop outwards: the first that is not one of our own proxies is the caller.
      for (const address of chain) {
        if (isIP(address) === 0) return peer.address;
        if (!isTrusted(address)) return address;
      }
      const real = headers.get('x-real-ip')?.trim() ?? '';
      return isIP(real) === 0 ? (chain.at(-1) ?? peer.address) : real;
    },
  };
}

/** Addresses and CIDR ranges, both families. */
export function networks(given: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of given) {
    const [address, bits] = text.split('/') as [string, string | undefined];
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (isIP(address) === 0) throw new Error(`${text} is not an address or a network`);
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

export function isInside(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

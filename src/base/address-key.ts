import { isIPv6 } from 'node:net';

const groupCount = 8;

/**
 * Key of a client address for limits and shares. A host of IPv6 has a whole /64 and may take another address of it for
 * each request (RFC 6177), so its network counts. An IPv4-mapped address is the IPv4 address (RFC 4291, 2.5.5.2).
 */
export const toAddressKey = (address: string): string => formatNetwork(address, 4);

/** Key of the network of one site: a /48 of IPv6; an IPv4 address itself. */
export const toSiteKey = (address: string): string => formatNetwork(address, 3);

function formatNetwork(address: string, prefixGroups: number): string {
  if (!address.includes(':') || !isIPv6(address)) return address;
  const groups = listGroups(address);
  return readMappedAddress(groups) ?? groups.slice(0, prefixGroups).join(':');
}

/** The eight groups of an address, without leading zeros and in small letters. */
function listGroups(address: string): string[] {
  const [before = '', after] = address.split('%', 1)[0]!.split('::');
  const left = splitGroups(before);
  const right = after === undefined ? [] : splitGroups(after);
  const zeros = Array<string>(Math.max(0, groupCount - left.length - right.length)).fill('0');
  return [...left, ...zeros, ...right];
}

const splitGroups = (text: string): string[] =>
  text === '' ? [] : text.split(':').flatMap(part => (part.includes('.') ? toHexGroups(part) : [trimGroup(part)]));

const trimGroup = (group: string) => group.replace(/^0+(?=.)/, '').toLowerCase();

/** `192.0.2.7` at the end of an address are two groups. */
function toHexGroups(dotted: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number);
  return [a * 256 + b, c * 256 + d].map(group => group.toString(16));
}

function readMappedAddress(groups: readonly string[]): string | undefined {
  if (groups[5] !== 'ffff' || groups.slice(0, 5).some(group => group !== '0')) return undefined;
  const [high = 0, low = 0] = groups.slice(6).map(group => Number.parseInt(group, 16));
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

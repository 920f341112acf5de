import { isIPv4, isIPv6 } from 'node:net';

/**
 * Reach of an address: `public` is allowed to all, `local` (this machine and its networks) where the rules allow it,
 * `forbidden` never: metadata services and the like answer with the credentials of the machine.
 */
export type AddressReach = 'public' | 'local' | 'forbidden';

export interface AddressKind {
  readonly reach: AddressReach;
  /** Name of the range, for messages. */
  readonly about: string;
}

/** Ranges by priority: the first match wins. */
const ranges: readonly (readonly [cidr: string, reach: AddressReach, about: string])[] = [
  ['0.0.0.0/8', 'forbidden', 'unspecified'],
  ['::/128', 'forbidden', 'unspecified'],
  ['169.254.0.0/16', 'forbidden', 'link-local'],
  ['fe80::/10', 'forbidden', 'link-local'],
  ['224.0.0.0/4', 'forbidden', 'multicast'],
  ['ff00::/8', 'forbidden', 'multicast'],
  ['240.0.0.0/4', 'forbidden', 'reserved'],
  // Cloud metadata services beside 169.254.169.254.
  ['100.100.100.200/32', 'forbidden', 'cloud metadata'],
  ['168.63.129.16/32', 'forbidden', 'cloud metadata'],
  ['192.0.0.192/32', 'forbidden', 'cloud metadata'],
  ['fd00:ec2::/32', 'forbidden', 'cloud metadata'],
  ['fd20:ce::254/128', 'forbidden', 'cloud metadata'],
  ['fd00:42::42/128', 'forbidden', 'cloud metadata'],
  ['127.0.0.0/8', 'local', 'loopback'],
  ['::1/128', 'local', 'loopback'],
  ['10.0.0.0/8', 'local', 'private'],
  ['172.16.0.0/12', 'local', 'private'],
  ['192.168.0.0/16', 'local', 'private'],
  ['100.64.0.0/10', 'local', 'shared by carriers'],
  ['192.0.0.0/24', 'local', 'special purpose'],
  ['192.0.2.0/24', 'local', 'documentation'],
  ['192.88.99.0/24', 'local', 'special purpose'],
  ['198.18.0.0/15', 'local', 'benchmarking'],
  ['198.51.100.0/24', 'local', 'documentation'],
  ['203.0.113.0/24', 'local', 'documentation'],
  ['::ffff:0:0/96', 'public', 'public'],
  ['64:ff9b::/96', 'public', 'public'],
  ['64:ff9b:1::/48', 'local', 'local translation'],
  ['2001:db8::/32', 'local', 'documentation'],
  ['3fff::/20', 'local', 'documentation'],
  ['2001::/23', 'local', 'special purpose'],
  ['fc00::/7', 'local', 'private'],
  ['2000::/3', 'public', 'public'],
  // Global unicast is 2000::/3; the rest is not public.
  ['::/0', 'local', 'special purpose'],
];

/** IPv6 transition formats that embed the IPv4 address packets end up at. IPv4-mapped addresses are IPv4 already. */
const ipv4Carriers: readonly (readonly [cidr: string, extractIpv4: (value: bigint) => bigint])[] = [
  ['64:ff9b::/96', value => value & 0xffffffffn],
  ['64:ff9b:1::/48', value => value & 0xffffffffn],
  ['2002::/16', value => (value >> 80n) & 0xffffffffn],
  ['2001::/32', value => ~value & 0xffffffffn],
  ['::ffff:0:0:0/96', value => value & 0xffffffffn],
  ['::/96', value => value & 0xffffffffn],
];

const mapped = 0xffffn << 32n;

/**
 * A CIDR range in the one address space of both families: an address is inside when its value shifted equals `value`.
 */
export const parseCidr = (cidr: string): { value: bigint; shift: bigint } => {
  const [address = '', bits = ''] = cidr.split('/');
  const shift = BigInt((isIPv4(address) ? 32 : 128) - Number(bits));
  return { value: toAddressValue(address) >> shift, shift };
};
const rangeTable = ranges.map(([cidr, reach, about]) => ({ ...parseCidr(cidr), kind: { reach, about } }));
const carrierTable = ipv4Carriers.map(([cidr, extractIpv4]) => ({ ...parseCidr(cidr), extractIpv4 }));

/** Classifies an address as a resolver or a URL gives it; what is no address is forbidden. */
export function classifyAddress(address: string): AddressKind {
  if (!isIPv4(address) && !isIPv6(address)) return { reach: 'forbidden', about: 'not an address' };
  const value = toAddressValue(address);
  const own = classifyValue(value);
  const carrier = carrierTable.find(each => value >> each.shift === each.value);
  // `::1` is inside ::/96 (IPv4-compatible, deprecated) but embeds no IPv4 address.
  if (!carrier || own.about === 'loopback') return own;
  return pickStricter(own, classifyValue(mapped | carrier.extractIpv4(value)));
}

const severity: Record<AddressReach, number> = { public: 0, local: 1, forbidden: 2 };
const pickStricter = (a: AddressKind, b: AddressKind): AddressKind => (severity[a.reach] >= severity[b.reach] ? a : b);

function classifyValue(value: bigint): AddressKind {
  const found = rangeTable.find(each => value >> each.shift === each.value);
  return found?.kind ?? { reach: 'forbidden', about: 'unknown' };
}

/** Both families in one space: an IPv4 address is its IPv4-mapped form. */
export function toAddressValue(address: string): bigint {
  if (isIPv4(address)) return mapped | address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
  // The URL parser writes IPv6 in groups of hexadecimal only; a zone (`%eth0`) does not change where a range begins.
  const text = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [head = '', tail] = text.split('::');
  const groups = (part: string | undefined) => (part ? part.split(':') : []);
  const missing = 8 - groups(head).length - groups(tail).length;
  const zeros = Array.from({ length: missing }, () => '0');
  return [...groups(head), ...zeros, ...groups(tail)].reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
}

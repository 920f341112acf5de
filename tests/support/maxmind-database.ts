import { isIPv4 } from 'node:net';
import { toAddressValue } from '#base/http-client/ssrf-guard.ts';

/** Writer of MaxMind DB 2.0 files: an IPv6 tree with records of 24 bits. Enough for databases of a few networks. */

export type MaxmindValue =
  | string
  | number
  | { readonly double: number }
  | readonly MaxmindValue[]
  | { readonly [name: string]: MaxmindValue };

const marker = Buffer.from('abcdef4d61784d696e642e636f6d', 'hex');
const separator = Buffer.alloc(16);
const types = { text: 2, double: 3, uint16: 5, uint32: 6, map: 7, uint64: 9, array: 11 } as const;

/** Control byte, the type of extended ones, and the size where it does not fit. */
function encodeControl(type: number, size: number): Buffer {
  const sizeBits = size < 29 ? size : size < 285 ? 29 : 30;
  const bytes = [((type > 7 ? 0 : type) << 5) | sizeBits];
  if (type > 7) bytes.push(type - 7);
  if (sizeBits === 29) bytes.push(size - 29);
  if (sizeBits === 30) bytes.push((size - 285) >> 8, (size - 285) & 255);
  return Buffer.from(bytes);
}

function encodeUnsigned(type: number, value: number): Buffer {
  const hex = value === 0 ? '' : value.toString(16);
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
  return Buffer.concat([encodeControl(type, bytes.length), bytes]);
}

function encodeDouble(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return Buffer.concat([encodeControl(types.double, 8), bytes]);
}

function encodeValue(value: MaxmindValue): Buffer {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value);
    return Buffer.concat([encodeControl(types.text, bytes.length), bytes]);
  }
  if (typeof value === 'number') return encodeUnsigned(types.uint32, value);
  if (Array.isArray(value))
    return Buffer.concat([encodeControl(types.array, value.length), ...value.map(it => encodeValue(it))]);
  const members = Object.entries(value) as [string, MaxmindValue][];
  if (members.length === 1 && members[0]![0] === 'double') return encodeDouble(members[0]![1] as number);
  const encoded = members.flatMap(([name, it]) => [encodeValue(name), encodeValue(it)]);
  return Buffer.concat([encodeControl(types.map, members.length), ...encoded]);
}

/** Child of a node: another node, or an offset in the data section. */
type Child = { readonly node: number } | { readonly data: number } | undefined;

function* iterateBits(network: string): Generator<number> {
  const [address = '', length = ''] = network.split('/');
  const isShort = isIPv4(address);
  // IPv4 networks are at ::/96, not at the mapped addresses.
  const value = isShort ? toAddressValue(address) & 0xffff_ffffn : toAddressValue(address);
  const bits = Number(length) + (isShort ? 96 : 0);
  for (let at = 0; at < bits; at++) yield Number((value >> BigInt(127 - at)) & 1n);
}

export function encodeMaxmindDatabase(networks: Readonly<Record<string, MaxmindValue>>): Buffer {
  const nodes: [Child, Child][] = [[undefined, undefined]];
  let data = Buffer.alloc(0);
  for (const [network, value] of Object.entries(networks)) {
    const bits = [...iterateBits(network)];
    const offset = data.length;
    data = Buffer.concat([data, encodeValue(value)]);
    let current = 0;
    for (const [at, bit] of bits.entries()) {
      if (at === bits.length - 1) nodes[current]![bit] = { data: offset };
      else {
        const child = nodes[current]![bit];
        const next = child && 'node' in child ? child.node : nodes.push([undefined, undefined]) - 1;
        nodes[current]![bit] = { node: next };
        current = next;
      }
    }
  }
  const toRecord = (child: Child) =>
    child === undefined ? nodes.length : 'node' in child ? child.node : nodes.length + separator.length + child.data;
  const tree = Buffer.alloc(nodes.length * 6);
  for (const [at, [left, right]] of nodes.entries()) {
    tree.writeUIntBE(toRecord(left), at * 6, 3);
    tree.writeUIntBE(toRecord(right), at * 6 + 3, 3);
  }
  return Buffer.concat([tree, separator, data, marker, encodeMetadata(nodes.length)]);
}

function encodeMetadata(nodeCount: number): Buffer {
  const members: [string, Buffer][] = [
    ['binary_format_major_version', encodeUnsigned(types.uint16, 2)],
    ['binary_format_minor_version', encodeUnsigned(types.uint16, 0)],
    ['build_epoch', encodeUnsigned(types.uint64, 1_700_000_000)],
    ['database_type', encodeValue('Test-City')],
    ['description', encodeValue({ en: 'Networks of tests' })],
    ['ip_version', encodeUnsigned(types.uint16, 6)],
    ['languages', encodeValue(['en'])],
    ['node_count', encodeUnsigned(types.uint32, nodeCount)],
    ['record_size', encodeUnsigned(types.uint16, 24)],
  ];
  const encoded = members.flatMap(([name, value]) => [encodeValue(name), value]);
  return Buffer.concat([encodeControl(types.map, members.length), ...encoded]);
}

/** Record of a City database. */
export const cityRecord = (isoCode: string, name: string, latitude: number, longitude: number): MaxmindValue => ({
  country: { iso_code: isoCode, geoname_id: 1, names: { en: `Country ${isoCode}` } },
  city: { geoname_id: 2_643_743, names: { en: name, de: `${name} (de)` } },
  location: {
    latitude: { double: latitude },
    longitude: { double: longitude },
    time_zone: 'Europe/London',
    accuracy_radius: 10,
  },
});

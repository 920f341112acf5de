/** Basic Encoding Rules (X.690) as LDAP uses them (RFC 4511, section 5.1): definite lengths, one-byte tags. */

export const berTags = {
  boolean: 0x01,
  integer: 0x02,
  octetString: 0x04,
  enumerated: 0x0a,
  sequence: 0x30,
  set: 0x31,
} as const;

export class BerError extends Error {}

/** An element; `content` is a view of the message. */
export interface BerElement {
  readonly tag: number;
  readonly content: Buffer;
}

const maxLengthBytes = 4;

export function encodeElement(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), encodeLength(content.length), content]);
}

function encodeLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

export const encodeText = (text: string, tag: number = berTags.octetString): Buffer =>
  encodeElement(tag, Buffer.from(text, 'utf8'));

export function encodeInteger(value: number, tag: number = berTags.integer): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  let start = 0;
  while (start < 3 && bytes[start] === 0 && bytes[start + 1]! < 0x80) start++;
  return encodeElement(tag, bytes.subarray(start));
}

export const encodeBoolean = (value: boolean): Buffer =>
  encodeElement(berTags.boolean, Buffer.from([value ? 0xff : 0]));

/** Length of the first element with its header; undefined while the header is incomplete. */
export function measureElement(bytes: Buffer): number | undefined {
  const first = bytes[1];
  if (first === undefined) return undefined;
  if (first < 0x80) return 2 + first;
  const count = first & 0x7f;
  if (count === 0 || count > maxLengthBytes) throw new BerError('indefinite or oversized length');
  if (bytes.length < 2 + count) return undefined;
  return 2 + count + bytes.readUIntBE(2, count);
}

/** Elements of a constructed content, one after the other. */
export function decodeElements(bytes: Buffer): BerElement[] {
  const elements: BerElement[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const length = measureElement(rest);
    if (length === undefined || length > rest.length) throw new BerError('truncated element');
    const header = rest[1]! < 0x80 ? 2 : 2 + (rest[1]! & 0x7f);
    elements.push({ tag: rest[0]!, content: rest.subarray(header, length) });
    rest = rest.subarray(length);
  }
  return elements;
}

export function decodeInteger(content: Buffer): number {
  if (content.length === 0 || content.length > 4) throw new BerError('integer out of range');
  return content.readIntBE(0, content.length);
}

import type { PkixName } from './schema.ts';

/**
 * Reads the names of a certificate from its DER. The text form of node:crypto abbreviates types,
 * escapes values and joins several with separators that values may hold themselves; DER leaves nothing to guess.
 */
export interface CertificateNames {
  issuer: PkixName;
  subject: PkixName;
  dnsNames: string[];
}

interface Element {
  readonly tag: number;
  readonly content: Buffer;
}

const tags = { version: 0xa0, extensions: 0xa3, dnsName: 0x82, octets: 0x04 };
const subjectAlternatives = '2.5.29.17';

/** Throws on bytes that are not a certificate. */
export function readCertificateNames(der: Buffer): CertificateNames {
  const [certificate] = parseElements(der);
  const body = childrenOf(childrenOf(certificate)[0]);
  const at = body[0]?.tag === tags.version ? 1 : 0;
  return { issuer: parseName(body[at + 2]), subject: parseName(body[at + 4]), dnsNames: dnsNamesOf(body) };
}

function dnsNamesOf(body: Element[]): string[] {
  const [list] = childrenOf(body.find(element => element.tag === tags.extensions));
  const extensions = childrenOf(list).map(childrenOf);
  const alternatives = extensions.find(([type]) => parseOid(type).join('.') === subjectAlternatives);
  const value = alternatives?.find(element => element.tag === tags.octets);
  return childrenOf(childrenOf(value)[0])
    .filter(element => element.tag === tags.dnsName)
    .map(element => decodeText(element));
}

type ListAttribute = Exclude<keyof PkixName, 'SerialNumber' | 'CommonName' | 'Names' | 'ExtraNames'>;

/** Attribute types with a member of their own; the others are in `Names` only. */
const listAttributes: Record<string, ListAttribute> = {
  '2.5.4.6': 'Country',
  '2.5.4.10': 'Organization',
  '2.5.4.11': 'OrganizationalUnit',
  '2.5.4.7': 'Locality',
  '2.5.4.8': 'Province',
  '2.5.4.9': 'StreetAddress',
  '2.5.4.17': 'PostalCode',
};
const singleAttributes: Record<string, 'CommonName' | 'SerialNumber'> = {
  '2.5.4.3': 'CommonName',
  '2.5.4.5': 'SerialNumber',
};

export function createEmptyName(): PkixName {
  return {
    Country: [],
    Organization: [],
    OrganizationalUnit: [],
    Locality: [],
    Province: [],
    StreetAddress: [],
    PostalCode: [],
    SerialNumber: '',
    CommonName: '',
    Names: [],
    ExtraNames: [],
  };
}

function parseName(element: Element | undefined): PkixName {
  const name = createEmptyName();
  for (const attribute of childrenOf(element).flatMap(childrenOf)) {
    const [type, value] = childrenOf(attribute);
    const Type = parseOid(type);
    const Value = decodeText(value);
    const list = listAttributes[Type.join('.')];
    const one = singleAttributes[Type.join('.')];
    if (list) name[list].push(Value);
    if (one) name[one] = Value;
    name.Names.push({ Type, Value });
  }
  return name;
}

const childrenOf = (element: Element | undefined): Element[] => (element ? parseElements(element.content) : []);

function parseElements(bytes: Buffer): Element[] {
  const parsed: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes.readUInt8(at);
    const short = bytes.readUInt8(at + 1);
    const lengthBytes = short < 0x80 ? 0 : short - 0x80;
    if ((tag & 0x1f) === 0x1f || lengthBytes > 4) throw new RangeError('not a DER certificate');
    const length = lengthBytes === 0 ? short : bytes.readUIntBE(at + 2, lengthBytes);
    const start = at + 2 + lengthBytes;
    if (start + length > bytes.length) throw new RangeError('DER element exceeds its parent');
    parsed.push({ tag, content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return parsed;
}

function parseOid(element: Element | undefined): number[] {
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of element?.content ?? []) {
    arc = arc * 128 + (byte & 0x7f);
    if (!Number.isSafeInteger(arc)) throw new RangeError('object identifier out of range');
    if (byte & 0x80) continue;
    // The first number on the wire holds two arcs.
    const root = arcs.length === 0 ? Math.min(Math.floor(arc / 40), 2) : undefined;
    if (root === undefined) arcs.push(arc);
    else arcs.push(root, arc - 40 * root);
    arc = 0;
  }
  return arcs;
}

/** Decoders of ASN.1 string types by tag: UTF8String, the ASCII types, UniversalString and BMPString. */
const decoders: Record<number, (bytes: Buffer) => string> = {
  12: bytes => bytes.toString('utf8'),
  18: bytes => bytes.toString('latin1'),
  19: bytes => bytes.toString('latin1'),
  20: bytes => bytes.toString('latin1'),
  22: bytes => bytes.toString('latin1'),
  26: bytes => bytes.toString('latin1'),
  28: bytes => decodeWide(bytes, 4),
  30: bytes => decodeWide(bytes, 2),
  [tags.dnsName]: bytes => bytes.toString('latin1'),
};

function decodeText(element: Element | undefined): string {
  if (!element) return '';
  const decode = decoders[element.tag];
  const text = decode ? decode(element.content) : `#${element.content.toString('hex')}`;
  // NUL truncation: a C program would read a shorter name than we do.
  if (text.includes('\0')) throw new RangeError('a name holds a zero byte');
  return text;
}

function decodeWide(bytes: Buffer, width: 2 | 4): string {
  let text = '';
  for (let at = 0; at + width <= bytes.length; at += width) text += String.fromCodePoint(bytes.readUIntBE(at, width));
  return text;
}

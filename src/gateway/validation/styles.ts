import type { SerializedValue } from './coercion.ts';

/** How a parameter is written where it stands. */
export interface ParameterStyle {
  readonly name: string;
  readonly style: string;
  readonly explode: boolean;
  readonly kind: 'plain' | 'array' | 'object';
}

/** What was written means nothing; the message says why. */
export class InvalidSerialization extends Error {}

export function percentDecode(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new InvalidSerialization('is not encoded properly');
  }
}

/** Readers differ in which of several they take: what one of them checked, another one must not replace. */
export function takeSingle<T>(values: readonly T[]): T {
  if (values.length > 1) throw new InvalidSerialization('must be given once');
  return values[0]!;
}

/** In addresses a plus is a space. */
export const decodeQueryValue = (text: string): string =>
  percentDecode(text.includes('+') ? text.replaceAll('+', ' ') : text);

const delimiters: Readonly<Record<string, RegExp>> = {
  spaceDelimited: /%20|\+| /,
  pipeDelimited: /\||%7C/i,
};

type Decode = (text: string) => string;

function parsePairs(parts: readonly string[], decode: Decode): Record<string, string> {
  const found = new Map<string, string>();
  for (let at = 0; at + 1 < parts.length; at += 2) found.set(decode(parts[at]!), decode(parts[at + 1]!));
  return Object.fromEntries(found);
}

function parseAssignments(parts: readonly string[], decode: Decode): Record<string, string> {
  return parsePairs(
    parts.flatMap(part => {
      const mark = part.indexOf('=');
      return mark < 0 ? [part, ''] : [part.slice(0, mark), part.slice(mark + 1)];
    }),
    decode,
  );
}

/** Values that stand in one text: in a path segment, a header, or one pair of a query. */
export function parseDelimited(
  text: string,
  { kind, explode }: ParameterStyle,
  delimiter: string | RegExp,
  decode: Decode,
): SerializedValue {
  if (kind === 'plain') return decode(text);
  const parts = text === '' ? [] : text.split(delimiter);
  if (kind === 'array') return parts.map(decode);
  return explode ? parseAssignments(parts, decode) : parsePairs(parts, decode);
}

/** `simple`, `.label` and `;matrix` of paths. */
export function parsePathStyle(text: string, it: ParameterStyle): SerializedValue {
  if (it.style === 'label') return parseDelimited(text.replace(/^\./, ''), it, it.explode ? '.' : ',', percentDecode);
  if (it.style !== 'matrix') return parseDelimited(text, it, ',', percentDecode);
  const bare = text.replace(/^;/, '');
  if (it.explode && it.kind === 'object') return parseAssignments(bare.split(';'), percentDecode);
  const values = bare.split(';').map(part => part.slice(part.indexOf('=') + 1));
  if (it.explode && it.kind === 'array') return values.map(percentDecode);
  return parseDelimited(values[0]!, it, ',', percentDecode);
}

export type EncodedPairs = ReadonlyMap<string, readonly string[]>;

/** Still encoded, so that what separates values is told from what is in them. */
export function parseQueryPairs(query: string): EncodedPairs {
  const found = new Map<string, string[]>();
  if (query === '') return found;
  for (const part of query.split('&')) {
    if (part === '') continue;
    const mark = part.indexOf('=');
    const name = decodeName(mark < 0 ? part : part.slice(0, mark));
    const value = mark < 0 ? '' : part.slice(mark + 1);
    const list = found.get(name);
    if (list) list.push(value);
    else found.set(name, [value]);
  }
  return found;
}

/** Cookies in the same form; in them a plus is a plus. */
export function cookiesOf(header: string): EncodedPairs {
  const found = new Map<string, string[]>();
  for (const part of header === '' ? [] : header.split(';')) {
    const mark = part.indexOf('=');
    if (mark < 0) continue;
    const name = part.slice(0, mark).trim();
    const value = part
      .slice(mark + 1)
      .trim()
      .replaceAll('+', '%2B');
    const list = found.get(name);
    if (list) list.push(value);
    else found.set(name, [value]);
  }
  return found;
}

/** A name that cannot be read is nobody's. */
function decodeName(text: string): string {
  try {
    return decodeQueryValue(text);
  } catch (error) {
    if (error instanceof InvalidSerialization) return text;
    throw error;
  }
}

/** Undefined where nothing was sent. */
export function parseQueryStyle(
  query: EncodedPairs,
  it: ParameterStyle,
  members: ReadonlySet<string>,
): SerializedValue | undefined {
  if (it.style === 'deepObject') return parseDeepObject(query, it.name);
  if (it.kind === 'object' && it.explode && it.style === 'form') return parseExploded(query, members);
  const values = query.get(it.name);
  if (!values) return undefined;
  const delimiter = delimiters[it.style] ?? ',';
  if (it.kind === 'array' && (it.explode || values.length > 1)) return values.map(decodeQueryValue);
  return parseDelimited(takeSingle(values), { ...it, explode: false }, delimiter, decodeQueryValue);
}

/** `name[member]=value` */
function parseDeepObject(query: EncodedPairs, name: string): SerializedValue | undefined {
  const found = new Map<string, string | readonly string[]>();
  for (const [key, values] of query) {
    if (!key.startsWith(`${name}[`) || !key.endsWith(']')) continue;
    const texts = values.map(decodeQueryValue);
    found.set(key.slice(name.length + 1, -1), texts.length === 1 ? texts[0]! : texts);
  }
  return found.size === 0 ? undefined : Object.fromEntries(found);
}

/** The members stand in the query by themselves; which ones belong to the object, only its schema says. */
function parseExploded(query: EncodedPairs, members: ReadonlySet<string>): SerializedValue | undefined {
  const found = new Map<string, string | readonly string[]>();
  for (const name of members) {
    const texts = query.get(name)?.map(decodeQueryValue);
    if (texts) found.set(name, texts.length === 1 ? texts[0]! : texts);
  }
  return found.size === 0 ? undefined : Object.fromEntries(found);
}

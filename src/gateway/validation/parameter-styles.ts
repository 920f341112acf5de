import { parseCookies } from '../http/cookies.ts';
import type { HeaderList } from '../http/headers.ts';
import type { SerializedValue } from './coercion.ts';

/** Serialization style of a parameter (OpenAPI, Style Values). */
export interface ParameterStyle {
  readonly name: string;
  readonly style: string;
  readonly explode: boolean;
  readonly kind: 'plain' | 'array' | 'object';
}

/** A value that cannot be parsed; the message gives the reason. */
export class InvalidSerialization extends Error {}

export function percentDecode(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new InvalidSerialization('is not percent-encoded correctly');
  }
}

/** Rejects repeated values: parsers differ in which one they take, so the validated one might not be used. */
export function takeSingle<T>(values: readonly T[]): T {
  if (values.length > 1) throw new InvalidSerialization('must be present exactly once');
  return values[0]!;
}

/** In a query a plus is a space. */
export const decodeQueryValue = (text: string): string =>
  percentDecode(text.includes('+') ? text.replaceAll('+', ' ') : text);

const delimiters: Readonly<Record<string, RegExp>> = {
  spaceDelimited: /%20|\+| /,
  pipeDelimited: /\||%7C/i,
};

type Decode = (text: string) => string;

function parsePairs(parts: readonly string[], decode: Decode): Record<string, string> {
  const members = new Map<string, string>();
  for (let at = 0; at + 1 < parts.length; at += 2) members.set(decode(parts[at]!), decode(parts[at + 1]!));
  return Object.fromEntries(members);
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

/** Parses delimited values of one text: a path segment, a header, or one pair of a query. */
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

/** Values stay encoded: a delimiter differs from an encoded one inside a value. */
export function parseQueryPairs(query: string): EncodedPairs {
  const pairs = new Map<string, string[]>();
  if (query === '') return pairs;
  for (const part of query.split('&')) {
    if (part === '') continue;
    const mark = part.indexOf('=');
    const name = decodeName(mark < 0 ? part : part.slice(0, mark));
    const value = mark < 0 ? '' : part.slice(mark + 1);
    const list = pairs.get(name);
    if (list) list.push(value);
    else pairs.set(name, [value]);
  }
  return pairs;
}

/** Cookies as encoded pairs. A plus is escaped: in a cookie it stands for itself, in a query for a space. */
export function parseCookiePairs(headers: HeaderList): EncodedPairs {
  const cookies = parseCookies(headers);
  for (const [name, values] of cookies)
    cookies.set(
      name,
      values.map(value => value.replaceAll('+', '%2B')),
    );
  return cookies;
}

/** A malformed name stays as it is: it matches no parameter. */
function decodeName(text: string): string {
  try {
    return decodeQueryValue(text);
  } catch (error) {
    if (error instanceof InvalidSerialization) return text;
    throw error;
  }
}

/** Undefined where the parameter is absent. */
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
  const members = new Map<string, string | readonly string[]>();
  for (const [key, values] of query) {
    if (!key.startsWith(`${name}[`) || !key.endsWith(']')) continue;
    const texts = values.map(decodeQueryValue);
    members.set(key.slice(name.length + 1, -1), texts.length === 1 ? texts[0]! : texts);
  }
  return members.size === 0 ? undefined : Object.fromEntries(members);
}

/** An exploded object: its members are query parameters of their own, and the schema has their names. */
function parseExploded(query: EncodedPairs, members: ReadonlySet<string>): SerializedValue | undefined {
  const found = new Map<string, string | readonly string[]>();
  for (const name of members) {
    const texts = query.get(name)?.map(decodeQueryValue);
    if (texts) found.set(name, texts.length === 1 ? texts[0]! : texts);
  }
  return found.size === 0 ? undefined : Object.fromEntries(found);
}

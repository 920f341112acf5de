import { encodeElement, encodeText } from './ber.ts';

/** Search filters (RFC 4515), parsed when a profile is written. */
export type LdapFilter =
  | { readonly kind: 'and' | 'or'; readonly filters: readonly LdapFilter[] }
  | { readonly kind: 'not'; readonly filter: LdapFilter }
  | { readonly kind: 'present'; readonly attribute: string }
  | { readonly kind: 'equal' | 'greater' | 'less' | 'approximate'; readonly attribute: string; readonly value: string }
  /** Parts between the asterisks; the first and the last may be empty. */
  | { readonly kind: 'substrings'; readonly attribute: string; readonly parts: readonly string[] };

export class LdapFilterError extends Error {}

/** Placeholder of the user name in filters and names. */
export const userNamePlaceholder = '*USERNAME*';
/** Stands for the placeholder while a filter is parsed: no filter can contain it. */
const placeholderMark = '\u0000';
const maxDepth = 20;
const maxLength = 2000;

const attributePattern = /[A-Za-z0-9][A-Za-z0-9.;-]{0,127}/y;

export function parseLdapFilter(text: string): LdapFilter {
  if (text.length > maxLength || text.includes(placeholderMark)) throw new LdapFilterError('is too long or has a NUL');
  const source = text.trim().replaceAll(userNamePlaceholder, placeholderMark);
  const parsed = parseAt(source, 0, 0);
  if (parsed.end !== source.length) throw new LdapFilterError('has text after its end');
  return parsed.filter;
}

interface Parsed {
  readonly filter: LdapFilter;
  readonly end: number;
}

function parseAt(source: string, start: number, depth: number): Parsed {
  if (depth > maxDepth) throw new LdapFilterError(`is nested deeper than ${maxDepth} levels`);
  if (source[start] !== '(') throw new LdapFilterError('needs parentheses around every condition');
  const sign = source[start + 1];
  if (sign === '&' || sign === '|') {
    const filters: LdapFilter[] = [];
    let at = start + 2;
    while (source[at] === '(') {
      const { filter, end } = parseAt(source, at, depth + 1);
      filters.push(filter);
      at = end;
    }
    if (filters.length === 0) throw new LdapFilterError('has an empty list of conditions');
    return { filter: { kind: sign === '&' ? 'and' : 'or', filters }, end: expectClose(source, at) };
  }
  if (sign === '!') {
    const { filter, end } = parseAt(source, start + 2, depth + 1);
    return { filter: { kind: 'not', filter }, end: expectClose(source, end) };
  }
  return parseItem(source, start + 1);
}

function expectClose(source: string, at: number): number {
  if (source[at] !== ')') throw new LdapFilterError('has an unclosed parenthesis');
  return at + 1;
}

const operators = { '=': 'equal', '>=': 'greater', '<=': 'less', '~=': 'approximate' } as const;

function parseItem(source: string, start: number): Parsed {
  attributePattern.lastIndex = start;
  const attribute = attributePattern.exec(source)?.[0];
  if (attribute === undefined) throw new LdapFilterError('has a condition without an attribute');
  const at = start + attribute.length;
  const operator = (['>=', '<=', '~=', '='] as const).find(it => source.startsWith(it, at));
  const close = source.indexOf(')', at);
  if (operator === undefined || close < 0) throw new LdapFilterError('has an unreadable condition');
  const raw = source.slice(at + operator.length, close);
  if (raw.includes('(')) throw new LdapFilterError('has an unescaped parenthesis in a value');
  const end = close + 1;
  if (operator !== '=' || !raw.includes('*'))
    return { filter: { kind: operators[operator], attribute, value: unescapeValue(raw) }, end };
  if (raw === '*') return { filter: { kind: 'present', attribute }, end };
  return { filter: { kind: 'substrings', attribute, parts: raw.split('*').map(unescapeValue) }, end };
}

/** RFC 4515, section 3: `\2a` and the like. */
function unescapeValue(raw: string): string {
  if (/\\00/.test(raw)) throw new LdapFilterError('has a NUL');
  if (/\\(?![0-9A-Fa-f]{2})/.test(raw)) throw new LdapFilterError('has a backslash without two hexadecimal digits');
  const bytes: Buffer[] = raw
    .split(/(\\[0-9A-Fa-f]{2})/)
    .map(part => (part.startsWith('\\') ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part, 'utf8')));
  return Buffer.concat(bytes).toString('utf8');
}

/** Encodes a filter. The user name is a value of its own: nothing in it can change the filter (LDAP injection). */
export function encodeFilter(filter: LdapFilter, userName: string): Buffer {
  const fill = (text: string) => text.replaceAll(placeholderMark, () => userName);
  switch (filter.kind) {
    case 'and':
    case 'or':
      return encodeElement(
        filter.kind === 'and' ? 0xa0 : 0xa1,
        ...filter.filters.map(it => encodeFilter(it, userName)),
      );
    case 'not':
      return encodeElement(0xa2, encodeFilter(filter.filter, userName));
    case 'present':
      return encodeText(filter.attribute, 0x87);
    case 'substrings':
      return encodeSubstrings(filter.attribute, filter.parts.map(fill));
    default: {
      const tag = { equal: 0xa3, greater: 0xa5, less: 0xa6, approximate: 0xa8 }[filter.kind];
      return encodeElement(tag, encodeText(filter.attribute), encodeText(fill(filter.value)));
    }
  }
}

/** RFC 4511, section 4.5.1.7.2: initial, any, final. */
function encodeSubstrings(attribute: string, parts: readonly string[]): Buffer {
  const last = parts.length - 1;
  const encoded = parts.flatMap((part, index) => {
    if (part === '') return [];
    return [encodeText(part, index === 0 ? 0x80 : index === last ? 0x82 : 0x81)];
  });
  if (encoded.length === 0) return encodeText(attribute, 0x87);
  return encodeElement(0xa4, encodeText(attribute), encodeElement(0x30, ...encoded));
}

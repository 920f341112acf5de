/** Members of a Dictionary of structured fields (RFC 9651, section 3.2); of an Inner List only that it is one. */
export type StructuredDictionary = ReadonlyMap<string, StructuredValue>;

export type StructuredValue =
  | { readonly type: 'integer' | 'decimal'; readonly value: number }
  | { readonly type: 'string' | 'token' | 'bytes'; readonly value: string }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'list' };

/** Longer fields are invalid. */
const maxDictionaryChars = 8192;

const keyPattern = /[a-z*][a-z0-9_.*-]*/y;
const numberPattern = /-?(?:\d{1,12}\.\d{1,3}|\d{1,15})(?![\d.])/y;
const stringPattern = /"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"/y;
const tokenPattern = /[A-Za-z*][\w!#$%&'*+.^`|~:/-]*/y;
const bytesPattern = /:([A-Za-z0-9+/=]*):/y;
const booleanPattern = /\?([01])/y;

/** Parses a Dictionary (RFC 9651, section 4.2.2); undefined for a malformed one. */
export function parseStructuredDictionary(text: string): StructuredDictionary | undefined {
  if (text.length > maxDictionaryChars) return undefined;
  const input = new Input(text);
  const members = new Map<string, StructuredValue>();
  input.skip(/ */y);
  while (!input.isAtEnd) {
    const member = readMember(input);
    if (!member) return undefined;
    // The last one of a repeated key counts, in its place.
    members.delete(member.key);
    members.set(member.key, member.value);
    input.skip(/[ \t]*/y);
    if (input.isAtEnd) return members;
    if (!input.take(/,[ \t]*/y) || input.isAtEnd) return undefined;
  }
  return members;
}

/** A text and the position up to which it is parsed. */
class Input {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (!match) return undefined;
    this.#at += match[0].length;
    return match;
  }

  skip(pattern: RegExp): void {
    this.take(pattern);
  }
}

function readMember(input: Input): { readonly key: string; readonly value: StructuredValue } | undefined {
  const key = input.take(keyPattern)?.[0];
  if (key === undefined) return undefined;
  const value = input.take(/=/y) ? (readInnerList(input) ?? readItem(input)) : isTrue;
  return value && skipParameters(input) ? { key, value } : undefined;
}

const isTrue: StructuredValue = { type: 'boolean', value: true };

function readInnerList(input: Input): StructuredValue | undefined {
  if (!input.take(/\(/y)) return undefined;
  input.skip(/ */y);
  while (!input.take(/\)/y)) {
    if (!readItem(input) || !skipParameters(input)) return undefined;
    if (!input.take(/ +/y) && !input.take(/(?=\))/y)) return undefined;
  }
  return { type: 'list' };
}

function readItem(input: Input): StructuredValue | undefined {
  const number = input.take(numberPattern)?.[0];
  if (number !== undefined) return { type: number.includes('.') ? 'decimal' : 'integer', value: Number(number) };
  const text = input.take(stringPattern);
  if (text) return { type: 'string', value: text[1]!.replaceAll(/\\(.)/g, '$1') };
  const flag = input.take(booleanPattern);
  if (flag) return { type: 'boolean', value: flag[1] === '1' };
  const bytes = input.take(bytesPattern);
  if (bytes) return { type: 'bytes', value: bytes[1]! };
  const token = input.take(tokenPattern);
  return token && { type: 'token', value: token[0] };
}

/** False for malformed parameters. */
function skipParameters(input: Input): boolean {
  while (input.take(/; */y)) {
    if (!input.take(keyPattern)) return false;
    if (input.take(/=/y) && !readItem(input)) return false;
  }
  return true;
}

import { Budget, type BudgetBounds, type BudgetLimit } from '#base/budget.ts';

/**
 * XML to plain objects and back: attributes carry a leading `-`, text beside attributes or elements is `#text`, an
 * element that holds nothing but text is that text, and elements of one name are an array. Namespace prefixes are
 * dropped. Only the five predefined entities exist, and no document types: both are the vectors of entity expansion
 * attacks.
 */
export class XmlError extends Error {
  readonly isLimitExceeded: boolean;

  constructor(message: string, isLimitExceeded = false) {
    super(message);
    this.name = 'XmlError';
    this.isLimitExceeded = isLimitExceeded;
  }
}

/** Bounds of one document; every element and attribute is a step. */
export type XmlBounds = Pick<BudgetBounds, 'maxSteps' | 'maxDepth'>;

export type XmlMap = Record<string, unknown>;

const defaultBounds: XmlBounds = { maxDepth: 100, maxSteps: 100_000 };

class XmlBudget extends Budget {
  protected createLimitError(limit: BudgetLimit): XmlError {
    const { maxSteps, maxDepth } = this.bounds;
    return new XmlError(
      limit === 'depth' ? `nested deeper than ${maxDepth} levels` : `more than ${maxSteps} parts`,
      true,
    );
  }
}

const name = /[\p{L}_][\p{L}\p{N}\-._·]*(?::[\p{L}_][\p{L}\p{N}\-._·]*)?/uy;
const attribute = /\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;
const space = /[ \t\r\n]*/y;
/** Characters that no document may hold (XML 1.0, 2.2). */
const forbiddenCharacter = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', apos: "'", quot: '"' };

/** Decodes a document by its byte order mark, else by the encoding in its XML declaration, else as UTF-8. */
export function decodeXml(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 200)).toString('latin1');
  const marked = start.startsWith('\xff\xfe') ? 'utf-16le' : start.startsWith('\xfe\xff') ? 'utf-16be' : undefined;
  const declared = /^(?:\xef\xbb\xbf)?<\?xml[^>]*?encoding\s*=\s*["']([\w.-]+)["']/.exec(start)?.[1];
  try {
    return new TextDecoder(marked ?? declared ?? 'utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new XmlError('its characters cannot be read');
  }
}

interface OpenElement {
  readonly qualifiedName: string;
  readonly members: XmlMap;
  text: string;
}

export function parseXml(source: string, bounds: Partial<XmlBounds> = {}): XmlMap {
  const unwanted = forbiddenCharacter.exec(source);
  if (unwanted) {
    const code = unwanted[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
    throw new XmlError(`character U+${code} at ${unwanted.index} is not allowed`);
  }
  // Line ends become one line feed (XML 1.0, 2.11).
  const plain = source.startsWith('\ufeff') ? source.slice(1) : source;
  const lines = plain.includes('\r') ? plain.replaceAll(/\r\n?/g, '\n') : plain;
  return new XmlReader(lines, { ...defaultBounds, ...bounds }).document();
}

/** Parser without recursion: the open elements are a stack. */
class XmlReader {
  readonly #source: string;
  readonly #budget: XmlBudget;
  readonly #open: OpenElement[] = [];
  readonly #root: OpenElement = { qualifiedName: '', members: newMap(), text: '' };
  #at = 0;

  constructor(source: string, bounds: XmlBounds) {
    this.#source = source;
    this.#budget = new XmlBudget({ ...bounds, maxBytes: Number.POSITIVE_INFINITY });
  }

  document(): XmlMap {
    const source = this.#source;
    while (this.#at < source.length) {
      const next = source.indexOf('<', this.#at);
      this.#text(source.slice(this.#at, next < 0 ? source.length : next));
      if (next < 0) break;
      this.#at = next;
      this.#markup();
    }
    const unclosed = this.#open.at(-1);
    if (unclosed) throw new XmlError(`element ${unclosed.qualifiedName} is not closed`);
    if (Object.keys(this.#root.members).length === 0) throw new XmlError('it holds no element');
    return this.#root.members;
  }

  get #inside(): OpenElement {
    return this.#open.at(-1) ?? this.#root;
  }

  #text(raw: string): void {
    if (trimBlanks(raw) === '') return;
    if (this.#open.length === 0) throw new XmlError('text outside the root element');
    if (raw.includes(']]>')) throw new XmlError('"]]>" stands outside a CDATA section');
    this.#inside.text += trimBlanks(decodeEntities(raw));
  }

  #markup(): void {
    const source = this.#source;
    if (source.startsWith('</', this.#at)) return this.#close();
    if (source.startsWith('<?', this.#at)) return this.#skip('?>', 'processing instruction');
    if (source.startsWith('<!--', this.#at)) return this.#comment();
    if (source.startsWith('<![CDATA[', this.#at)) return this.#literal();
    if (source.startsWith('<!', this.#at)) throw new XmlError('document types are not read');
    this.#element();
  }

  #comment(): void {
    const start = this.#at + '<!--'.length;
    this.#at = start - 2;
    this.#skip('-->', 'comment');
    if (this.#source.indexOf('--', start) !== this.#at - '-->'.length)
      throw new XmlError('"--" stands inside a comment');
  }

  #skip(end: string, what: string): void {
    const found = this.#source.indexOf(end, this.#at + 2);
    if (found < 0) throw new XmlError(`a ${what} is not closed`);
    this.#at = found + end.length;
  }

  #literal(): void {
    const start = this.#at + '<![CDATA['.length;
    this.#skip(']]>', 'CDATA section');
    if (this.#open.length === 0) throw new XmlError('text outside the root element');
    this.#inside.text += this.#source.slice(start, this.#at - ']]>'.length);
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source) ?? undefined;
    if (found) this.#at += found[0].length;
    return found;
  }

  #name(): string {
    const found = this.#match(name)?.[0];
    if (found === undefined) throw new XmlError(`a name is expected at character ${this.#at}`);
    return found;
  }

  #element(): void {
    if (this.#open.length === 0 && Object.keys(this.#root.members).length > 0)
      throw new XmlError('more than one root element');
    this.#at++;
    this.#budget.spend(1);
    const element: OpenElement = { qualifiedName: this.#name(), members: newMap(), text: '' };
    const attributes = new Set<string>();
    for (;;) {
      const spaced = this.#match(space)![0] !== '';
      if (this.#source.startsWith('/>', this.#at)) {
        this.#at += 2;
        return this.#keep(element);
      }
      if (this.#source[this.#at] === '>') break;
      if (!spaced) throw new XmlError(`unexpected character in element ${element.qualifiedName}`);
      this.#attribute(element.members, attributes);
    }
    this.#at++;
    this.#budget.checkDepth(this.#open.push(element));
  }

  #attribute(members: XmlMap, others: Set<string>): void {
    this.#budget.spend(1);
    const written = this.#name();
    const found = this.#match(attribute);
    if (!found) throw new XmlError(`attribute ${written} has no quoted value`);
    if (others.has(written)) throw new XmlError(`attribute ${written} stands twice`);
    others.add(written);
    // Names that differ in their prefix alone collide, and the last wins. White space is normalised (XML 1.0, 3.3.3).
    members[`-${localName(written)}`] = decodeEntities((found[1] ?? found[2]!).replaceAll(/[\t\n]/g, ' '));
  }

  #close(): void {
    this.#at += 2;
    const written = this.#name();
    this.#match(space);
    if (this.#source[this.#at++] !== '>') throw new XmlError(`unexpected character at the end of ${written}`);
    const element = this.#open.pop();
    if (element?.qualifiedName !== written) throw new XmlError(`unexpected end of ${written}`);
    this.#keep(element);
  }

  #keep({ qualifiedName: written, members, text }: OpenElement): void {
    const key = localName(written);
    const into = this.#inside.members;
    let value: unknown = text;
    if (Object.keys(members).length > 0) {
      if (text !== '') members['#text'] = text;
      value = members;
    }
    const before = into[key];
    if (before === undefined) into[key] = value;
    else if (Array.isArray(before)) before.push(value);
    else into[key] = [before, value];
  }
}

/** Trims the white space of XML; other space, such as the no-break space, is text. */
function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

const isBlank = (code: number) => code === 0x20 || (code >= 9 && code <= 13 && code !== 11 && code !== 12);
const newMap = (): XmlMap => Object.create(null) as XmlMap;
const localName = (written: string) => written.slice(written.indexOf(':') + 1);

function decodeEntities(raw: string): string {
  if (!raw.includes('&')) return raw;
  return raw.replaceAll(/&(?:#x([\da-fA-F]{1,6})|#(\d{1,7})|(\w{1,10}))?;?/g, (whole, hex, decimal, named) => {
    const known = named && whole.endsWith(';') ? entities[named] : undefined;
    if (known !== undefined) return known;
    const code = hex ? Number.parseInt(hex, 16) : decimal ? Number(decimal) : 0;
    if (!whole.endsWith(';') || !isCharacter(code)) throw new XmlError('an unknown entity');
    return String.fromCodePoint(code);
  });
}

const isCharacter = (code: number) =>
  code === 9 ||
  code === 10 ||
  code === 13 ||
  (code >= 0x20 && code < 0xd800) ||
  (code > 0xdfff && code < 0xfffe) ||
  (code > 0xffff && code <= 0x10ffff);

/** Called for every part before it is written; a throw stops the writer, so that callers can bound untrusted values. */
export type ChargeXml = (depth: number, characters: number) => void;

const wholeName = new RegExp(`^${name.source}$`, 'u');
const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  // Unescaped, a reader would normalise it to a line feed.
  '\r': '&#xD;',
};
/** Characters that XML cannot hold become U+FFFD. */
const escapeText = (text: string) =>
  text
    .toWellFormed()
    .replaceAll(/[&<>"'\r]/g, it => escapes[it]!)
    .replaceAll(/(?![\t\n\r])\p{Cc}|[\ufffe\uffff]/gu, it => (it >= '\x7f' && it <= '\x9f' ? it : '\ufffd'));

/** Escapes line breaks and tabs too: readers normalise them to blanks in attributes. */
const escapeAttribute = (text: string) => escapeText(text).replaceAll('\n', '&#xA;').replaceAll('\t', '&#x9;');

/** Writes an object: a single member that is an element becomes the root, anything else is put into `doc`. */
export function writeXml(value: XmlMap, charge: ChargeXml = () => undefined): string {
  const [first, ...others] = Object.entries(value);
  const isRoot =
    first && others.length === 0 && /^[^-#]/.test(first[0]) && !(Array.isArray(first[1]) && first[1].length > 0);
  const parts: string[] = [];
  if (isRoot) writeElement(first[0], first[1], parts, charge, 0);
  else writeElement('doc', value, parts, charge, 0);
  return parts.join('');
}

function writeElement(name: string, value: unknown, parts: string[], charge: ChargeXml, depth: number): void {
  if (!wholeName.test(name)) throw new XmlError(`${JSON.stringify(name.slice(0, 100))} is not a name`);
  if (Array.isArray(value) && value.length > 0) {
    for (const it of value) writeElement(name, it, parts, charge, depth + 1);
    return;
  }
  const add = (part: string) => {
    charge(depth, part.length);
    parts.push(part);
  };
  const inside = isMap(value)
    ? Object.entries(value)
    : value === null || value === undefined || Array.isArray(value)
      ? []
      : [['#text', value] as const];
  add(`<${name}`);
  for (const [key, it] of inside)
    if (key.startsWith('-')) add(` ${toAttributeName(key)}="${escapeAttribute(formatScalar(it))}"`);
  const content = inside.filter(([key, it]) => !key.startsWith('-') && !(key === '#text' && it === ''));
  if (content.length === 0) return add('/>');
  add('>');
  for (const [key, it] of content) {
    if (key === '#text') add(escapeText(formatScalar(it)));
    else writeElement(key, it, parts, charge, depth + 1);
  }
  add(`</${name}>`);
}

const isMap = (value: unknown): value is XmlMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

function toAttributeName(key: string): string {
  const written = key.slice(1);
  if (!wholeName.test(written)) throw new XmlError(`${JSON.stringify(written.slice(0, 100))} is not a name`);
  return written;
}

function formatScalar(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'object') throw new XmlError('an attribute or a text holds one value only');
  return String(value);
}

import { escapeMarkup } from '#base/escape-markup.ts';

/**
 * HTML sanitizer: builds a new document of known elements and attributes. Nothing of the input is copied but text, which
 * is escaped, so that a browser cannot read it in another way than this scanner.
 */

/** Elements with the attributes they keep. */
const elements: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    ['p', 'br', 'hr', 'ul', 'li', 'dl', 'dt', 'dd', 'blockquote', 'pre', 'kbd', 'samp', 'em', 'strong', 'b', 'i']
      .concat(['u', 's', 'del', 'ins', 'sub', 'sup', 'mark', 'small', 'caption', 'thead', 'tbody', 'tfoot', 'tr'])
      .concat(['figure', 'figcaption', 'summary', 'div', 'span', 'table', 'section', 'article', 'h2', 'h3', 'h4'])
      .concat(['h5', 'h6'])
      .map(name => [name, []]),
  ),
  a: ['href', 'title'],
  abbr: ['title'],
  code: ['class'],
  details: ['open'],
  img: ['src', 'alt', 'title', 'width', 'height'],
  ol: ['start'],
  td: ['colspan', 'rowspan', 'align'],
  th: ['colspan', 'rowspan', 'align'],
};
/** A page has one `h1`, which is not of its content. */
const renamed: Readonly<Record<string, string>> = { h1: 'h2' };
const voidElements = new Set(['br', 'hr', 'img']);
/** Elements whose content is no text for readers, or is parsed by other rules. */
const droppedWhole = new Set(
  [
    'script',
    'style',
    'iframe',
    'noscript',
    'template',
    'textarea',
    'title',
    'xmp',
    'noembed',
    'noframes',
    'svg',
  ].concat(['math', 'object', 'select', 'head']),
);
const maxDepth = 100;

interface Tag {
  readonly name: string;
  readonly isEnd: boolean;
  readonly attributes: string;
  /** Index behind the tag. */
  readonly end: number;
}

export function sanitizeHtml(input: string): string {
  const open: string[] = [];
  let output = '';
  let place = 0;
  while (place < input.length) {
    const start = input.indexOf('<', place);
    if (start < 0) break;
    output += escapeText(input.slice(place, start));
    if (input.startsWith('<!--', start)) {
      const end = input.indexOf('-->', start + 4);
      place = end < 0 ? input.length : end + 3;
      continue;
    }
    const tag = readTag(input, start);
    if (tag === 'none') {
      output += '&lt;';
      place = start + 1;
      continue;
    }
    if (tag === 'unended') {
      // Text to the end: looking for the end of every further tag would take quadratic time.
      return output + escapeText(input.slice(start)) + closeAll(open);
    }
    place = !tag.isEnd && droppedWhole.has(tag.name) ? findEndOf(tag, input) : tag.end;
    output += renderTag(tag, open);
  }
  return output + escapeText(input.slice(place)) + closeAll(open);
}

/** Character references stay: they never become tags. */
const escapeText = (text: string) =>
  text.replaceAll(/[<>]/g, it => escapeMarkup(it)).replaceAll(/&(?!#?\w{1,31};)/g, '&amp;');

const closeAll = (open: string[]) =>
  open
    .splice(0)
    .reverse()
    .map(name => `</${name}>`)
    .join('');

function readTag(input: string, start: number): Tag | 'none' | 'unended' {
  const isEnd = input[start + 1] === '/';
  const nameStart = start + (isEnd ? 2 : 1);
  if (!/[a-z!?]/i.test(input[nameStart] ?? '')) return 'none';
  let quote = '';
  for (let at = nameStart; at < input.length; at++) {
    const character = input[at]!;
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '>') {
      const text = input.slice(nameStart, at);
      const name = /^[^\s/]*/.exec(text)![0];
      return { name: name.toLowerCase(), isEnd, attributes: text.slice(name.length), end: at + 1 };
    }
  }
  return 'unended';
}

/** Index behind the end tag of an element that is dropped; the end of the input where there is none. */
function findEndOf({ name, end }: Tag, input: string): number {
  const pattern = new RegExp(`</${name}`, 'gi');
  pattern.lastIndex = end;
  const close = pattern.exec(input) === null ? -1 : input.indexOf('>', pattern.lastIndex);
  return close < 0 ? input.length : close + 1;
}

function renderTag({ name: given, isEnd, attributes }: Tag, open: string[]): string {
  if (given === 'input') return isEnd ? '' : renderCheckbox(attributes);
  const name = renamed[given] ?? given;
  if (!Object.hasOwn(elements, name)) return '';
  if (voidElements.has(name)) return isEnd ? '' : renderStart(name, attributes);
  if (!isEnd) {
    if (open.length >= maxDepth) return '';
    open.push(name);
    return renderStart(name, attributes);
  }
  const index = open.lastIndexOf(name);
  return index < 0 ? '' : closeAll(open.splice(index));
}

/** Task lists of Markdown. */
const renderCheckbox = (attributes: string) =>
  /\btype\s*=\s*["']?checkbox/i.test(attributes) ? (/\bchecked\b/i.test(attributes) ? '☑ ' : '☐ ') : '';

const attributePattern = /([^\s=/"'>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;

function renderStart(name: string, text: string): string {
  const kept = new Map<string, string>();
  for (const [, attribute = '', ...values] of text.matchAll(attributePattern)) {
    const key = attribute.toLowerCase();
    if (!elements[name]!.includes(key) || kept.has(key)) continue;
    const value = checkAttribute(key, decodeReferences(values.find(it => it !== undefined) ?? ''));
    if (value !== undefined) kept.set(key, value);
  }
  if (name === 'img' && !kept.has('alt')) kept.set('alt', '');
  if (name === 'a' && isForeignUrl(kept.get('href') ?? '')) kept.set('rel', 'nofollow noopener noreferrer');
  return `<${name}${[...kept].map(([key, value]) => ` ${key}="${escapeMarkup(value)}"`).join('')}>`;
}

const checks: Readonly<Record<string, (value: string) => string | undefined>> = {
  href: value => (hasScheme(value.trim(), ['http:', 'https:', 'mailto:']) ? value.trim() : undefined),
  // The content policy loads images of this site alone.
  src: value => (isLocalImage(value.trim()) ? value.trim() : undefined),
  class: value => /\blanguage-[\w+#-]{1,30}/.exec(value)?.[0],
  align: value => (/^(left|right|center)$/.test(value) ? value : undefined),
  open: () => '',
  title: value => value,
  alt: value => value,
};
const checkNumber = (value: string) => (/^\d{1,4}$/.test(value) ? value : undefined);
const checkAttribute = (key: string, value: string) => (checks[key] ?? checkNumber)(value);

const base = 'http://portal.invalid';
/** Parsed as browsers do it: they ignore tabs and line breaks inside of a scheme. */
const hasScheme = (value: string, schemes: readonly string[]) =>
  schemes.includes(URL.parse(value, base)?.protocol ?? '');
const isForeignUrl = (value: string) => URL.parse(value, base)?.origin !== base;
const isLocalImage = (value: string) =>
  /^data:image\/(png|jpeg|gif|webp);base64,[\w+/=]*$/.test(value) || URL.parse(value, base)?.origin === base;

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Character references of attributes; unknown ones stay text, which is escaped. */
const decodeReferences = (text: string) =>
  text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi, (whole, decimal, hex, name) => {
    if (name) return named[String(name).toLowerCase()]!;
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });

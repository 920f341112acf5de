import { createHash } from 'node:crypto';
import { escapeMarkup } from '#base/escape-markup.ts';
import { createLoader } from '#base/lazy-packages.ts';
import { Lru } from '#base/lru.ts';
import { readThreadCpuMs } from '#base/process.ts';
import { type Markup, trustMarkup } from './markup.ts';
import { sanitizeHtml } from './sanitize-html.ts';

const loadMarked = createLoader<typeof import('marked')>('marked');

/** Rendered texts by the hash of their source; a few long ones, many short ones. */
const rendered = { short: new Lru<string, Markup>(200), long: new Lru<string, Markup>(8) };
const maxShortChars = 65_536;

/** A text of an administrator: GitHub Flavored Markdown, or HTML where it begins with a tag. Sanitized either way. */
export function renderContent(source: string): Markup {
  return remember(source, () => (/^\s*</.test(source) ? source : toHtml(source)));
}

/** Markdown, also where it begins with a tag. */
export const renderMarkdown = (source: string): Markup => remember(`md ${source}`, () => toHtml(source));

/** Local part of an e-mail address in octets (RFC 5321, section 4.5.3.1.1). */
const maxLocalPart = 64;
/** Longer ones are no links. */
const longLink = /^[^\s<]{2048}/;

/** CPU time of one text. Nested lists and quotes, and runs of underscores, take the library quadratic time and more. */
const maxParseCpuMs = 1000;

/** Throws for a text that takes too long; false leaves the token to the library. */
function createBudget() {
  let endMs = 0;
  return {
    begin: () => {
      endMs = readThreadCpuMs() + maxParseCpuMs;
    },
    check: (): false => {
      if (readThreadCpuMs() > endMs) throw new RangeError('the text takes too long to parse');
      return false;
    },
  };
}

/**
 * Parser whose search for the start of an e-mail address is bounded by the longest local part. That of the library looks
 * ahead to the next `@` from every character: 32 kB of `a.a.a…@` take it half a minute.
 */
function createParser({ check }: ReturnType<typeof createBudget>) {
  const { Lexer, Marked } = loadMarked();
  const source = Lexer.rules.inline.gfm.text.source.replaceAll('-]+@)', `-]{1,${maxLocalPart}}@)`);
  const text = new RegExp(source);
  return new Marked({
    gfm: true,
    tokenizer: {
      ...{ blockquote: check, list: check, paragraph: check, emStrong: check, link: check, reflink: check },
      inlineText(rest) {
        const raw = text.exec(rest)?.[0];
        if (raw === undefined) return undefined;
        return { type: 'text', raw, text: raw, escaped: this.lexer.state.inRawBlock };
      },
      // The library removes punctuation at the end of a link one by one, each time from its start.
      url: rest => (longLink.test(rest) ? undefined : false),
    },
  });
}

const budget = createBudget();
let parser: ReturnType<typeof createParser> | undefined;

/** The parser throws for text that is nested too deeply, or takes too long: it is shown as it is. */
function toHtml(source: string): string {
  parser ??= createParser(budget);
  budget.begin();
  try {
    return parser.parse(source, { async: false });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `<pre>${escapeMarkup(source)}</pre>`;
  }
}

function remember(key: string, convert: () => string): Markup {
  const digest = createHash('sha256').update(key).digest('base64');
  const known = rendered.short.get(digest) ?? rendered.long.get(digest);
  if (known) return known;
  const markup = trustMarkup(addHeadingIds(sanitizeHtml(convert())));
  rendered[markup.toString().length <= maxShortChars ? 'short' : 'long'].set(digest, markup);
  return markup;
}

/** Anchors of headings, from their text: `#rate-limits`. */
function addHeadingIds(text: string): string {
  const used = new Map<string, number>();
  return text.replaceAll(/<(h[2-4])>([^\n]{0,500}?)<\/\1>/g, (_whole, name: string, content: string) => {
    const words = content.replaceAll(/<[^>]*>|&[#\w]+;/g, '').toLowerCase();
    const slug = words.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-|-$/g, '') || 'section';
    const count = (used.get(slug) ?? 0) + 1;
    used.set(slug, count);
    return `<${name} id="t-${slug}${count > 1 ? `-${count}` : ''}">${content}</${name}>`;
  });
}

import { createHash } from 'node:crypto';
import { escapeMarkup } from '#base/escape-markup.ts';
import { createLoader } from '#base/lazy-packages.ts';
import { Lru } from '#base/lru.ts';
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

/** The parser throws for text that is nested too deeply: it is shown as it is. */
function toHtml(source: string): string {
  try {
    return loadMarked().parse(source, { gfm: true, async: false });
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

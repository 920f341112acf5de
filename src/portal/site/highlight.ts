import { html, type Markup } from './markup.ts';

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });
const fold = (text: string) => text.normalize('NFKC').toLowerCase();

/** A text in which the words that begin with one of a search are marked; all of it is escaped. */
export function highlightWords(text: string, words: readonly string[]): Markup {
  if (words.length === 0) return html`${text}`;
  const isFound = (segment: string) => words.some(word => fold(segment).startsWith(word));
  return html`${[...segmenter.segment(text)].map(({ segment, isWordLike }) =>
    isWordLike && isFound(segment) ? html`<mark>${segment}</mark>` : segment,
  )}`;
}

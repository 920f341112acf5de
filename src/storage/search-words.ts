/** Characters of a text whose words are listed: finding their bounds takes time. */
const maxChars = 50_000;
const maxWords = 2000;
const maxWordBytes = 200;

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });
const tag = /<[^<>]{0,1000}>/g;

/** Words of a text or of HTML, each once, in lower case: of an index and of searches in it, also in scripts without spaces. */
export function listSearchWords(text: string): string[] {
  const plain = text.slice(0, maxChars).replaceAll(tag, ' ').normalize('NFKC').toLowerCase().toWellFormed();
  const words = new Set<string>();
  for (const { segment, isWordLike } of segmenter.segment(plain)) {
    if (!isWordLike || Buffer.byteLength(segment) > maxWordBytes) continue;
    words.add(segment);
    if (words.size === maxWords) break;
  }
  return [...words];
}

/** Bounds of the words that begin with a text, in bytewise order: `word >= first and word < end`. */
export const toWordRange = (prefix: string): { readonly first: string; readonly end: string } => ({
  first: prefix,
  end: `${prefix}\u{10ffff}`,
});

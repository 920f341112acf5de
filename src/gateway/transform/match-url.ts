import type { Exchange } from '../pipeline/exchange.ts';
import type { RewritePattern } from './rewrite-pattern.ts';
import { type Captures, createCaptures, escapeUrl } from './url-template.ts';

/** Matches a pattern against path (with listen path) and query; first as received, then percent-decoded. */
export function matchUrl(pattern: RewritePattern, { path, query }: Exchange): Captures | undefined {
  const text = query === '' ? path : `${path}?${query}`;
  const match = pattern.match(text);
  if (match) return createCaptures(match, path.length, identity);
  if (!text.includes('%')) return undefined;
  const decodedPath = decodeReadable(path);
  const decodedMatch = pattern.match(query === '' ? decodedPath : `${decodedPath}?${decodeReadable(query)}`);
  return decodedMatch && createCaptures(decodedMatch, decodedPath.length, escapeUrl);
}

const identity = (text: string) => text;
/** Reserved characters keep their escapes: decoding would change the URL. */
const reservedCharacters = /[\p{Cc}%&=+#?/\\;]/gu;

/** Decodes what can be decoded without changing the meaning of the URL. */
function decodeReadable(text: string): string {
  return text.replaceAll(/(?:%[0-9A-F]{2})+/gi, run => {
    try {
      return decodeURIComponent(run).replaceAll(reservedCharacters, found => encodeURIComponent(found));
    } catch {
      // Not UTF-8: only the upstream can interpret it.
      return run;
    }
  });
}

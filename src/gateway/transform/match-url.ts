import type { Exchange } from '../pipeline/exchange.ts';
import type { RewritePattern } from './rewrite-pattern.ts';
import { type Captures, createCaptures, escapeUrl } from './url-template.ts';

/** What a pattern finds in the address of a call: its path with the listen path, and its query. */
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
/** These mean something in an address: escaped, they do not, and so they stay. */
const reservedCharacters = /[\p{Cc}%&=+#?/\\;]/gu;

/** As its author reads it. What cannot be undone without changing what it means stays escaped. */
function decodeReadable(text: string): string {
  return text.replaceAll(/(?:%[0-9A-F]{2})+/gi, run => {
    try {
      return decodeURIComponent(run).replaceAll(reservedCharacters, found => encodeURIComponent(found));
    } catch {
      // Not UTF-8: nobody can read it but the upstream.
      return run;
    }
  });
}

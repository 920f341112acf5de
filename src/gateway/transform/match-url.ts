import type { Exchange } from '../pipeline/exchange.ts';
import type { Pattern } from './rewrite-pattern.ts';
import { type Captured, captured, respelt } from './url-template.ts';

/** What a pattern finds in the address of a call: its path with the listen path, and its query. */
export function foundIn(pattern: Pattern, { path, query }: Exchange): Captured | undefined {
  const text = query === '' ? path : `${path}?${query}`;
  const match = pattern.match(text);
  if (match) return captured(match, path.length, asItIs);
  if (!text.includes('%')) return undefined;
  const plain = unescaped(path);
  const second = pattern.match(query === '' ? plain : `${plain}?${unescaped(query)}`);
  return second && captured(second, plain.length, respelt);
}

const asItIs = (text: string) => text;
/** These mean something in an address: escaped, they do not, and so they stay. */
const meaningful = /[\p{Cc}%&=+#?/\\;]/gu;

/** As its author reads it. What cannot be undone without changing what it means stays escaped. */
function unescaped(text: string): string {
  return text.replaceAll(/(?:%[0-9A-F]{2})+/gi, run => {
    try {
      return decodeURIComponent(run).replaceAll(meaningful, found => encodeURIComponent(found));
    } catch {
      // Not UTF-8: nobody can read it but the upstream.
      return run;
    }
  });
}

/** What a segment of a path may hold as it is; everything else is escaped. */
const mustEscape = /[^A-Za-z0-9\-._~!$&'()*+,;=:@%]+/g;
const unreserved = /[A-Za-z0-9\-._~]/;

/**
 * A listen path in the one spelling that paths of calls have when they are looked up: it begins with a slash, has no empty
 * or dotted segments, and escapes exactly what has to be. Segments with parameters are patterns, and stay as they are.
 */
export function normalizeListenPath(path: string): string {
  const segments: string[] = [];
  for (const segment of path.toWellFormed().split('/')) {
    const normalized = segment.includes('{') ? segment : normalizeSegment(segment);
    if (normalized === '..') segments.pop();
    else if (normalized !== '' && normalized !== '.') segments.push(normalized);
  }
  return `/${segments.join('/')}${segments.length > 0 && /\/\.{0,2}$/.test(path) ? '/' : ''}`;
}

const normalizeSegment = (segment: string) =>
  segment.replaceAll(mustEscape, encodeURIComponent).replaceAll(/%[0-9A-Fa-f]{2}/g, written => {
    const character = String.fromCharCode(Number.parseInt(written.slice(1), 16));
    return unreserved.test(character) ? character : written.toUpperCase();
  });

/** Characters of a path segment that need no percent-encoding (RFC 3986, section 3.3). */
const mustEscape = /[^A-Za-z0-9\-._~!$&'()*+,;=:@%]+/g;
const unreserved = /[A-Za-z0-9\-._~]/;

/**
 * Normalizes a listen path as request paths are normalized for routing: leading slash, no empty or dot segments,
 * minimal percent-encoding in upper case (RFC 3986, section 6.2.2). Segments with parameters are patterns and stay as
 * they are.
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

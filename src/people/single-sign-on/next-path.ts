/** Path to continue at: one of this site only, against open redirects. */
export function readNextPath(next: unknown): string {
  const origin = 'http://dashboard.invalid';
  if (typeof next !== 'string' || next.length > 1024 || !next.startsWith('/')) return '/';
  const url = URL.parse(next, origin);
  // Removed dot segments can leave `//host` behind, which browsers read as another site.
  if (url?.origin !== origin || url.pathname.startsWith('//')) return '/';
  return url.pathname + url.search + url.hash;
}

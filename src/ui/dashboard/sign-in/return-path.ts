/** Return address: a path of this origin, never another one. */
export function toLocalPath(next: string | undefined): string {
  const url = next?.startsWith('/') ? URL.parse(next, location.origin) : null;
  // Normalisation can leave two slashes at the front, which name a host: /.//example.org.
  const isLocal = url?.origin === location.origin && !url.pathname.startsWith('//');
  return isLocal ? url.pathname + url.search : '/';
}

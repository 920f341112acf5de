export interface OriginTest {
  readonly isAny: boolean;
  has(origin: string): boolean;
}

/** One `*` in an origin is a wildcard. */
export function createOriginTest(list: readonly string[]): OriginTest {
  const patterns = list.map(text => text.trim().toLowerCase());
  if (patterns.length === 0 || patterns.includes('*')) return { isAny: true, has: () => true };
  const exact = new Set(patterns.filter(text => !text.includes('*')));
  const wildcards = patterns
    .filter(text => text.includes('*'))
    .map(text => ({ start: text.slice(0, text.indexOf('*')), end: text.slice(text.indexOf('*') + 1) }));
  return {
    isAny: false,
    has(origin) {
      const text = origin.toLowerCase();
      if (exact.has(text)) return true;
      return wildcards.some(
        ({ start, end }) =>
          text.length >= start.length + end.length && text.startsWith(start) && text.endsWith(end) && isOrigin(text),
      );
    },
  };
}

/** The match of a wildcard must be an origin, so that a path or user name cannot end like a trusted host. */
const isOrigin = (text: string) => /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\\\s]+$/.test(text);

/**
 * Looks up a value by host pattern. The most specific pattern wins: `host:port`, `host`, `*.domain:port`, `*.domain`,
 * `*`. A star is one label.
 */
export function findByHostPattern<T>(
  byPattern: Readonly<Record<string, T>>,
  host: string,
  port: string,
): T | undefined {
  const wild = `*.${host.split('.').slice(1).join('.')}`;
  for (const pattern of [`${host}:${port}`, host, `${wild}:${port}`, wild, '*'])
    if (Object.hasOwn(byPattern, pattern)) return byPattern[pattern];
  return undefined;
}

/** Normalizes patterns for comparison: lower-case, without a trailing dot. */
export const normalizeHostPatterns = <T>(byPattern: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.fromEntries(
    Object.entries(byPattern).map(([pattern, value]) => [
      pattern
        .trim()
        .toLowerCase()
        .replace(/\.(?=:|$)/, ''),
      value,
    ]),
  );

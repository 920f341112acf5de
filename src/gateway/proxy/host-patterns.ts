/**
 * Values kept by host pattern. Of several patterns that fit, the one that says most counts: `*`, `*.domain`,
 * `*.domain:port`, `host`, `host:port`. A star stands for one label.
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

/** Patterns as they are compared: lower-case, without a final dot. */
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

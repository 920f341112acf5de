/** Pause that a `Retry-After` header requests (RFC 9110, 10.2.3): seconds, or a date; undefined for anything else. */
export function readRetryAfterMs(value: string, nowMs: number): number | undefined {
  const text = value.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const atMs = /^[A-Z][a-z]{2},/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

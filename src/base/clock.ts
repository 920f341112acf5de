/** Source of time, passed as an argument so that tests can set it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** The time management surfaces print for "never". */
export const zeroTime = '0001-01-01T00:00:00Z';

export const formatIsoTime = (ms: number): string => new Date(ms).toISOString().replace(/\.000Z$/, 'Z');

/** HTTP-date (RFC 9110, 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`. */
export const formatHttpDate = (ms: number): string => new Date(ms).toUTCString();

export const toUnixSeconds = (ms: number): number => Math.floor(ms / 1000);

const padTwo = (value: number) => String(value).padStart(2, '0');

/** Later times have a year of more than four digits. */
const maxPortalTimeMs = Date.UTC(9999, 11, 30, 23, 59);

/** The portal's `YYYY-MM-DD HH:MM`, in the server's own zone. */
export function formatPortalTime(ms: number): string {
  const at = new Date(Math.min(ms, maxPortalTimeMs));
  const date = `${at.getFullYear()}-${padTwo(at.getMonth() + 1)}-${padTwo(at.getDate())}`;
  return `${date} ${padTwo(at.getHours())}:${padTwo(at.getMinutes())}`;
}

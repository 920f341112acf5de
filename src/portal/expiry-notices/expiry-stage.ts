import type { ExpiryStage } from './store.ts';

const dayMs = 86_400_000;
/** Older ones are not reported: the first run after an update would mail about everything that ever expired. */
const maxExpiredMs = 7 * dayMs;

/** Stage that is worth a notice, of what expires at a time; 0 is never. */
export function findExpiryStage(expiresAtMs: number, nowMs: number, noticeDays: number): ExpiryStage | undefined {
  if (expiresAtMs === 0) return undefined;
  const leftMs = expiresAtMs - nowMs;
  if (leftMs <= 0) return leftMs > -maxExpiredMs ? 'expired' : undefined;
  return leftMs <= noticeDays * dayMs ? 'expiring' : undefined;
}

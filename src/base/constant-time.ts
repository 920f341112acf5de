import { createHash, timingSafeEqual } from 'node:crypto';

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Compares two secrets without telling by the time it takes where they differ, or how long the expected one is:
 * both sides become digests of one length first.
 */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(digestOf(a), digestOf(b));
}

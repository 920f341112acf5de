import { createHash, timingSafeEqual } from 'node:crypto';

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Compares two secrets without telling by the time it takes where they differ, or how long the expected one is:
 * both sides become digests of one length first.
 */
export function constantTimeEqual(a: string, b: string): boolean {
  return timingSafeEqual(hash(a), hash(b));
}

import { createHash, timingSafeEqual } from 'node:crypto';

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Constant-time comparison of secrets: both sides are hashed first, so that the time depends neither on where they
 * differ nor on the length of the expected one.
 */
export function constantTimeEqual(a: string, b: string): boolean {
  return timingSafeEqual(hash(a), hash(b));
}

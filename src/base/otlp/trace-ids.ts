import { randomFillSync } from 'node:crypto';

/** Random bytes fetched at once: a call of the generator costs more than the bytes. */
const poolBytes = 8192;
const pool = Buffer.allocUnsafe(poolBytes);
let used = poolBytes;

/** Random hexadecimal text of `bytes` bytes, never all zeros. */
export function createRandomHex(bytes: number): string {
  if (used + bytes > poolBytes) {
    randomFillSync(pool);
    used = 0;
  }
  const hex = pool.toString('hex', used, used + bytes);
  used += bytes;
  return hex.startsWith('00') && /^0+$/.test(hex) ? createRandomHex(bytes) : hex;
}

/** W3C trace id: 16 random bytes. */
export const createTraceId = (): string => createRandomHex(16);

/** W3C parent id: 8 random bytes. */
export const createSpanId = (): string => createRandomHex(8);

/** `traceparent` of W3C Trace Context, 3.2. */
export const formatTraceparent = (traceId: string, spanId: string, isSampled: boolean): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;

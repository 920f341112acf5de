import { randomBytes, randomFillSync, randomUUID } from 'node:crypto';

/** Collision-free ids; those with a time prefix keep index inserts local. */

let sequence = 0;
const process5 = randomBytes(5).toString('hex');

/** A database id: 24 hexadecimal characters, the first eight of which are the time in seconds. */
export function createDatabaseId(nowMs: number = Date.now()): string {
  sequence = (sequence + 1) & 0xffffff;
  return (
    Math.floor(nowMs / 1000)
      .toString(16)
      .padStart(8, '0') +
    process5 +
    sequence.toString(16).padStart(6, '0')
  );
}

/** A public id or token: 32 hexadecimal characters, 128 random bits. */
export function createPublicId(): string {
  return randomBytes(16).toString('hex');
}

/** A random UUID, where other programs expect one. */
export const createUuid = (): string => randomUUID();

/** Seed of a random number generator that is not for secrets. */
export const createSeed = (): number => Math.floor(Math.random() * 0x1_0000_0000);

/** A secret a person copies: 256 random bits as URL-safe text. */
export function createSecretText(): string {
  return randomBytes(32).toString('base64url');
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ksuidEpochSeconds = 1_400_000_000;

/** A persistent id that sorts by time: 27 characters of base 62 over four bytes of time and sixteen random ones. */
export function createSortableId(nowMs: number = Date.now()): string {
  const bytes = Buffer.alloc(20);
  bytes.writeUInt32BE(Math.floor(nowMs / 1000) - ksuidEpochSeconds, 0);
  randomFillSync(bytes, 4);
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let place = 0; place < 27; place++) {
    text = base62[Number(rest % 62n)] + text;
    rest /= 62n;
  }
  return text;
}

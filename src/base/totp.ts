import { createHmac, randomBytes, randomInt } from 'node:crypto';
import { constantTimeEqual } from './constant-time.ts';

/** Time-based one-time passwords (RFC 6238) as authenticator apps compute them: SHA-1, six digits, 30 seconds. */
const stepMs = 30_000;
const digits = 6;
const secretBytes = 20;
/** Steps before and after the current one that are accepted: clocks differ. */
const maxDriftSteps = 1;
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** A new secret in base32 (RFC 4648, 6). */
export function createTotpSecret(): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of randomBytes(secretBytes)) {
    value = (value << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += base32[(value >> (bits - 5)) & 31];
    value &= 31;
  }
  return text;
}

function decodeBase32(text: string): Buffer {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const character of text) {
    value = ((value << 5) | base32.indexOf(character)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 255);
  }
  return Buffer.from(bytes);
}

/** Code of a time step (RFC 4226, 5.3). */
export function computeTotp(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', decodeBase32(secret)).update(counter).digest();
  const number = mac.readUInt32BE(mac.at(-1)! & 15) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

export const toTotpStep = (nowMs: number): number => Math.floor(nowMs / stepMs);

/** Time step that a code belongs to; undefined for a wrong one. The caller accepts each step once. */
export function findTotpStep(secret: string, code: string, nowMs: number): number | undefined {
  let found: number | undefined;
  for (let drift = -maxDriftSteps; drift <= maxDriftSteps; drift++) {
    const step = toTotpStep(nowMs) + drift;
    if (constantTimeEqual(computeTotp(secret, step), code)) found = step;
  }
  return found;
}

/** `otpauth:` URI for the QR code of an authenticator app. */
export function formatTotpUri(issuer: string, account: string, secret: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`;
}

/** A typed code without the blanks, dashes and capital letters that people add. */
export const normalizeCode = (text: string): string => text.replaceAll(/[\s-]/g, '').toLowerCase();

/** Letters and digits that are not mistaken for each other: 32 of them, five bits each. */
const recoveryAlphabet = 'abcdefghjkmnpqrstuvwxyz023456789';

/** A recovery code: 80 random bits in four groups, for a person to write down. */
export const createRecoveryCode = (): string =>
  Array.from({ length: 4 }, () => Array.from({ length: 4 }, () => recoveryAlphabet[randomInt(32)]).join('')).join('-');

const recoveryCodeCount = 10;

/** Recovery codes of an account, shown once. */
export const createRecoveryCodeSet = (): string[] => Array.from({ length: recoveryCodeCount }, createRecoveryCode);

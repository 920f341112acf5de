import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Session } from '#access/keys/session.ts';
import type { Clock } from '#base/clock.ts';
import { sameSecret } from '#base/compare.ts';
import { Lru } from '#base/lru.ts';
import { murmur32, murmur64, murmur128 } from '#base/murmur.ts';
import { passwordMatches, wastePasswordTime } from '#base/passwords.ts';
import type { Doing } from '../step.ts';

type Stored = NonNullable<Session['password']>;

/** Whether a password is a user's. Nobody learns from the time it takes whether the user exists. */
export interface PasswordCheck {
  matches(user: string, stored: Stored | undefined, password: string, rememberMs: number): Doing<boolean>;
}

/** Hashes other gateways keep, quick to make and so quick to compare. */
const quickHashes: Readonly<Record<string, (password: string) => string>> = {
  '': password => password,
  sha256: password => createHash('sha256').update(password).digest('hex'),
  murmur32: password => murmur32(password),
  murmur64: password => murmur64(password),
  murmur128: password => murmur128(password),
};

/** Passwords a thread remembers to be right. */
const passwordsKept = 10_000;

export function passwordCheck(clock: Clock): PasswordCheck {
  const right = new Lru<string, number>(passwordsKept);
  const checking = new Map<string, Promise<boolean>>();
  const secret = randomBytes(32);
  /** One name for one question: who, against what is stored, with which password. Lengths keep the parts apart. */
  const nameOf = (user: string, stored: string, password: string) =>
    createHmac('sha256', secret)
      .update(`${user.length}:${user}:${stored.length}:${stored}:${password}`)
      .digest('base64');

  return {
    matches(user, stored, password, rememberMs) {
      const name = nameOf(user, stored?.hash ?? '', password);
      if (rememberMs > 0 && (right.get(name) ?? 0) > clock.now()) return true;
      const running = checking.get(name);
      if (running) return running;
      const begun = checked(stored, password)
        .then(matches => {
          if (matches && rememberMs > 0) right.set(name, clock.now() + rememberMs);
          return matches;
        })
        .finally(() => checking.delete(name));
      checking.set(name, begun);
      return begun;
    },
  };
}

async function checked(stored: Stored | undefined, password: string): Promise<boolean> {
  if (!stored) return wastePasswordTime(password);
  const quick = stored.hash.startsWith('scrypt$') ? undefined : quickHashes[stored.hashType];
  if (!quick) return passwordMatches(password, stored.hash);
  return sameSecret(quick(password), stored.hash) || wastePasswordTime(password);
}

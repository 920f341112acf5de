import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Session } from '#access/keys/session.ts';
import { toAddressKey } from '#base/address-key.ts';
import type { Clock } from '#base/clock.ts';
import { constantTimeEqual } from '#base/constant-time.ts';
import { createFailureCounter } from '#base/failure-counter.ts';
import { Abandoned, type Flow } from '#base/fair-queue.ts';
import { Lru } from '#base/lru.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { murmur32, murmur64, murmur128 } from '#base/murmur.ts';
import { defaultPasswordCost, hashDummyPassword, type PasswordCost, verifyPassword } from '#base/passwords.ts';

type Stored = NonNullable<Session['password']>;

/** `limited`: too many wrong ones, not checked. `abandoned`: the client disconnected before its check ran. */
export type PasswordVerdict = boolean | 'limited' | 'abandoned';

export interface PasswordAttempt {
  readonly user: string;
  readonly stored: Stored | undefined;
  readonly password: string;
  /** How long a correct password is cached; 0: it is not. */
  readonly cacheMs: number;
  /** Fair queueing and the limit on wrong passwords are by client address and user. */
  readonly client: string;
  readonly isConnected?: () => boolean;
}

/** Password verification. Its duration does not reveal whether the user exists. */
export interface PasswordCheck {
  matches(question: PasswordAttempt): MaybePromise<PasswordVerdict>;
  retryAfterSeconds(client: string, user: string): number;
}

/** Imported hashes of other gateways: fast ones. */
const legacyHashes: Readonly<Record<string, (password: string) => string>> = {
  '': password => password,
  sha256: password => createHash('sha256').update(password).digest('hex'),
  murmur32: password => murmur32(password),
  murmur64: password => murmur64(password),
  murmur128: password => murmur128(password),
};

/** Cached correct passwords per thread. */
const maxCachedMatches = 10_000;
/** Addresses, and users at an address, with counted failures per thread. */
const maxCountedKeys = 20_000;
const windowMs = 60_000;
/** Users may share an address: its limit is this multiple of that of one user. */
const usersPerAddress = 10;

interface RunningCheck {
  readonly verdict: Promise<PasswordVerdict>;
  readonly waiting: (() => boolean)[];
}

const always = () => true;
const toPair = (client: string, user: string) => `${client} ${user}`;

/**
 * `maxWrongPerMinute` bounds wrong passwords of one user from one address; 0 switches the bound off. `dummyCost` is the
 * work for unknown users and for wrong passwords of fast hashes.
 */
export function createPasswordCheck(
  clock: Clock,
  maxWrongPerMinute = 0,
  dummyCost: PasswordCost = defaultPasswordCost,
): PasswordCheck {
  const matched = new Lru<string, number>(maxCachedMatches);
  const checking = new Map<string, RunningCheck>();
  const failures = createFailureLimit(clock, maxWrongPerMinute);
  const secret = randomBytes(32);
  /** Cache key of user, stored hash and password. Length prefixes keep the parts apart. */
  const toCacheKey = (user: string, stored: string, password: string) =>
    createHmac('sha256', secret)
      .update(`${user.length}:${user}:${stored.length}:${stored}:${password}`)
      .digest('base64');

  function start(name: string, question: PasswordAttempt): RunningCheck {
    const { user, client, cacheMs: rememberMs } = question;
    const waiting = [question.isConnected ?? always];
    const isWanted = () => waiting.some(isConnected => isConnected());
    const verdict = compare(question, { client, account: user, isWanted }, dummyCost)
      .then(matches => {
        failures.record(client, user, matches);
        if (matches && rememberMs > 0) matched.set(name, clock.now() + rememberMs);
        return matches;
      })
      .catch(error => {
        if (error instanceof Abandoned) return 'abandoned' as const;
        throw error;
      })
      .finally(() => checking.delete(name));
    return { verdict, waiting };
  }

  return {
    matches(question) {
      const { user, stored, password, cacheMs: rememberMs, client } = question;
      const name = toCacheKey(user, stored?.hash ?? '', password);
      if (rememberMs > 0 && (matched.get(name) ?? 0) > clock.now()) return true;
      if (failures.isLimited(client, user)) return 'limited';
      const running = checking.get(name);
      if (running) {
        running.waiting.push(question.isConnected ?? always);
        return running.verdict;
      }
      const check = start(name, question);
      checking.set(name, check);
      return check.verdict;
    },
    retryAfterSeconds: failures.retryAfterSeconds,
  };
}

/** Limit on wrong passwords, by address and by user at an address. */
function createFailureLimit(clock: Clock, maxWrongPerMinute: number) {
  const bounds = { windowMs, maxKeys: maxCountedKeys };
  const wrongByUser = createFailureCounter({ ...bounds, maxFailures: maxWrongPerMinute }, clock);
  const wrongByAddress = createFailureCounter({ ...bounds, maxFailures: maxWrongPerMinute * usersPerAddress }, clock);
  /** Users that signed in from an address are exempt from the limit of that address. */
  const signedIn = new Lru<string, true>(maxCountedKeys);
  return {
    isLimited(client: string, user: string): boolean {
      const address = toAddressKey(client);
      const pair = toPair(address, user);
      return wrongByUser.isOverLimit(pair) || (wrongByAddress.isOverLimit(address) && !signedIn.get(pair));
    },
    record(client: string, user: string, matches: boolean): void {
      const address = toAddressKey(client);
      const pair = toPair(address, user);
      if (matches) {
        signedIn.set(pair, true);
        wrongByUser.clear(pair);
      } else {
        wrongByUser.record(pair);
        wrongByAddress.record(address);
      }
    },
    retryAfterSeconds(client: string, user: string): number {
      const address = toAddressKey(client);
      return Math.max(
        1,
        wrongByUser.retryAfterSeconds(toPair(address, user)),
        wrongByAddress.retryAfterSeconds(address),
      );
    },
  };
}

async function compare({ stored, password }: PasswordAttempt, flow: Flow, dummyCost: PasswordCost): Promise<boolean> {
  if (!stored) return hashDummyPassword(password, flow, dummyCost);
  const quick = stored.hash.startsWith('scrypt$') ? undefined : legacyHashes[stored.hashType];
  if (!quick) return verifyPassword(password, stored.hash, flow, dummyCost);
  return constantTimeEqual(quick(password), stored.hash) || hashDummyPassword(password, flow, dummyCost);
}

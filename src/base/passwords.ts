import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { createFairQueue, type Flow } from './fair-queue.ts';
import { problems } from './problems.ts';

/**
 * Password hashes, as `scrypt$N$r$p$salt$hash` (salt and hash in base64url). The cost is part of the hash, so that the
 * default may rise while older hashes still verify.
 */
const passwordProblem = problems('passwords', {
  too_busy: { status: 503, message: 'Too many sign-ins at the moment, try again in a few seconds' },
  too_long: { status: 400, message: 'A password may have at most {maxBytes} bytes' },
});

export interface PasswordCost {
  /** Work and memory: a power of two. Each run holds 128 · N · r bytes. */
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

export const defaultPasswordCost: PasswordCost = { N: 2 ** 14, r: 8, p: 5 };

export const maxPasswordBytes = 1024;
/** Half of libuv's thread pool, which also serves files and DNS. */
export const maxConcurrentHashes = 2;
export const maxWaitingHashes = 200;
/** Bounds on stored hashes: one that costs more was not written by this program. */
const maxStoredMemoryBytes = 256 * 1024 * 1024;
const maxStoredParallelism = 16;
const saltBytes = 16;
const hashBytes = 32;

interface StoredPassword {
  readonly cost: PasswordCost;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** Stored password of unknown users. Its hash is random, so that no password matches. */
const dummyPassword = { salt: randomBytes(saltBytes), hash: randomBytes(hashBytes) };

/** Flow of the management surfaces, which have no client address at hand. */
const managementFlow: Flow = { client: '', account: '' };

export async function hashPassword(
  password: string,
  cost: PasswordCost = defaultPasswordCost,
  flow: Flow = managementFlow,
): Promise<string> {
  const bytes = toNormalizedBytes(password);
  if (bytes.length > maxPasswordBytes) throw passwordProblem.too_long({ detail: { maxBytes: maxPasswordBytes } });
  const salt = randomBytes(saltBytes);
  const hash = await derive(bytes, salt, cost, hashBytes, flow);
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/**
 * Verifies a password. A stored text that no password matches (empty, foreign) costs as much as a wrong password.
 */
export async function verifyPassword(
  password: string,
  stored: string,
  flow: Flow = managementFlow,
  dummyCost: PasswordCost = defaultPasswordCost,
): Promise<boolean> {
  const known = parseStoredPassword(stored);
  const bytes = toNormalizedBytes(password);
  const possible = known !== undefined && bytes.length <= maxPasswordBytes;
  const { cost, salt, hash } = known ?? { ...dummyPassword, cost: dummyCost };
  const given = await derive(bytes.subarray(0, maxPasswordBytes), salt, cost, hash.length, flow);
  return timingSafeEqual(given, hash) && possible;
}

/** Verification for an unknown user: as slow as a wrong password, against user enumeration by timing. */
export async function hashDummyPassword(
  password: string,
  flow: Flow = managementFlow,
  cost: PasswordCost = defaultPasswordCost,
): Promise<false> {
  await verifyPassword(password, '', flow, cost);
  return false;
}

/** Unicode NFC: keyboards compose the same password differently. */
const toNormalizedBytes = (password: string): Buffer => Buffer.from(password.normalize('NFC'), 'utf8');

function parseStoredPassword(stored: string): StoredPassword | undefined {
  const found = /^scrypt\$(\d{1,9})\$(\d{1,3})\$(\d{1,3})\$([\w-]{11,})\$([\w-]{22,})$/.exec(stored);
  if (!found) return undefined;
  const [N = 0, r = 0, p = 0] = found.slice(1, 4).map(Number);
  const sound = N >= 2 && Number.isInteger(Math.log2(N)) && r >= 1 && p >= 1 && p <= maxStoredParallelism;
  if (!sound || 128 * N * r > maxStoredMemoryBytes) return undefined;
  return {
    cost: { N, r, p },
    salt: Buffer.from(found[4] ?? '', 'base64url'),
    hash: Buffer.from(found[5] ?? '', 'base64url'),
  };
}

const queue = createFairQueue({ maxRunning: maxConcurrentHashes, maxWaiting: maxWaitingHashes }, () =>
  passwordProblem.too_busy(),
);

/** Runs scrypt in the fair queue: wrong passwords of one client do not delay another client. */
function derive(
  password: Buffer,
  salt: Buffer,
  { N, r, p }: PasswordCost,
  length: number,
  flow: Flow,
): Promise<Buffer> {
  const maxmem = 128 * r * (N + p) + 1024 * 1024;
  return queue.run(
    flow,
    () =>
      new Promise<Buffer>((resolve, reject) => {
        scrypt(password, salt, length, { N, r, p, maxmem }, (error, hash) => (error ? reject(error) : resolve(hash)));
      }),
  );
}

export interface PasswordPolicy {
  readonly minLength: number;
  /** Both a capital and a small letter. */
  readonly multiCase?: boolean;
  readonly minNumeric?: number;
  readonly minSpecial?: number;
  /** Refuses three consecutive or equal characters: abc, 321, aaa. */
  readonly disableSequential?: boolean;
}

const defaultPasswordPolicy: PasswordPolicy = { minLength: 6 };

/** Rule of a policy. */
interface PasswordRule {
  readonly isActive: boolean;
  readonly sentence: string;
  isBroken(characters: readonly string[]): boolean;
}

const count = (characters: readonly string[], pattern: RegExp) =>
  characters.filter(character => pattern.test(character)).length;

function listPasswordRules(policy: PasswordPolicy): PasswordRule[] {
  const { minLength, multiCase = false, minNumeric = 0, minSpecial = 0, disableSequential = false } = policy;
  return [
    {
      isActive: true,
      sentence: `Password must have at least ${minLength} characters`,
      isBroken: characters => characters.length < minLength,
    },
    {
      isActive: multiCase,
      sentence: 'Password must have both upper and lower case letters',
      isBroken: characters => count(characters, /\p{Lu}/u) === 0 || count(characters, /\p{Ll}/u) === 0,
    },
    {
      isActive: minNumeric > 0,
      sentence: `Password must have at least ${minNumeric} digits`,
      isBroken: characters => count(characters, /\p{Nd}/u) < minNumeric,
    },
    {
      isActive: minSpecial > 0,
      sentence: `Password must have at least ${minSpecial} special characters`,
      isBroken: characters => count(characters, /[^\p{L}\p{N}\s]/u) < minSpecial,
    },
    {
      isActive: disableSequential,
      sentence: 'Password may not have three consecutive or equal characters in a row',
      isBroken: hasSequence,
    },
  ];
}

/** Rules of the policy as sentences, for the form of a new password. */
export const describePasswordPolicy = (policy: PasswordPolicy): string[] =>
  listPasswordRules(policy).flatMap(({ isActive, sentence }) => (isActive ? [sentence] : []));

/** Violations of the policy as sentences; empty for a valid password. */
export function findPasswordFaults(password: string, policy: PasswordPolicy = defaultPasswordPolicy): string[] {
  const characters = [...password.normalize('NFC')];
  const broken = listPasswordRules(policy).filter(rule => rule.isActive && rule.isBroken(characters));
  const isTooLong = toNormalizedBytes(password).length > maxPasswordBytes;
  return [
    ...broken.map(({ sentence }) => sentence),
    ...(isTooLong ? [`Password may have at most ${maxPasswordBytes} bytes`] : []),
  ];
}

function hasSequence(characters: readonly string[]): boolean {
  const codes = characters.map(character => character.toLowerCase().codePointAt(0) ?? 0);
  return codes.some((code, at) => {
    const [next, last] = [codes[at + 1], codes[at + 2]];
    if (next === undefined || last === undefined) return false;
    return next - code === last - next && Math.abs(next - code) <= 1;
  });
}

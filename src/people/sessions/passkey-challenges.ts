import type { Clock } from '#base/clock.ts';
import { constantTimeEqual } from '#base/constant-time.ts';
import { createSecretText } from '#base/ids.ts';
import type { Vault } from '#base/vault.ts';
import { problem } from './problems.ts';
import type { SignInTokenStore } from './token-store.ts';

/**
 * Challenges of passkey ceremonies: random bytes, expiry and a keyed hash over both, the purpose and the user. Only a
 * used challenge is stored, until it expires: requests before a sign-in write nothing.
 */
export type PasskeyChallenges = ReturnType<typeof createPasskeyChallenges>;

export interface ChallengeUse {
  readonly purpose: 'registration' | 'sign-in';
  /** Empty where the user is not known yet. */
  readonly userId: string;
  /** Version of the credentials of the user: a new password makes its challenges void. */
  readonly credentialVersion?: string;
}

export const challengeTtlMs = 300_000;
const nonceBytes = 32;
const expiryBytes = 6;
const challengeBytes = nonceBytes + expiryBytes + 32;

export function createPasskeyChallenges(vault: Vault, signInTokens: SignInTokenStore, clock: Clock) {
  const toDigest = ({ purpose, userId, credentialVersion = '' }: ChallengeUse, head: Buffer) =>
    vault.digest(JSON.stringify([purpose, userId, credentialVersion, head.toString('hex')]), 'passkey challenge');

  return {
    create(use: ChallengeUse): string {
      const head = Buffer.alloc(nonceBytes + expiryBytes);
      head.write(createSecretText(), 'base64url');
      head.writeUIntBE(clock.now() + challengeTtlMs, nonceBytes, expiryBytes);
      return Buffer.concat([head, Buffer.from(toDigest(use, head), 'hex')]).toString('base64url');
    },

    /** Uses a challenge of this purpose and user; rejects one that is foreign, expired or used, also concurrently. */
    async use(challenge: string, use: ChallengeUse): Promise<void> {
      const bytes = Buffer.from(challenge, 'base64url');
      const head = bytes.subarray(0, nonceBytes + expiryBytes);
      const digest = bytes.toString('hex', nonceBytes + expiryBytes);
      const isOwn = bytes.length === challengeBytes && constantTimeEqual(digest, toDigest(use, head));
      if (!isOwn) throw problem.challenge_invalid();
      const expiresAtMs = head.readUIntBE(nonceBytes, expiryBytes);
      if (expiresAtMs <= clock.now()) throw problem.challenge_invalid();
      const used = { purpose: 'passkey-challenge', orgId: '', value: digest, expiresAtMs } as const;
      if (!(await signInTokens.markUsed(used, clock.now()))) throw problem.challenge_invalid();
    },
  };
}

import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import type { SignInTokenStore } from '../sessions/token-store.ts';
import type { SignOnIdentity } from '../users/identity.ts';
import { problem } from './problems.ts';

/** Seconds between the creation of a nonce and its use. */
const nonceTtlSeconds = 60;
const maxGroups = 100;
const groupId = z.string().max(64);

/** SSO object: the user that a broker has authenticated. */
export const SignOnRequest = z.object({
  ForSection: z
    .literal('dashboard', { error: 'must be dashboard: users of the portal sign on there (POST /portal-api/sso)' })
    .default('dashboard'),
  OrgID: groupId.optional().describe('Organisation of the user; required on the admin surface'),
  EmailAddress: z
    .email()
    .max(254)
    .transform(text => text.toLowerCase()),
  DisplayName: z.string().max(200).default(''),
  GroupID: groupId.default('').describe('User group of a user without an account'),
  GroupsIDs: z.array(groupId).max(maxGroups).nullish().describe('Further user groups; the higher level wins'),
  SSOOnlyForRegisteredUsers: z.boolean().default(false).describe('Refuses a user without an account'),
  UserNotAllowed: z.boolean().default(false).describe('true is refused: a nonce is for a user who may sign on'),
});
export type SignOnRequest = z.output<typeof SignOnRequest>;

export interface NonceServices {
  signInTokens: SignInTokenStore;
  clock: Clock;
}

/** Identity of an SSO object: its e-mail address counts as verified by the broker. */
export function toIdentity(request: SignOnRequest): SignOnIdentity {
  if (request.UserNotAllowed) throw problem.user_not_allowed();
  const { EmailAddress: email, DisplayName: displayName, SSOOnlyForRegisteredUsers: onlyRegistered } = request;
  const groupIds = [request.GroupID, ...(request.GroupsIDs ?? [])].filter(Boolean);
  return { subject: email, email, displayName, groupIds, isEmailVerified: true, onlyRegistered };
}

/** User whose credential created a nonce. */
export interface NonceCreator {
  readonly id: string;
  readonly name: string;
  /** Version of its credentials when it created the nonce. */
  readonly version: string;
}

interface NonceBody {
  readonly identity: SignOnIdentity;
  /** Account that the nonce may sign in to; empty for none, undefined for any. */
  readonly accountId?: string | undefined;
  /** Undefined for nonces of the operator. */
  readonly creator?: NonceCreator | undefined;
}

/** Creates a nonce: it opens one session of the identity, for a short time. Only its keyed hash is stored. */
export const createNonce = ({ signInTokens, clock }: NonceServices, orgId: string, body: NonceBody) =>
  signInTokens.insert(
    {
      purpose: 'sso',
      orgId,
      ownerId: orgId,
      expiresAtMs: clock.now() + nonceTtlSeconds * 1000,
      body: JSON.stringify(body),
    },
    clock.now(),
  );

/** Uses up a nonce, also where the sign-on fails afterwards. */
export async function redeemNonce({ signInTokens, clock }: NonceServices, nonce: string) {
  const token = await signInTokens.find('sso', nonce, clock.now());
  if (!token || !(await signInTokens.use(token))) throw problem.nonce_invalid();
  return { orgId: token.orgId, ...(JSON.parse(token.body) as NonceBody) };
}

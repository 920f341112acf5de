import { zeroTime } from '#base/clock.ts';
import type { Actor, TemporaryUser } from '#operations/actor.ts';
import type { User } from './schema.ts';

/**
 * Forms of an identity, in the order of a sign-on: `AssertedUser` as a provider describes it; `SignOnIdentity` mapped by
 * the profile or taken from a nonce, with a `SignOnSource`; `SessionIdentity` in the session of a user without an
 * account; `TemporaryUser` in the actor of its requests.
 */

/** Identity that a session carries instead of an account: permissions follow from its groups on each request. */
export interface SessionIdentity extends TemporaryUser {
  readonly groupIds: readonly string[];
  /** E-mail address of the user who created the nonce; absent where an identity provider or the operator did. */
  readonly createdBy?: string | undefined;
}

/** Identity that a provider or a broker asserts. */
export interface SignOnIdentity extends SessionIdentity {
  /** Identifier of the user at its provider. */
  readonly subject: string;
  /** The provider has verified the e-mail address: only then it finds an account. */
  readonly isEmailVerified: boolean;
  /** Refuses users without an account. */
  readonly onlyRegistered: boolean;
}

/** Wire form of a user who signed on without an account. */
export const toUserView = ({ id, orgId, permissions }: Actor, { email, displayName }: TemporaryUser): User => ({
  access_key: '',
  active: true,
  api_model: {},
  created_at: zeroTime,
  email_address: email,
  first_name: displayName,
  group_id: '',
  id,
  last_login_date: zeroTime,
  last_name: '',
  org_id: orgId,
  password_max_days: 0,
  password_updated: zeroTime,
  user_permissions: { ...permissions },
});

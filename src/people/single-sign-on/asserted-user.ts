import { z } from 'zod';
import type { ProviderSession } from '../sessions/provider-session.ts';
import type { SignOnIdentity } from '../users/identity.ts';
import { problem } from './problems.ts';
import type { IdentityProfile } from './profiles/schema.ts';

/** User as an identity provider describes it, the same for all protocols. */
export interface AssertedUser {
  /** Provider: the issuer of its tokens, the entity id, or the host of a directory. */
  readonly issuer: string;
  readonly subject: string;
  /** The subject is the same at each sign-on: an account can be linked to it. */
  readonly isSubjectStable: boolean;
  readonly email: string;
  readonly isEmailVerified: boolean;
  readonly displayName: string;
  /** Groups by the provider's names. */
  readonly groups: readonly string[];
  /** Session of the provider, where it takes part in single logout. */
  readonly providerSession?: ProviderSession | undefined;
  /** Claims or attributes as received, for tests of a profile. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** ID token of OpenID Connect. */
  readonly idToken?: string;
}

const maxGroups = 1000;
const maxMappedGroups = 100;
const maxNameLength = 200;
/** ASCII only: case folding of other letters would make two addresses one. */
const emailAddress = z.email().max(254);

/** Groups of a claim: a list, or a text that the separator divides. */
export function readGroups(value: unknown, separator: string): string[] {
  const list = typeof value === 'string' ? value.split(separator || ' ') : Array.isArray(value) ? value : [];
  const names = list.filter((name): name is string => typeof name === 'string').map(name => name.trim());
  return names.filter(name => name !== '').slice(0, maxGroups);
}

/** Groups of attribute values: each is one group, unless the profile names a separator. */
export const splitGroups = (values: readonly string[], separator: string): string[] =>
  separator === '' ? [...values] : values.flatMap(text => readGroups(text, separator));

/** Applies the constraints and the group mapping of a profile. */
export function mapAssertedUser(profile: IdentityProfile, user: AssertedUser): SignOnIdentity {
  const { ProviderConstraintsDomain: domain, ProviderConstraintsGroup: group } = profile;
  if (user.subject === '')
    throw problem.subject_missing({ detail: { claim: profile.CustomUserIDField || 'the default claim' } });
  if (!emailAddress.safeParse(user.email).success) throw problem.email_missing();
  const email = user.email.toLowerCase();
  if (domain !== '' && email.slice(email.lastIndexOf('@') + 1) !== domain.toLowerCase().replace(/^@/, ''))
    throw problem.domain_refused();
  if (group !== '' && !user.groups.includes(group)) throw problem.group_refused();
  return {
    subject: user.subject,
    email,
    isEmailVerified: user.isEmailVerified,
    displayName: user.displayName.slice(0, maxNameLength).toWellFormed(),
    groupIds: mapGroups(profile, user.groups),
    onlyRegistered: profile.SSOOnlyForRegisteredUsers,
  };
}

function mapGroups({ UserGroupMapping, DefaultUserGroupID }: IdentityProfile, groups: readonly string[]): string[] {
  const mapped = groups.flatMap(name => (Object.hasOwn(UserGroupMapping, name) ? [UserGroupMapping[name]!] : []));
  const found = [...new Set(mapped)].slice(0, maxMappedGroups);
  return found.length > 0 ? found : [DefaultUserGroupID].filter(Boolean);
}

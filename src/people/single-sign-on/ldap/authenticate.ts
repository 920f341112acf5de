import type { AddressPolicy } from '#base/address-policy.ts';
import { type AssertedUser, splitGroups } from '../asserted-user.ts';
import { ProviderFailure } from '../problems.ts';
import { type LdapConfig, readLdap } from '../profiles/provider-configs.ts';
import type { IdentityProfile } from '../profiles/schema.ts';
import { BerError } from './ber.ts';
import { type LdapConnection, openLdap } from './connection.ts';
import { anyObject, toLdapServer } from './directory.ts';
import { parseLdapFilter } from './filter.ts';
import { toFailure } from './message-reader.ts';
import type { LdapEntry, LdapSearch } from './messages.ts';
import { fillBindName } from './names.ts';

export interface LdapCredentials {
  readonly username: string;
  readonly password: string;
}

/** Bound of user names: longer ones are refused without a request. */
const maxUserNameLength = 254;

/**
 * Authenticates against a directory: binds with the name of the user, or searches the user with the name of an
 * administrator and binds with what was found. Undefined for a wrong name or password.
 */
export async function authenticateLdap(
  profile: IdentityProfile,
  { username, password }: LdapCredentials,
  policy: AddressPolicy,
  /** Called with the name of the entry before its password is verified; an error ends the sign-on. */
  countEntry: (name: string) => void,
): Promise<AssertedUser | undefined> {
  const name = username.trim();
  // An empty password would be an unauthenticated bind, which succeeds for any name (RFC 4513, section 5.1.2).
  if (name === '' || name.length > maxUserNameLength || name.includes('\u0000') || password === '') return undefined;
  const config = readLdap(profile.ProviderConfig);
  const connection = await openLdap(toLdapServer(config, policy));
  try {
    const find = config.LDAPUserDN === '' ? findAsAdministrator : findAsUser;
    const search = { attributes: listAttributes(profile, config), countEntry };
    const entry = await find(connection, config, search, { username: name, password });
    return entry && toAssertedUser(profile, config, entry);
  } catch (error) {
    throw error instanceof BerError ? toFailure(error) : error;
  } finally {
    connection.close();
  }
}

const listAttributes = (
  { CustomUserIDField, CustomUserGroupField, CustomEmailField }: IdentityProfile,
  config: LdapConfig,
) =>
  [
    ...config.LDAPAttributes,
    config.LDAPEmailAttribute,
    config.LDAPFirstNameAttribute,
    config.LDAPLastNameAttribute,
    CustomUserIDField,
    CustomUserGroupField,
    CustomEmailField,
  ].filter(Boolean);

type FindEntry = (
  connection: LdapConnection,
  config: LdapConfig,
  search: { readonly attributes: readonly string[]; countEntry(name: string): void },
  credentials: LdapCredentials,
) => Promise<LdapEntry | undefined>;

const findAsUser: FindEntry = async (connection, config, { attributes }, { username, password }) => {
  const name = fillBindName(config.LDAPUserDN, username);
  if (name === undefined || !(await connection.bind(name, password))) return undefined;
  const isFoundByName = config.LDAPBaseDN === '';
  const entry = await findOne(connection, config, username, {
    attributes,
    ...(isFoundByName && ({ base: name, scope: 0 } as const)),
  });
  if (!entry) throw new ProviderFailure('the search found no entry');
  return entry;
};

const findAsAdministrator: FindEntry = async (connection, config, search, { username, password }) => {
  if (!(await connection.bind(config.LDAPAdminUser, config.LDAPAdminPassword)))
    throw new ProviderFailure('the directory refuses LDAPAdminUser');
  const entry = await findOne(connection, config, username, search);
  if (!entry) return undefined;
  search.countEntry(entry.name);
  return (await connection.bind(entry.name, password)) ? entry : undefined;
};

/** Entry of a user name; several are an error of the filter. */
async function findOne(
  connection: LdapConnection,
  config: LdapConfig,
  userName: string,
  { attributes, base = config.LDAPBaseDN, scope = config.LDAPSearchScope }: EntrySearch,
): Promise<LdapEntry | undefined> {
  const filter = config.LDAPFilter === '' ? anyObject : parseLdapFilter(config.LDAPFilter);
  const [entry, ...others] = await connection.search({ base, scope, filter, userName, attributes, maxEntries: 2 });
  if (others.length > 0) throw new ProviderFailure('the search found more than one entry');
  return entry;
}

interface EntrySearch extends Pick<LdapSearch, 'attributes'>, Partial<Pick<LdapSearch, 'base' | 'scope'>> {}

function toAssertedUser(profile: IdentityProfile, config: LdapConfig, { name, attributes }: LdapEntry): AssertedUser {
  const readAll = (attribute: string) => attributes.get(attribute.toLowerCase()) ?? [];
  const readFirst = (attribute: string) => readAll(attribute)[0] ?? '';
  const { CustomUserIDField, CustomEmailField, CustomUserGroupField, UserGroupSeparator } = profile;
  const groups = CustomUserGroupField === '' ? [] : readAll(CustomUserGroupField);
  return {
    issuer: config.LDAPServer.toLowerCase(),
    subject: CustomUserIDField === '' ? name.toLowerCase() : readFirst(CustomUserIDField),
    isSubjectStable: true,
    email: readFirst(CustomEmailField || config.LDAPEmailAttribute),
    // The directory is the organisation's own: an administrator who wrote the profile is responsible for its addresses.
    isEmailVerified: true,
    displayName: [config.LDAPFirstNameAttribute, config.LDAPLastNameAttribute].map(readFirst).filter(Boolean).join(' '),
    groups: splitGroups(groups, UserGroupSeparator),
    claims: Object.fromEntries(attributes),
  };
}

import type { AddressPolicy } from '#base/address-policy.ts';
import { type AssertedUser, readGroups } from '../asserted-user.ts';
import { ProviderFailure } from '../problems.ts';
import type { IdentityProfile } from '../profile-schema.ts';
import { type LdapConfig, readLdap } from '../provider-configs.ts';
import { BerError } from './ber.ts';
import { type LdapConnection, openLdap, toFailure } from './connection.ts';
import { type LdapFilter, parseLdapFilter } from './filter.ts';
import type { LdapEntry } from './messages.ts';
import { fillBindName } from './names.ts';

export interface LdapCredentials {
  readonly username: string;
  readonly password: string;
}

/** Directories match names without case and blanks around: longer ones are refused. */
const maxUserNameLength = 254;
const anyObject: LdapFilter = { kind: 'present', attribute: 'objectClass' };

/**
 * Authenticates against a directory: binds with the name of the user, or searches the user with the name of an
 * administrator and binds with what was found. Undefined for a wrong name or password.
 */
export async function authenticateLdap(
  profile: IdentityProfile,
  { username, password }: LdapCredentials,
  policy: AddressPolicy,
): Promise<AssertedUser | undefined> {
  const name = username.trim();
  // An empty password would be an unauthenticated bind, which succeeds for any name (RFC 4513, section 5.1.2).
  if (name === '' || name.length > maxUserNameLength || name.includes('\u0000') || password === '') return undefined;
  const config = readLdap(profile.ProviderConfig);
  const connection = await openLdap({
    host: config.LDAPServer,
    port: Number(config.LDAPPort),
    security: config.LDAPUseSSL ? 'tls' : config.LDAPStartTLS ? 'starttls' : 'none',
    ca: config.LDAPCACertificate,
    policy,
  });
  try {
    const find = config.LDAPUserDN === '' ? findAsAdministrator : findAsUser;
    const entry = await find(connection, config, listAttributes(profile, config), { username: name, password });
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
  attributes: readonly string[],
  credentials: LdapCredentials,
) => Promise<LdapEntry | undefined>;

const findAsUser: FindEntry = async (connection, config, attributes, { username, password }) => {
  const name = fillBindName(config.LDAPUserDN, username);
  if (name === undefined || !(await connection.bind(name, password))) return undefined;
  const isFoundByName = config.LDAPBaseDN === '';
  const [entry, ...others] = await connection.search({
    base: isFoundByName ? name : config.LDAPBaseDN,
    scope: isFoundByName ? 0 : config.LDAPSearchScope,
    filter: config.LDAPFilter === '' ? anyObject : parseLdapFilter(config.LDAPFilter),
    userName: username,
    attributes,
    maxEntries: 2,
  });
  if (!entry || others.length > 0) throw new ProviderFailure('the search did not find exactly one entry');
  return entry;
};

const findAsAdministrator: FindEntry = async (connection, config, attributes, { username, password }) => {
  if (!(await connection.bind(config.LDAPAdminUser, config.LDAPAdminPassword)))
    throw new ProviderFailure('the directory refuses LDAPAdminUser');
  const [entry, ...others] = await connection.search({
    base: config.LDAPBaseDN,
    scope: config.LDAPSearchScope,
    filter: parseLdapFilter(config.LDAPFilter),
    userName: username,
    attributes,
    maxEntries: 2,
  });
  if (others.length > 0) throw new ProviderFailure('the search found more than one entry');
  return entry && (await connection.bind(entry.name, password)) ? entry : undefined;
};

function toAssertedUser(profile: IdentityProfile, config: LdapConfig, { name, attributes }: LdapEntry): AssertedUser {
  const readAll = (attribute: string) => attributes.get(attribute.toLowerCase()) ?? [];
  const readFirst = (attribute: string) => readAll(attribute)[0] ?? '';
  const { CustomUserIDField, CustomEmailField, CustomUserGroupField, UserGroupSeparator } = profile;
  const groups = CustomUserGroupField === '' ? [] : readAll(CustomUserGroupField);
  return {
    subject: CustomUserIDField === '' ? name.toLowerCase() : readFirst(CustomUserIDField),
    email: readFirst(CustomEmailField || config.LDAPEmailAttribute),
    // The directory is the organisation's own: an administrator who wrote the profile is responsible for its addresses.
    isEmailVerified: true,
    displayName: [config.LDAPFirstNameAttribute, config.LDAPLastNameAttribute].map(readFirst).filter(Boolean).join(' '),
    groups: UserGroupSeparator === '' ? [...groups] : groups.flatMap(text => readGroups(text, UserGroupSeparator)),
  };
}

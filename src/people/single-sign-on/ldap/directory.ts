import type { AddressPolicy } from '#base/address-policy.ts';
import type { LdapConfig } from '../profiles/provider-configs.ts';
import type { LdapServer } from './connection.ts';
import type { LdapFilter } from './filter.ts';

/** Filter that every entry matches. */
export const anyObject: LdapFilter = { kind: 'present', attribute: 'objectClass' };

/** Server of a profile, within the networks of its organisation. */
export const toLdapServer = (config: LdapConfig, policy: AddressPolicy): LdapServer => ({
  host: config.LDAPServer,
  port: Number(config.LDAPPort),
  security: config.LDAPUseSSL ? 'tls' : config.LDAPStartTLS ? 'starttls' : 'none',
  ca: config.LDAPCACertificate,
  policy,
});

import type { Vault } from '#base/vault.ts';
import type { StoredUser } from './schema.ts';

/** Members of a user whose change ends its sessions, and makes its links, nonces and challenges void. */
const credentialMembers = ['password', 'access_key', 'active', 'org_id', 'email_address'] as const;

type Credentials = Pick<StoredUser, (typeof credentialMembers)[number]>;

export const hasChangedCredentials = (before: Credentials, after: Credentials): boolean =>
  credentialMembers.some(name => !Object.is(before[name], after[name]));

/** Keyed hash of the credentials of a user: what was permitted before a change of them is detected after it. */
export const toCredentialVersion = (vault: Vault, user: Credentials): string =>
  vault.digest(JSON.stringify(credentialMembers.map(name => user[name])), 'user credentials');

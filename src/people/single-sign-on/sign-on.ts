import { type Clock, formatIsoTime } from '#base/clock.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import type { Actor } from '#operations/actor.ts';
import type { Records } from '#storage/records.ts';
import type { SessionStore } from '../sessions/store.ts';
import type { StoredUser } from '../users/schema.ts';
import type { UserStore } from '../users/store.ts';
import type { SignOnIdentity } from './identity.ts';
import { problem } from './problems.ts';
import type { TemporaryActors } from './temporary-actor.ts';

export interface SignOnServices {
  records: Records;
  users: UserStore;
  sessions: SessionStore;
  temporaryActors: TemporaryActors;
  settings: Settings;
  vault: Vault;
  clock: Clock;
}

/** Where an identity comes from. */
export interface SignOnSource {
  readonly orgId: string;
  /** Empty for a hand-over by nonce. */
  readonly profileId: string;
  /** The source may sign users in to their accounts: an administrator or the operator permitted it. */
  readonly signsInAccounts: boolean;
  /** Restricts it to one account; empty for none. */
  readonly accountId?: string | undefined;
}

export interface SignOnClient {
  readonly address: string;
  readonly userAgent: string;
}

export interface OpenedSignOn {
  readonly token: string;
  readonly sessionId: string;
  /** Actor of the audit record. */
  readonly actor: Actor;
}

/**
 * Opens a session for a verified identity: that of the account with its e-mail address where accounts are looked up,
 * else one that carries the identity itself.
 */
export async function openSignOn(
  services: SignOnServices,
  source: SignOnSource,
  identity: SignOnIdentity,
  client: SignOnClient,
): Promise<OpenedSignOn> {
  return services.records.write(async () => {
    const account = await findAccount(services, source, identity);
    if (account) return openAccountSession(services, source, account, client);
    return openTemporarySession(services, source, identity, client);
  });
}

export const looksUpAccounts = (settings: Settings, { onlyRegistered }: Pick<SignOnIdentity, 'onlyRegistered'>) =>
  settings['sso.user_lookup'] || onlyRegistered;

/**
 * Account linking: by e-mail address, inside the organisation of the source only. An address that the provider has not
 * verified, or a source that no administrator permitted, never opens an account.
 */
async function findAccount(
  { users, settings }: SignOnServices,
  { orgId, signsInAccounts, accountId }: SignOnSource,
  identity: SignOnIdentity,
): Promise<StoredUser | undefined> {
  const { email, isEmailVerified, onlyRegistered } = identity;
  if (!looksUpAccounts(settings, identity)) return undefined;
  const [account] = await users.findByEmail(email, orgId);
  const isPermitted = signsInAccounts && (accountId === undefined || account?.id === accountId);
  if (account && isPermitted && isEmailVerified) return account;
  if (account && isPermitted) throw problem.email_unverified();
  if (onlyRegistered) throw problem.not_registered();
  return undefined;
}

async function openAccountSession(
  { users, sessions, clock }: SignOnServices,
  { profileId }: SignOnSource,
  { id, org_id }: StoredUser,
  client: SignOnClient,
): Promise<OpenedSignOn> {
  const user = await users.change({ id, org_id }, it => {
    if (!it.active) throw problem.account_inactive();
    return { ...it, last_login_date: formatIsoTime(clock.now()) };
  });
  if (!user) throw problem.not_registered();
  const { token, session } = await sessions.insert({ orgId: org_id, userId: id, profileId, ...client }, clock.now());
  const actor: Actor = { surface: 'dashboard', id, name: user.email_address, orgId: org_id, permissions: {} };
  return { token, sessionId: session.id, actor };
}

/** The same identifier at each sign-on: sessions of one user are bounded, and audit records can be joined. */
const toTemporaryId = (vault: Vault, { orgId, profileId }: SignOnSource, { subject }: SignOnIdentity) =>
  `sso-${vault.digest(JSON.stringify([orgId, profileId, subject]), 'single sign-on user').slice(0, 32)}`;

async function openTemporarySession(
  { sessions, temporaryActors, vault, clock }: SignOnServices,
  source: SignOnSource,
  identity: SignOnIdentity,
  client: SignOnClient,
): Promise<OpenedSignOn> {
  const { orgId, profileId } = source;
  const { email, displayName, groupIds } = identity;
  const userId = toTemporaryId(vault, source, identity);
  const carried = { email, displayName, groupIds };
  const { token, session } = await sessions.insert(
    { orgId, userId, profileId, identity: carried, ...client },
    clock.now(),
  );
  return { token, sessionId: session.id, actor: await temporaryActors.resolve(orgId, userId, carried) };
}

import { type Clock, formatIsoTime } from '#base/clock.ts';
import { constantTimeEqual } from '#base/constant-time.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import type { Actor } from '#operations/actor.ts';
import type { Records } from '#storage/records.ts';
import type { ProviderSession } from '../sessions/provider-session.ts';
import { toAuditActor } from '../sessions/sign-in.ts';
import type { SessionStore } from '../sessions/store.ts';
import { toCredentialVersion } from '../users/credential-version.ts';
import type { SignOnIdentity } from '../users/identity.ts';
import type { StoredUser } from '../users/schema.ts';
import type { UserStore } from '../users/store.ts';
import type { TemporaryActors } from '../users/temporary-actor.ts';
import type { AccountLinkStore, ProviderSubject } from './account-link-store.ts';
import type { NonceCreator } from './nonce.ts';
import { problem } from './problems.ts';

export interface SignOnServices {
  records: Records;
  users: UserStore;
  sessions: SessionStore;
  accountLinks: AccountLinkStore;
  temporaryActors: TemporaryActors;
  settings: Settings;
  vault: Vault;
  clock: Clock;
}

/** Where an identity comes from. */
export interface SignOnSource {
  readonly orgId: string;
  /** Empty for a nonce. */
  readonly profileId: string;
  /** The source may sign users in to their accounts: an administrator or the operator permitted it. */
  readonly signsInAccounts: boolean;
  /** Restricts it to one account; empty for none. */
  readonly accountId?: string | undefined;
  /** User who created the nonce. */
  readonly creator?: NonceCreator | undefined;
  /** User of the provider to link the account to; undefined where the source gives no lasting identifier. */
  readonly subject?: ProviderSubject | undefined;
  /** Session of the provider, for single logout. */
  readonly providerSession?: ProviderSession | undefined;
  /** ID token of OpenID Connect, for single logout. */
  readonly idToken?: string | undefined;
  /** Rejects a source that was changed or removed since the sign-on began; locks it until the session is stored. */
  recheck?(): Promise<void>;
}

export interface SignOnClient {
  readonly address: string;
  readonly userAgent: string;
}

export interface OpenedSignOn {
  readonly token: string;
  /** Actor of the audit record. */
  readonly actor: Actor;
}

/**
 * Opens a session for a verified identity: that of the account that is linked to it, or has its e-mail address, where
 * accounts are looked up, else one that carries the identity itself.
 */
export async function openSignOn(
  services: SignOnServices,
  source: SignOnSource,
  identity: SignOnIdentity,
  client: SignOnClient,
): Promise<OpenedSignOn> {
  return services.records.write(async () => {
    await source.recheck?.();
    await lockCreator(services, source);
    const account = await findAccount(services, source, identity);
    if (account) return openAccountSession(services, source, account, client);
    return openTemporarySession(services, source, identity, client);
  });
}

/** Account that a sign-on would open; the link that it would make is rolled back. */
export async function previewAccount(
  services: SignOnServices,
  source: SignOnSource,
  identity: SignOnIdentity,
): Promise<StoredUser | undefined> {
  let account: StoredUser | undefined;
  const rollback = new Error('a preview is rolled back');
  const preview = services.records.write(async () => {
    await source.recheck?.();
    account = await findAccount(services, source, identity);
    if (account && !account.active) throw problem.account_inactive();
    throw rollback;
  });
  await preview.catch((error: unknown) => {
    if (error !== rollback) throw error;
  });
  return account;
}

/** Rejects a nonce whose creator was deactivated or got other credentials: its sessions ended then. */
async function lockCreator({ users, vault }: SignOnServices, { orgId, creator }: SignOnSource): Promise<void> {
  if (!creator) return;
  const user = await users.lock(orgId, creator.id);
  if (!user?.active || !constantTimeEqual(toCredentialVersion(vault, user), creator.version))
    throw problem.nonce_invalid();
}

export const looksUpAccounts = (settings: Settings, { onlyRegistered }: Pick<SignOnIdentity, 'onlyRegistered'>) =>
  settings['sso.user_lookup'] || onlyRegistered;

/**
 * Account linking, inside the organisation of the source only: by the user of the provider, else by e-mail address. An
 * address that the provider has not verified, or a source that no administrator permitted, never opens an account.
 */
async function findAccount(
  services: SignOnServices,
  source: SignOnSource,
  identity: SignOnIdentity,
): Promise<StoredUser | undefined> {
  const { users, settings } = services;
  const { orgId, signsInAccounts, accountId } = source;
  const { email, isEmailVerified, onlyRegistered } = identity;
  if (!looksUpAccounts(settings, identity)) return findUnlinked(services, source, identity);
  const linked = signsInAccounts ? await findLinked(services, source) : undefined;
  if (linked) return linked;
  const [account] = await users.findByEmail(email, orgId);
  const isPermitted = signsInAccounts && (accountId === undefined || account?.id === accountId);
  if (account && isPermitted && isEmailVerified) return linkAccount(services, source, account);
  if (account && isPermitted) throw problem.email_unverified();
  if (onlyRegistered) throw problem.not_registered();
  return findUnlinked(services, source, identity);
}

/** A profile that may not open accounts does not name one in audit records either. */
async function findUnlinked(
  { users }: SignOnServices,
  { orgId, profileId, signsInAccounts }: SignOnSource,
  { email }: SignOnIdentity,
): Promise<undefined> {
  if (profileId === '' || signsInAccounts) return undefined;
  if ((await users.findByEmail(email, orgId)).length > 0) throw problem.account_of_other_profile();
}

async function findLinked({ users, accountLinks }: SignOnServices, { orgId, subject }: SignOnSource) {
  const id = subject && (await accountLinks.findUserId(orgId, subject));
  return id === undefined ? undefined : users.get(orgId, id);
}

/** Stores the user of the provider; an account that belongs to another user of it stays closed. */
async function linkAccount(
  { users, accountLinks, clock }: SignOnServices,
  { subject }: SignOnSource,
  account: StoredUser,
): Promise<StoredUser> {
  if (!subject) return account;
  const locked = await users.lock(account.org_id, account.id);
  if (!locked || !(await accountLinks.insert(locked, subject, clock.now()))) throw problem.account_linked();
  return locked;
}

async function openAccountSession(
  { users, sessions, clock }: SignOnServices,
  { profileId, creator, providerSession, idToken }: SignOnSource,
  { id, org_id }: StoredUser,
  client: SignOnClient,
): Promise<OpenedSignOn> {
  const user = await users.change({ id, org_id }, it => {
    if (!it.active) throw problem.account_inactive();
    return { ...it, last_login_date: formatIsoTime(clock.now()) };
  });
  if (!user) throw problem.not_registered();
  const origin = { orgId: org_id, userId: id, profileId, creatorId: creator?.id ?? '' };
  const session = { ...origin, providerSession, idToken, ...client };
  const { token } = await sessions.insert(session, clock.now());
  return { token, actor: toAuditActor(user) };
}

/**
 * The same identifier at each sign-on: sessions of one user are bounded, and audit records can be joined. Nonces of one
 * user never have that of another user's.
 */
const toTemporaryId = (vault: Vault, { orgId, profileId, creator }: SignOnSource, { subject }: SignOnIdentity) => {
  const parts = [orgId, profileId, subject, ...(creator ? [creator.id] : [])];
  return `sso-${vault.digest(JSON.stringify(parts), 'single sign-on user').slice(0, 32)}`;
};

async function openTemporarySession(
  { sessions, temporaryActors, vault, clock }: SignOnServices,
  source: SignOnSource,
  identity: SignOnIdentity,
  client: SignOnClient,
): Promise<OpenedSignOn> {
  const { orgId, profileId, creator, providerSession, idToken } = source;
  const { email, displayName, groupIds } = identity;
  const userId = toTemporaryId(vault, source, identity);
  const carried = { email, displayName, groupIds, ...(creator && { createdBy: creator.name }) };
  const origin = { orgId, userId, profileId, creatorId: creator?.id ?? '', providerSession, idToken };
  const session = { ...origin, identity: carried, ...client };
  const { token } = await sessions.insert(session, clock.now());
  return { token, actor: await temporaryActors.resolve(orgId, userId, carried) };
}

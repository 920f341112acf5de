import type { ExpressionBuilder, SelectQueryBuilder } from 'kysely';
import { createPublicId, createSecretText } from '#base/ids.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import type { PageRequest } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import type { Tables } from '#storage/tables.ts';
import type { SessionIdentity } from '../users/identity.ts';
import type { ProviderSession } from './provider-session.ts';

/** Browser sessions. The token is in the cookie; the database has its keyed hash only. */
export type SessionStore = ReturnType<typeof createSessionStore>;

export interface StoredSession {
  readonly id: string;
  readonly orgId: string;
  readonly userId: string;
  readonly createdAtMs: number;
  readonly seenAtMs: number;
  readonly expiresAtMs: number;
  /** Client address and user agent of the sign-in. */
  readonly address: string;
  readonly userAgent: string;
  /** Identity profile of a single sign-on; empty for none. */
  readonly profileId: string;
  /** User who created the nonce of a single sign-on; empty for none. */
  readonly creatorId: string;
  /** Identity of a single sign-on without an account. */
  readonly identity?: SessionIdentity | undefined;
  readonly providerSession?: ProviderSession | undefined;
  /** ID token of the sign-on, sealed; undefined without one. */
  readonly sealedIdToken?: string | undefined;
}

export interface NewSession {
  readonly orgId: string;
  readonly userId: string;
  readonly address: string;
  readonly userAgent: string;
  /** Identity profile of a single sign-on. */
  readonly profileId?: string;
  /** User who created the nonce of a single sign-on: the session ends with its own. */
  readonly creatorId?: string;
  readonly identity?: SessionIdentity;
  /** Session of the identity provider, for single logout. */
  readonly providerSession?: ProviderSession | undefined;
  /** ID token of OpenID Connect, for the logout request. */
  readonly idToken?: string | undefined;
}

/** Site that a session is of: a token of one is none of the other. */
export type SessionSite = 'dashboard' | 'portal';
const sitePurposes = {
  dashboard: { token: 'session token', csrf: 'session csrf token' },
  portal: { token: 'portal session token', csrf: 'portal session csrf token' },
} as const;
const providerPurpose = 'session provider subject';
const idTokenPurpose = 'session ID token';
/** Longer ID tokens are not stored: they would not fit into the URL of a logout request. */
const maxIdTokenChars = 4096;
/** Longer tokens are rejected without hashing. */
const maxTokenLength = 256;
const maxUserAgentLength = 300;
/** Bounds an unpaged list, so that one request cannot exhaust the memory. */
const maxListedSessions = 10_000;
/** Rows per sweep: keeps transactions short. */
const maxSweptRows = 1000;
/** A request renews `seen_at` at most this often: reads stay reads. */
const seenIntervalMs = 30_000;

export function createSessionStore(
  records: Records,
  vault: Vault,
  settings: Settings,
  site: SessionSite = 'dashboard',
) {
  const { token: tokenPurpose, csrf: csrfPurpose } = sitePurposes[site];
  const idleMs = settings['sessions.idle_timeout_seconds'] * 1000;
  const maxAgeMs = settings['sessions.max_age_seconds'] * 1000;
  const digestSubject = (profileId: string, nameId: string) =>
    vault.digest(JSON.stringify([profileId, nameId]), providerPurpose);
  const selectValid = (nowMs: number) =>
    records.db
      .selectFrom('sessions')
      .where('expires_at', '>', nowMs)
      .where('seen_at', '>', nowMs - idleMs);

  return {
    ...createSignOnReads(selectValid, digestSubject),
    ...createRemovals(records),
    ...createIdTokenReads(vault),
    /** CSRF token of a session: a keyed hash of its id, which only this installation can compute. */
    csrfToken: (sessionId: string): string => vault.digest(sessionId, csrfPurpose),

    /** Inserts a session with a new token, inside the transaction that locks the user; ends the oldest ones beyond the bound. */
    async insert(session: NewSession, nowMs: number): Promise<{ token: string; session: StoredSession }> {
      const token = createSecretText();
      const provider = toProviderColumns(session, digestSubject, vault);
      const row = { ...toRow(session, vault.digest(token, tokenPurpose), nowMs, nowMs + maxAgeMs), ...provider };
      await removeSurplus(records, session.userId, settings['sessions.max_per_user'] - 1);
      await sweep(records, nowMs, nowMs - idleMs);
      await records.db.insertInto('sessions').values(row).execute();
      return { token, session: toStoredSession(row) };
    },

    async find(token: string, nowMs: number): Promise<StoredSession | undefined> {
      if (token.length > maxTokenLength) return undefined;
      const digest = vault.digest(token, tokenPurpose);
      const row = await selectValid(nowMs).selectAll().where('digest', '=', digest).executeTakeFirst();
      return row && toStoredSession(row);
    },

    /** Renews the idle timeout. */
    async markSeen({ id, seenAtMs }: StoredSession, nowMs: number): Promise<void> {
      if (nowMs - seenAtMs < Math.min(seenIntervalMs, idleMs / 2)) return;
      await records.db.updateTable('sessions').set({ seen_at: nowMs }).where('id', '=', id).execute();
    },

    /** Valid sessions of a user, newest first; their number is bounded at sign-in. */
    async list(userId: string, nowMs: number): Promise<StoredSession[]> {
      const rows = await selectValid(nowMs)
        .selectAll()
        .where('user_id', '=', userId)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute();
      return rows.map(toStoredSession);
    },
  };
}

const createRemovals = (records: Records) => ({
  async remove(userId: string, id: string): Promise<boolean> {
    const query = records.db.deleteFrom('sessions').where('user_id', '=', userId).where('id', '=', id);
    return (await query.executeTakeFirst()).numDeletedRows > 0n;
  },

  /** Ends all sessions of a user but one. */
  async removeOthers(userId: string, remainingId = ''): Promise<number> {
    const query = records.db.deleteFrom('sessions').where('user_id', '=', userId).where('id', '!=', remainingId);
    return Number((await query.executeTakeFirst()).numDeletedRows);
  },
});

type SessionConditions = ExpressionBuilder<Tables, 'sessions'>;

/** A session of an account that an operator's nonce opened is listed with that account only. */
const isSignOn = (it: SessionConditions) =>
  it.or([it('profile_id', '!=', ''), it('creator_id', '!=', ''), it('body', '!=', '')]);

type SelectSessions = (nowMs: number) => SelectQueryBuilder<Tables, 'sessions', object>;

type DigestSubject = (profileId: string, nameId: string) => string;

const createSignOnReads = (selectValid: SelectSessions, digestSubject: DigestSubject) => ({
  /** Valid sessions of one name identifier of an identity profile: those of one user, whose number is bounded. */
  async listOfProvider(profileId: string, nameId: string, nowMs: number): Promise<StoredSession[]> {
    const rows = await selectValid(nowMs)
      .selectAll()
      .where('profile_id', '=', profileId)
      .where('provider_subject', '=', digestSubject(profileId, nameId))
      .execute();
    return rows.map(toStoredSession);
  },

  /** Valid sessions that a single sign-on opened in an organisation, newest first. */
  async pageSignOns(orgId: string, { page, size }: PageRequest, nowMs: number) {
    const query = selectValid(nowMs).where('org_id', '=', orgId).where(isSignOn);
    const { total } = await query.select(it => it.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
    const rows = await query
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(page < 1 ? maxListedSessions : size)
      .offset(page < 1 ? 0 : (page - 1) * size)
      .execute();
    const pages = page < 1 ? 1 : Math.max(1, Math.ceil(Number(total) / size));
    return { items: rows.map(toStoredSession), pages };
  },

  async findSignOn(orgId: string, id: string, nowMs: number): Promise<StoredSession | undefined> {
    const query = selectValid(nowMs).selectAll().where('org_id', '=', orgId).where('id', '=', id).where(isSignOn);
    const row = await query.executeTakeFirst();
    return row && toStoredSession(row);
  },
});

/** Removes all but the newest sessions of a user. */
async function removeSurplus(records: Records, userId: string, remaining: number): Promise<void> {
  const newest = records.db
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(remaining);
  await records.db.deleteFrom('sessions').where('user_id', '=', userId).where('id', 'not in', newest).execute();
}

/** Removes a batch of expired sessions of all users. */
async function sweep(records: Records, nowMs: number, idleSinceMs: number): Promise<void> {
  const expired = records.db
    .selectFrom('sessions')
    .select('id')
    .where(it => it.or([it('expires_at', '<=', nowMs), it('seen_at', '<=', idleSinceMs)]))
    .orderBy('expires_at')
    .limit(maxSweptRows);
  await records.db.deleteFrom('sessions').where('id', 'in', expired).execute();
}

const toRow = (session: NewSession, digest: string, nowMs: number, expiresAtMs: number): Tables['sessions'] => ({
  id: createPublicId(),
  org_id: session.orgId,
  user_id: session.userId,
  digest,
  created_at: nowMs,
  seen_at: nowMs,
  expires_at: expiresAtMs,
  address: session.address,
  user_agent: session.userAgent.slice(0, maxUserAgentLength).toWellFormed(),
  profile_id: session.profileId ?? '',
  creator_id: session.creatorId ?? '',
  body: session.identity ? JSON.stringify(session.identity) : '',
  provider_subject: '',
  provider_session: session.providerSession ? JSON.stringify(session.providerSession) : '',
});

const createIdTokenReads = (vault: Vault) => ({
  /** ID token of the sign-on of a session. */
  openIdToken: ({ sealedIdToken }: StoredSession): string | undefined =>
    sealedIdToken === undefined ? undefined : vault.open(sealedIdToken, idTokenPurpose),
});

/** Columns of a session of SAML, or of the ID token of OpenID Connect. */
function toProviderColumns(
  { profileId = '', providerSession, idToken }: NewSession,
  digestSubject: DigestSubject,
  vault: Vault,
): Partial<Tables['sessions']> {
  if (providerSession) return { provider_subject: digestSubject(profileId, providerSession.nameId) };
  if (!idToken || idToken.length > maxIdTokenChars) return {};
  return { provider_session: JSON.stringify({ sealedIdToken: vault.seal(idToken, idTokenPurpose) }) };
}

/** A session of SAML, or the ID token of OpenID Connect. */
function readProviderColumn(text: string): Pick<StoredSession, 'providerSession' | 'sealedIdToken'> {
  if (text === '') return {};
  const content = JSON.parse(text) as ProviderSession | { readonly sealedIdToken: string };
  return 'sealedIdToken' in content ? content : { providerSession: content };
}

const toStoredSession = (row: Tables['sessions']): StoredSession => ({
  id: row.id,
  orgId: row.org_id,
  userId: row.user_id,
  createdAtMs: Number(row.created_at),
  seenAtMs: Number(row.seen_at),
  expiresAtMs: Number(row.expires_at),
  address: row.address,
  userAgent: row.user_agent,
  profileId: row.profile_id,
  creatorId: row.creator_id,
  identity: row.body === '' ? undefined : (JSON.parse(row.body) as SessionIdentity),
  ...readProviderColumn(row.provider_session),
});

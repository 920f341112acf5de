import { formatIsoTime } from '#base/clock.ts';
import type { Vault } from '#base/vault.ts';
import type { Records } from '#storage/records.ts';
import type { Tables } from '#storage/tables.ts';
import { openRows } from '#storage/unreadable-rows.ts';
import type { StoredUser } from '../users/schema.ts';

/** User at an identity provider, by an identifier that the provider gives to no other user. */
export interface ProviderSubject {
  /** Protocol, issuer and claim of the identifier: two profiles of one provider share their links. */
  readonly provider: readonly string[];
  readonly issuer: string;
  readonly subject: string;
}

export interface AccountLink {
  readonly issuer: string;
  readonly subject: string;
  readonly createdAtMs: number;
}

const subjectPurpose = 'account link subject';
const providerPurpose = 'account link provider';

export type AccountLinkStore = ReturnType<typeof createAccountLinkStore>;

/**
 * Account linking: the first sign-on to an account stores which user of the provider it belongs to. An e-mail address
 * that the provider later gives to another user does not open the account. Subjects are stored sealed, and found by keyed hash.
 */
export function createAccountLinkStore(records: Records, vault: Vault) {
  const toProvider = (orgId: string, { provider }: ProviderSubject) =>
    vault.digest(JSON.stringify([orgId, provider]), providerPurpose);
  const toDigest = (orgId: string, { provider, subject }: ProviderSubject) =>
    vault.digest(JSON.stringify([orgId, provider, subject]), subjectPurpose);

  function toLink({ created_at, body }: Tables['account_links']): AccountLink {
    const { issuer, subject } = JSON.parse(body) as Pick<ProviderSubject, 'issuer' | 'subject'>;
    return { issuer, subject: vault.open(subject, subjectPurpose), createdAtMs: Number(created_at) };
  }

  return {
    /** Id of the account that a user of a provider is linked to. */
    async findUserId(orgId: string, subject: ProviderSubject): Promise<string | undefined> {
      const query = records.db.selectFrom('account_links').select('user_id').where('org_id', '=', orgId);
      return (await query.where('digest', '=', toDigest(orgId, subject)).executeTakeFirst())?.user_id;
    },

    /** Links an account, inside the transaction that locks it; false where it is linked to another user already. */
    async insert({ id, org_id }: Pick<StoredUser, 'id' | 'org_id'>, subject: ProviderSubject, nowMs: number) {
      const row = {
        digest: toDigest(org_id, subject),
        org_id,
        user_id: id,
        provider: toProvider(org_id, subject),
        created_at: nowMs,
        body: JSON.stringify({ issuer: subject.issuer, subject: vault.seal(subject.subject, subjectPurpose) }),
      };
      const query = records.db.insertInto('account_links').values(row);
      const { numInsertedOrUpdatedRows } = await query.onConflict(it => it.doNothing()).executeTakeFirst();
      return (numInsertedOrUpdatedRows ?? 0n) > 0n;
    },

    async list(orgId: string, userId: string): Promise<AccountLink[]> {
      const query = records.db.selectFrom('account_links').selectAll().where('org_id', '=', orgId);
      const rows = await query.where('user_id', '=', userId).orderBy('created_at').orderBy('digest').execute();
      return openRows(rows, toLink, ({ digest }) => digest);
    },

    async removeAll(orgId: string, userId: string): Promise<number> {
      const query = records.db.deleteFrom('account_links').where('org_id', '=', orgId).where('user_id', '=', userId);
      return Number((await query.executeTakeFirst()).numDeletedRows);
    },
  };
}

/** Wire form of a link. */
export const toAccountLinkView = ({ issuer, subject, createdAtMs }: AccountLink) => ({
  issuer,
  subject,
  created_at: formatIsoTime(createdAtMs),
});

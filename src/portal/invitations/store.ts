import { createSecretText } from '#base/ids.ts';
import type { Vault } from '#base/vault.ts';
import type { Records } from '#storage/records.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import type { StoredInvitation } from './schema.ts';

/** Longer tokens are refused without hashing. */
const maxTokenChars = 256;
/** Expired invitations stay in lists for this long, so that they can be sent again. */
const expiredRetentionMs = 30 * 86_400_000;

/** Invitations. The token of a link is stored as its keyed hash alone. */
export function createInvitationStore(records: Records, vault: Vault) {
  const invitations = createNumberedStore<'portal_invitations', StoredInvitation>(
    records,
    'portal_invitations',
    it => ({ organisation_id: it.OrganisationID, email: it.Email, digest: it.Digest, expires_at: it.ExpiresAt }),
    problem.invitation_exists,
  );
  const toDigest = (token: string) => vault.digest(token, 'portal invitation');
  return {
    ...invitations,
    createToken(): { token: string; Digest: string } {
      const token = createSecretText();
      return { token, Digest: toDigest(token) };
    },
    /** Inside a transaction: reads an invitation under a row lock. */
    lock: (id: number) => invitations.rows.lock({ id }),
    async findByToken(token: string): Promise<StoredInvitation | undefined> {
      if (token === '' || token.length > maxTokenChars) return undefined;
      return invitations.rows.find({ digest: toDigest(token) });
    },
    ofOrganisation: (organisationId: number) => invitations.all({ organisation_id: organisationId }),
    countOfOrganisation: (organisationId: number) => invitations.count({ organisation_id: organisationId }),
    removeOfOrganisation: (organisationId: number) => invitations.rows.remove({ organisation_id: organisationId }),
    /** Deletes the invitations of an address that are for one account, which a further one replaces. */
    async removeOfUser({ ID, Email }: { ID: number; Email: string }): Promise<void> {
      for (const it of await invitations.all({ email: Email })) if (it.UserID === ID) await invitations.remove(it.ID);
    },
    async prune(nowMs: number): Promise<void> {
      const old = records.db.deleteFrom('portal_invitations').where('expires_at', '<', nowMs - expiredRetentionMs);
      await old.execute();
    },
  };
}

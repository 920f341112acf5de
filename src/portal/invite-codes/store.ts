import { createUuid } from '#base/ids.ts';
import type { Vault } from '#base/vault.ts';
import type { Records } from '#storage/records.ts';
import { openRows } from '#storage/unreadable-rows.ts';
import { createNumberedStore } from '../numbered-store.ts';
import type { PortalPageQuery } from '../shapes.ts';
import type { StoredInviteCode } from './schema.ts';

const purpose = 'portal invite code';
const codePattern = /^[0-9a-f]{32}$/;

/** Invite codes: sealed in the row, and found by their keyed hash. */
export function createInviteCodeStore(records: Records, vault: Vault) {
  const codes = createNumberedStore<'portal_invite_codes', StoredInviteCode>(records, 'portal_invite_codes', it => ({
    team_id: it.TeamID,
    digest: it.Digest,
  }));
  const open = (it: StoredInviteCode): StoredInviteCode => ({ ...it, Code: vault.open(it.Code, purpose) });
  const toDigest = (code: string) => vault.digest(code, purpose);
  const openMaybe = (it: StoredInviteCode | undefined) => it && open(it);

  return {
    get: async (id: number) => openMaybe(await codes.get(id)),
    page: async (query: PortalPageQuery) => openRows(await codes.page(query), open, it => it.ID),
    countOfTeam: (teamId: number) => codes.count({ team_id: teamId }),
    /** 122 random bits as 32 hexadecimal digits. */
    async insert(it: Omit<StoredInviteCode, 'ID' | 'Code' | 'Digest'>): Promise<StoredInviteCode> {
      const code = createUuid().replaceAll('-', '');
      return open(await codes.insert({ ...it, Code: vault.seal(code, purpose), Digest: toDigest(code) }));
    },
    change: async (id: number, change: (it: StoredInviteCode) => StoredInviteCode) =>
      openMaybe(await codes.change(id, change)),
    remove: codes.remove,
    removeOfTeam: (teamId: number) => codes.rows.remove({ team_id: teamId }),
    /** Finds a code as it was typed. */
    async findByCode(text: string): Promise<StoredInviteCode | undefined> {
      const code = text.trim().toLowerCase();
      return codePattern.test(code) ? openMaybe(await codes.rows.find({ digest: toDigest(code) })) : undefined;
    },
    /** Inside a transaction: reads a code under a row lock. */
    lock: async (id: number) => openMaybe(await codes.rows.lock({ id })),
  };
}

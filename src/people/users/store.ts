import { type SqlBool, sql } from 'kysely';
import type { Vault } from '#base/vault.ts';
import { columnContains, createCollection, hasNameWith, type PageRequest, type Query } from '#storage/collection.ts';
import { createMetaStore } from '#storage/meta.ts';
import type { Records } from '#storage/records.ts';
import type { RevisionLog } from '#storage/revision-log.ts';
import { openRows } from '#storage/unreadable-rows.ts';
import { problem } from '../problems.ts';
import { createUserChanges } from './change-store.ts';
import { createEmailLookup } from './email-store.ts';
import { type RevisedUser, type StoredUser, toRevisedUser } from './schema.ts';

export interface UserFilter {
  /** Part of the e-mail address or name. */
  readonly text?: string | undefined;
  readonly isActive?: boolean | undefined;
}

/** Rows of administrators hold this text: the database leaves out the others. */
const administratorMember = '"IsAdmin":"admin"';

export type UserStore = ReturnType<typeof createUserStore>;

const purpose = 'user access key';
/** Lock row: serialises changes that may remove an administrator, so that two cannot remove the last two. */
const lockName = 'users.turn';

const toColumns = (user: StoredUser, access_digest: string) => ({
  id: user.id,
  org_id: user.org_id,
  email: user.email_address,
  access_digest,
  active: Number(user.active),
  group_id: user.group_id,
  created_at: Date.parse(user.created_at),
});

/** Revisions have no credentials. */
const createUserHistory = (revisions: RevisionLog) =>
  revisions.createHistory<RevisedUser>({
    table: 'users',
    identify: ({ org_id, id, email_address }) => ({
      orgId: String(org_id),
      publicId: String(id),
      name: String(email_address ?? ''),
    }),
    strip: row => ({ ...toRevisedUser(row as unknown as StoredUser) }),
    open: row => row as unknown as RevisedUser,
  });

/** User store. Access keys are sealed in the record and looked up by digest. */
export function createUserStore(records: Records, vault: Vault, revisions?: RevisionLog) {
  const history = revisions && createUserHistory(revisions);
  const users = createCollection<'users', StoredUser>(
    records,
    'users',
    it => toColumns(it, vault.digest(vault.open(it.access_key, purpose), purpose)),
    problem.email_exists,
    undefined,
    { kind: 'users', toEntry: toSearchEntry },
    history?.recordChange,
  );
  const seal = (user: StoredUser): StoredUser => ({ ...user, access_key: vault.seal(user.access_key, purpose) });
  const open = (user: StoredUser): StoredUser => ({ ...user, access_key: vault.open(user.access_key, purpose) });
  const openIfFound = (user: StoredUser | undefined) => user && open(user);
  const meta = createMetaStore(records);

  return {
    history,
    /** Transaction under the lock row. */
    runExclusive: <T>(work: () => Promise<T>): Promise<T> =>
      records.write(async () => {
        await meta.set(lockName, '');
        return work();
      }),
    get: async (orgId: string, id: string) => openIfFound(await users.find({ org_id: orgId, id })),
    /** Ignores the organisation: for the operator only. */
    getInAnyOrganisation: async (id: string) => openIfFound(await users.find({ id })),
    findByAccessKey: async (key: string) =>
      openIfFound(await users.find({ access_digest: vault.digest(key, purpose) })),
    /** Reads a user under a row lock, inside a transaction. */
    lock: async (orgId: string, id: string) => openIfFound(await users.lock({ org_id: orgId, id })),
    insert: (user: StoredUser) => users.insert(seal(user)),
    ...createUserChanges(records, users, { seal, open }),
    ...createEmailLookup(records, users, open),
    count: (orgId: string) => users.count({ org_id: orgId }),
    countInGroup: (orgId: string, groupId: string) => users.count({ org_id: orgId, group_id: groupId }),
    /** Number of users by the id of their group. */
    async countByGroup(orgId: string): Promise<Map<string, number>> {
      const rows = await records.db
        .selectFrom('users')
        .select(['group_id', sql<number>`count(*)`.as('total')])
        .where('org_id', '=', orgId)
        .where('group_id', '<>', '')
        .groupBy('group_id')
        .execute();
      return new Map(rows.map(({ group_id, total }) => [group_id, Number(total)]));
    },
    ...createUserLists(users, open),
  };
}

const newestFirst = ['-created_at', '-id'] as const;

function createUserLists(
  users: ReturnType<typeof createCollection<'users', StoredUser>>,
  open: (user: StoredUser) => StoredUser,
) {
  return {
    async pageOfGroup(orgId: string, groupId: string, request: PageRequest) {
      const where = { org_id: orgId, group_id: groupId };
      const found = await users.page({ where, order: newestFirst }, request);
      return { ...found, items: openRows(found.items, open, it => it.id) };
    },
    async hasOtherAdministrators(orgId: string, id: string): Promise<boolean> {
      const where = { org_id: orgId, active: 1 };
      const filter = (query: Query) =>
        query.where(columnContains('body', administratorMember)).where(sql<SqlBool>`id <> ${id}`);
      for (let page = 1; ; page++) {
        const { items, pages } = await users.page({ where, filter, order: newestFirst }, { page, size: 10 });
        if (items.some(user => user.user_permissions.IsAdmin === 'admin')) return true;
        if (page >= pages) return false;
      }
    },
    async page(orgId: string, request: PageRequest, emailPart = '', { text, isActive }: UserFilter = {}) {
      const conditions = [
        ...(emailPart ? [columnContains('email', emailPart.toLowerCase())] : []),
        ...(text ? [hasNameWith('users', orgId, text)] : []),
      ];
      const filter = (query: Query) => conditions.reduce((left, condition) => left.where(condition), query);
      const where = { org_id: orgId, ...(isActive === undefined ? {} : { active: Number(isActive) }) };
      const found = await users.page({ where, order: newestFirst, filter }, request);
      return { ...found, items: openRows(found.items, open, it => it.id) };
    },
  };
}

function toSearchEntry({ email_address, first_name, last_name }: StoredUser) {
  const fullName = `${first_name} ${last_name}`;
  return { names: [email_address, fullName], label: email_address, detail: fullName };
}

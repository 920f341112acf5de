import { sql } from 'kysely';
import type { Vault } from '#base/vault.ts';
import type { Records } from '#storage/records.ts';
import { createNumberedStore } from '../numbered-store.ts';
import type { PortalPageQuery } from '../shapes.ts';
import type { MailName } from './mail-table.ts';
import type { MailState, MailTotals, RenderedMail, StoredMail, StoredMailTemplate } from './schema.ts';

export type MailStore = ReturnType<typeof createMailStore>;

const contentPurpose = 'portal mail';
/** Rows of one deletion: keeps transactions short. */
const maxRowsPerBatch = 1000;
/** Mails that wait for one address; the rest of a flood is dropped. */
const maxWaitingPerAddress = 100;

/**
 * Outbox of mails and their changed templates. A mail is inserted in the transaction of the change that it reports, and
 * is due at `due_at`, which a claim moves to the end of its lease.
 */
export function createMailStore(records: Records, vault: Vault) {
  const mails = createNumberedStore<'portal_mails', StoredMail>(records, 'portal_mails', it => ({
    name: it.Name,
    recipient: it.To,
    state: it.State,
    holder: '',
    due_at: it.DueAt,
    created_at: it.CreatedAt,
  }));

  return {
    ...createTemplateStore(records),
    page: (query: PortalPageQuery, state?: MailState) => mails.page(query, state === undefined ? {} : { state }),
    get: (id: number) => mails.get(id),
    seal: (content: RenderedMail) => vault.seal(JSON.stringify(content), contentPurpose),
    open: ({ Sealed }: StoredMail) => JSON.parse(vault.open(Sealed, contentPurpose)) as RenderedMail,

    /** False when the bound of waiting mails is reached. */
    async add(mail: Omit<StoredMail, 'ID'>, maxQueued: number): Promise<boolean> {
      if (!(await hasRoom(records, mail.To, maxQueued))) return false;
      await mails.insert(mail);
      return true;
    },

    ...createOutboxQueue(records, mails),

    ...createOutboxReports(records),
  };
}

/** True while fewer mails wait than the bounds. The row at a bound is looked for: a count would read all of them. */
async function hasRoom(records: Records, to: string, maxQueued: number): Promise<boolean> {
  const waiting = records.db.selectFrom('portal_mails').select('id').where('state', '=', 'waiting').limit(1);
  const ofAddress = waiting.where('recipient', '=', to).offset(maxWaitingPerAddress - 1);
  return !(await ofAddress.executeTakeFirst()) && !(await waiting.offset(maxQueued - 1).executeTakeFirst());
}

function createOutboxReports(records: Records) {
  return {
    /** Totals by name. */
    async totals(): Promise<(name: MailName) => MailTotals> {
      const rows = await records.db
        .selectFrom('portal_mails')
        .select(['name', 'state', sql<number>`count(*)`.as('total'), sql<number>`max(created_at)`.as('last')])
        .groupBy(['name', 'state'])
        .execute();
      const find = (name: MailName, state: MailState) => rows.find(row => row.name === name && row.state === state);
      return name => ({
        sent: Number(find(name, 'sent')?.total ?? 0),
        waiting: Number(find(name, 'waiting')?.total ?? 0),
        failed: Number(find(name, 'failed')?.total ?? 0),
        lastSentMs: Number(find(name, 'sent')?.last ?? 0),
      });
    },

    async countFailed(): Promise<number> {
      const count = records.db.selectFrom('portal_mails').select(sql<number>`count(*)`.as('total'));
      return Number((await count.where('state', '=', 'failed').executeTakeFirstOrThrow()).total);
    },

    /** Waiting mails, with the creation of the oldest. */
    async readQueue(): Promise<{ waiting: number; oldestAtMs: number | undefined }> {
      const { total, oldest } = await records.db
        .selectFrom('portal_mails')
        .select([sql<number>`count(*)`.as('total'), sql<number | null>`min(created_at)`.as('oldest')])
        .where('state', '=', 'waiting')
        .executeTakeFirstOrThrow();
      return { waiting: Number(total), oldestAtMs: oldest === null ? undefined : Number(oldest) };
    },

    /** Deletes a batch of decided mails that are older; true when there may be more. */
    async prune(beforeMs: number): Promise<boolean> {
      const old = records.db
        .selectFrom('portal_mails')
        .select('id')
        .where('state', '!=', 'waiting')
        .where('created_at', '<', beforeMs)
        .limit(maxRowsPerBatch);
      const { numDeletedRows } = await records.db.deleteFrom('portal_mails').where('id', 'in', old).executeTakeFirst();
      return numDeletedRows >= maxRowsPerBatch;
    },
  };
}

type Mails = ReturnType<typeof createNumberedStore<'portal_mails', StoredMail>>;

function createOutboxQueue(records: Records, mails: Mails) {
  return {
    /** Releases claims of the previous run: only this process has its node name. */
    async releaseOwn(holder: string, nowMs: number): Promise<void> {
      const waiting = records.db.updateTable('portal_mails').where('state', '=', 'waiting');
      await waiting.set({ due_at: nowMs, holder: '' }).where('holder', '=', holder).execute();
    },

    /** Claims due mails, the longest due first; each belongs to this process until the lease ends. */
    async claim(holder: string, nowMs: number, leaseMs: number, maxMails: number): Promise<StoredMail[]> {
      const due = await records.db
        .selectFrom('portal_mails')
        .select(['id', 'due_at'])
        .where('state', '=', 'waiting')
        .where('due_at', '<=', nowMs)
        .orderBy('due_at')
        .limit(maxMails)
        .execute();
      const claimed: number[] = [];
      for (const { id, due_at } of due) {
        const free = records.db.updateTable('portal_mails').where('id', '=', id).where('due_at', '=', due_at);
        const { numUpdatedRows } = await free
          .set({ due_at: nowMs + leaseMs, holder })
          .where('state', '=', 'waiting')
          .executeTakeFirst();
        if (numUpdatedRows > 0n) claimed.push(id);
      }
      return [...(await mails.byIds(claimed)).values()];
    },

    /** Writes the outcome of an attempt, and ends the claim. */
    async record(mail: StoredMail): Promise<void> {
      await mails.change(mail.ID, () => mail);
    },

    /** Makes a failed mail due again; undefined for any other. */
    async retry(id: number, nowMs: number): Promise<StoredMail | undefined> {
      let isFailed = false;
      const changed = await mails.change(id, it => {
        isFailed = it.State === 'failed';
        return isFailed ? { ...it, State: 'waiting', Attempts: 0, DueAt: nowMs, UpdatedAt: nowMs } : it;
      });
      return isFailed ? changed : undefined;
    },
  };
}

function createTemplateStore(records: Records) {
  return {
    async findTemplate(name: MailName): Promise<StoredMailTemplate | undefined> {
      const query = records.db.selectFrom('portal_mail_templates').select('body').where('name', '=', name);
      const row = await query.executeTakeFirst();
      return row && (JSON.parse(row.body) as StoredMailTemplate);
    },
    async listTemplates(): Promise<Map<string, StoredMailTemplate>> {
      const rows = await records.db.selectFrom('portal_mail_templates').selectAll().execute();
      return new Map(rows.map(({ name, body }) => [name, JSON.parse(body) as StoredMailTemplate]));
    },
    async putTemplate(template: StoredMailTemplate): Promise<void> {
      const row = { name: template.Name, body: JSON.stringify(template) };
      await records.db
        .insertInto('portal_mail_templates')
        .values(row)
        .onConflict(it => it.column('name').doUpdateSet({ body: row.body }))
        .execute();
    },
    async removeTemplate(name: MailName): Promise<void> {
      await records.db.deleteFrom('portal_mail_templates').where('name', '=', name).execute();
    },
  };
}

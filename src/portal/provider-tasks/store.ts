import type { Vault } from '#base/vault.ts';
import type { Records } from '#storage/records.ts';
import { createNumberedStore } from '../numbered-store.ts';
import type { NewProviderTask, StoredProviderTask } from './schema.ts';

const purpose = 'portal provider task';
/** Longer than any call of a provider: an older claim belongs to a process that ended. */
const leaseMs = 120_000;
const firstBackoffMs = 2000;
const maxBackoffMs = 3_600_000;
const maxErrorLength = 500;

/**
 * Write-ahead log of calls of providers. A task belongs to the process that added it until its lease ends; then, or
 * after a restart of that process, any process claims it. Keys are sealed in the row.
 */
export function createProviderTaskStore(records: Records, vault: Vault, node: string) {
  const tasks = createNumberedStore<'portal_provider_tasks', StoredProviderTask>(
    records,
    'portal_provider_tasks',
    it => ({
      provider_id: it.ProviderID,
      credential_id: it.CredentialID,
      oauth_client_id: it.OauthClientID ?? 0,
      holder: it.Holder,
      due_at: it.DueAt,
    }),
  );
  const mapKey =
    (transform: (text: string, purpose: string) => string) =>
    <T extends { Key: string }>(it: T): T => ({ ...it, Key: it.Key && transform(it.Key, purpose) });
  const seal = mapKey(vault.seal);
  const open = mapKey(vault.open);

  async function change(id: number, changes: Partial<StoredProviderTask>): Promise<StoredProviderTask | undefined> {
    const changed = await tasks.change(id, it => ({ ...it, ...changes }));
    return changed && open(changed);
  }

  return {
    countOfProvider: (providerId: number) => tasks.count({ provider_id: providerId }),
    ofCredential: async (credentialId: number) => (await tasks.all({ credential_id: credentialId })).map(open),

    ofClient: async (clientId: number) => (await tasks.all({ oauth_client_id: clientId })).map(open),

    /** Adds a task, which this process holds. */
    add: async (task: NewProviderTask, nowMs: number): Promise<StoredProviderTask> =>
      open(
        await tasks.insert(
          seal({
            ...{ KeyHash: '', Until: 0, CredentialID: 0, RequestID: 0 },
            ...task,
            ...{ Attempts: 0, Error: '', Holder: node, DueAt: nowMs + leaseMs, CreatedAt: nowMs },
          }),
        ),
      ),

    /** Claims the task for this process, with the validity of its key ended. */
    endNow: (id: number, nowMs: number) => change(id, { Until: 0, Holder: node, DueAt: nowMs + leaseMs }),
    postpone: (id: number, dueMs: number) => change(id, { Holder: '', DueAt: dueMs }),
    /** Records a failed attempt; the next one comes after a growing pause. */
    defer({ ID, Attempts }: StoredProviderTask, reason: string, nowMs: number) {
      const pauseMs = Math.min(firstBackoffMs * 2 ** Math.min(Attempts, 20), maxBackoffMs);
      const failure = { Attempts: Attempts + 1, Error: reason.slice(0, maxErrorLength) };
      return change(ID, { ...failure, Holder: '', DueAt: nowMs + pauseMs });
    },
    /** False where it was finished already. */
    remove: tasks.remove,

    ...createTaskQueue(records, node, async ids => [...(await tasks.byIds(ids)).values()].map(open)),
  };
}

function createTaskQueue(
  records: Records,
  holder: string,
  read: (ids: readonly number[]) => Promise<StoredProviderTask[]>,
) {
  const update = () => records.db.updateTable('portal_provider_tasks');
  return {
    /** Releases claims of the previous run: only this process has its node name. */
    async releaseOwn(nowMs: number): Promise<void> {
      await update().set({ due_at: nowMs, holder: '' }).where('holder', '=', holder).execute();
    },

    /** Claims due tasks, the longest due first. */
    async claim(nowMs: number, maxTasks: number): Promise<StoredProviderTask[]> {
      const due = await records.db
        .selectFrom('portal_provider_tasks')
        .select(['id', 'due_at'])
        .where('due_at', '<=', nowMs)
        .orderBy('due_at')
        .limit(maxTasks)
        .execute();
      const claimed: number[] = [];
      for (const { id, due_at } of due) {
        const free = update().where('id', '=', id).where('due_at', '=', due_at);
        const { numUpdatedRows } = await free.set({ due_at: nowMs + leaseMs, holder }).executeTakeFirst();
        if (numUpdatedRows > 0n) claimed.push(id);
      }
      return read(claimed);
    },
  };
}

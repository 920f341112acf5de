import type { Vault } from '#base/vault.ts';
import { type CheckObjectLimit, createCollection, noObjectLimit, type PageRequest } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import type { RevisionLog } from '#storage/revision-log.ts';
import { openRows } from '#storage/unreadable-rows.ts';
import { problem } from './problems.ts';
import type { Hook } from './schema.ts';

export type HookStore = ReturnType<typeof createHookStore>;

type StoredHook = Omit<Hook, 'api_model' | 'header_map'> & { created_at_ms: number; sealed_headers: string };

const purpose = 'webhook headers';

/** Of the URL only the host: path and query often hold a credential. */
function toSearchEntry({ name, webhook_id, target_path }: StoredHook) {
  const host = URL.parse(target_path)?.host ?? '';
  return { names: [name, webhook_id, host], label: name || webhook_id, detail: host };
}

/** Headers are sealed in the row. */
const createHookCodec = (vault: Vault) => ({
  seal: ({ api_model: _empty, header_map, ...hook }: Hook, createdAtMs: number): StoredHook => ({
    ...hook,
    created_at_ms: createdAtMs,
    sealed_headers: vault.seal(JSON.stringify(header_map), purpose),
  }),
  open: ({ created_at_ms: _at, sealed_headers, ...hook }: StoredHook): Hook => ({
    api_model: {},
    ...hook,
    header_map: JSON.parse(vault.open(sealed_headers, purpose)) as Hook['header_map'],
  }),
});

/**
 * Hook store. Headers are sealed, since they often carry a credential. APIs reference hooks, so every change marks the
 * APIs as changed.
 */
export function createHookStore(
  records: Records,
  vault: Vault,
  checkObjectLimit: CheckObjectLimit = noObjectLimit,
  revisions?: RevisionLog,
) {
  const { seal, open } = createHookCodec(vault);
  const history = revisions?.createHistory<Hook>({
    table: 'hooks',
    identify: it => ({ orgId: String(it.org_id), publicId: String(it.webhook_id), name: String(it.name ?? '') }),
    open: row => open(row as unknown as StoredHook),
  });
  const hooks = createCollection<'hooks', StoredHook>(
    records,
    'hooks',
    it => ({ id: it.id, org_id: it.org_id, webhook_id: it.webhook_id, name: it.name, created_at: it.created_at_ms }),
    problem.id_taken,
    undefined,
    { kind: 'webhooks', toEntry: toSearchEntry },
    history?.recordChange,
  );

  const writeAndMarkChanged = <T>(work: () => Promise<T>) =>
    records.write(async () => {
      const result = await work();
      if (result) records.markChanged('apis');
      return result;
    });

  return {
    history,
    async get(orgId: string, id: string): Promise<Hook | undefined> {
      const found = await hooks.find({ org_id: orgId, id });
      return found && open(found);
    },
    /** Finds by either id: definitions use both. */
    async find(orgId: string, id: string): Promise<Hook | undefined> {
      const found = (await hooks.find({ org_id: orgId, id })) ?? (await hooks.find({ org_id: orgId, webhook_id: id }));
      return found && open(found);
    },
    async page(orgId: string, request: PageRequest) {
      const found = await hooks.page({ where: { org_id: orgId }, order: ['-created_at', '-id'] }, request);
      return { ...found, items: openRows(found.items, open, it => it.id) };
    },
    count: (orgId: string) => hooks.count({ org_id: orgId }),
    insert: (hook: Hook, createdAtMs: number) =>
      writeAndMarkChanged(async () => {
        await checkObjectLimit(hook.org_id, orgId => hooks.count({ org_id: orgId }));
        await hooks.insert(seal(hook, createdAtMs));
        return true;
      }),
    change: (orgId: string, id: string, change: (hook: Hook) => Hook) =>
      writeAndMarkChanged(() => hooks.change({ org_id: orgId, id }, it => seal(change(open(it)), it.created_at_ms))),
    remove: (orgId: string, id: string): Promise<boolean> =>
      writeAndMarkChanged(async () => {
        await records.db.deleteFrom('hook_secrets').where('org_id', '=', orgId).where('hook', '=', id).execute();
        return hooks.remove({ org_id: orgId, id });
      }),
  };
}

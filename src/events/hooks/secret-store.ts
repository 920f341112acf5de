import { createSecretText } from '#base/ids.ts';
import type { Vault } from '#base/vault.ts';
import type { Records } from '#storage/records.ts';
import { inlinePrefix } from '../deliveries/schema.ts';

export type HookSecretStore = ReturnType<typeof createHookSecretStore>;

/** Name of the secret that signs the calls of all inline handlers of an organisation. */
export const inlineSecret = 'inline';

/** The previous secret still signs for this long, so that receivers can switch. */
export const secretOverlapMs = 86_400_000;

const purpose = 'webhook signing secret';

/**
 * Signing secrets: one for each stored hook, one for all inline handlers, created on first use. A handler with the
 * prefix of inline ones may have its own in place of the shared one.
 */
export function createHookSecretStore(records: Records, vault: Vault) {
  const createSealedSecret = () => vault.seal(`whsec_${createSecretText()}`, purpose);
  const openSecret = (sealed: string) => vault.open(sealed, purpose);
  const select = (orgId: string) =>
    records.db
      .selectFrom('hook_secrets')
      .select(['hook', 'sealed', 'previous', 'changed_at'])
      .where('org_id', '=', orgId);
  const find = (orgId: string, hook: string) => select(orgId).where('hook', '=', hook).executeTakeFirst();

  async function ensureSecret(orgId: string, hook: string, nowMs: number) {
    const existing = await find(orgId, hook);
    if (existing) return existing;
    await records.db
      .insertInto('hook_secrets')
      .values({ org_id: orgId, hook, sealed: createSealedSecret(), previous: '', changed_at: nowMs })
      .onConflict(it => it.columns(['org_id', 'hook']).doNothing())
      .execute();
    return (await find(orgId, hook))!;
  }

  /** Secret in use: that of the hook, or of all inline handlers for one of them without its own. */
  async function resolve(orgId: string, hook: string, nowMs: number) {
    if (!hook.startsWith(inlinePrefix)) return ensureSecret(orgId, hook, nowMs);
    const found = await select(orgId).where('hook', 'in', [hook, inlineSecret]).execute();
    return found.find(row => row.hook === hook) ?? found[0] ?? ensureSecret(orgId, inlineSecret, nowMs);
  }

  async function save(orgId: string, hook: string, previous: string, nowMs: number): Promise<string> {
    const changed = { sealed: createSealedSecret(), previous, changed_at: nowMs };
    await records.db
      .insertInto('hook_secrets')
      .values({ org_id: orgId, hook, ...changed })
      .onConflict(it => it.columns(['org_id', 'hook']).doUpdateSet(changed))
      .execute();
    return openSecret(changed.sealed);
  }

  return {
    /** Current secret, and the previous one during the overlap. */
    async readSigningSecrets(orgId: string, hook: string, nowMs: number): Promise<string[]> {
      const { sealed, previous, changed_at } = await resolve(orgId, hook, nowMs);
      const isOverlapping = previous !== '' && nowMs < Number(changed_at) + secretOverlapMs;
      return (isOverlapping ? [sealed, previous] : [sealed]).map(openSecret);
    },

    /** First secret of a new hook: no other one signs beside it. */
    create: (orgId: string, hook: string, nowMs: number) => save(orgId, hook, '', nowMs),

    /** The secret in use so far, also the shared one, signs during the overlap. */
    replace: (orgId: string, hook: string, nowMs: number): Promise<string> =>
      records.write(async () => save(orgId, hook, (await resolve(orgId, hook, nowMs)).sealed, nowMs)),

    async remove(orgId: string, hook: string): Promise<void> {
      await records.db.deleteFrom('hook_secrets').where('org_id', '=', orgId).where('hook', '=', hook).execute();
    },
  };
}

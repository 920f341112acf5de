import { createSecretText } from '#base/ids.ts';
import type { Vault } from '#base/vault.ts';
import type { Records } from '#storage/records.ts';

export type HookSecretStore = ReturnType<typeof createHookSecretStore>;

/** Name of the secret that signs the calls of all inline handlers of an organisation. */
export const inlineSecret = 'inline';

/** The previous secret still signs for this long, so that receivers can switch. */
const overlapMs = 86_400_000;

const purpose = 'webhook signing secret';

/** Signing secrets: one for each stored hook, one for inline handlers. Created on first use. */
export function createHookSecretStore(records: Records, vault: Vault) {
  const createSealedSecret = () => vault.seal(`whsec_${createSecretText()}`, purpose);
  const openSecret = (sealed: string) => vault.open(sealed, purpose);
  const find = (orgId: string, hook: string) =>
    records.db
      .selectFrom('hook_secrets')
      .select(['sealed', 'previous', 'changed_at'])
      .where('org_id', '=', orgId)
      .where('hook', '=', hook)
      .executeTakeFirst();

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

  return {
    /** Current secret, and the previous one during the overlap. */
    async readSigningSecrets(orgId: string, hook: string, nowMs: number): Promise<string[]> {
      const { sealed, previous, changed_at } = await ensureSecret(orgId, hook, nowMs);
      const isOverlapping = previous !== '' && nowMs < Number(changed_at) + overlapMs;
      return (isOverlapping ? [sealed, previous] : [sealed]).map(openSecret);
    },

    async replace(orgId: string, hook: string, nowMs: number): Promise<string> {
      return records.write(async () => {
        const { sealed: previous } = await ensureSecret(orgId, hook, nowMs);
        const sealed = createSealedSecret();
        await records.db
          .updateTable('hook_secrets')
          .set({ sealed, previous, changed_at: nowMs })
          .where('org_id', '=', orgId)
          .where('hook', '=', hook)
          .execute();
        return openSecret(sealed);
      });
    },
  };
}

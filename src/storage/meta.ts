import { Problem } from '#base/problems.ts';
import {
  createDataKey,
  masterKeyOf,
  unwrapDataKey,
  type Vault,
  vaultOf,
  vaultProblem,
  wrapDataKey,
} from '#base/vault.ts';
import type { Records } from './records.ts';

/** Facts about the installation itself, by name. */
export type Meta = ReturnType<typeof metaStore>;

export function metaStore(records: Records) {
  return {
    async get(name: string): Promise<string | undefined> {
      const row = await records.db.selectFrom('meta').select('value').where('name', '=', name).executeTakeFirst();
      return row?.value;
    },
    async set(name: string, value: string): Promise<void> {
      await records.db
        .insertInto('meta')
        .values({ name, value })
        .onConflict(conflict => conflict.column('name').doUpdateSet({ value }))
        .execute();
    },
    /** True for the one caller that sets it first; others wait for that one to finish and then get false. */
    async claim(name: string, value: string): Promise<boolean> {
      const inserted = await records.db
        .insertInto('meta')
        .values({ name, value })
        .onConflict(conflict => conflict.column('name').doNothing())
        .executeTakeFirst();
      return (inserted.numInsertedOrUpdatedRows ?? 0n) > 0n;
    },
  };
}

const dataKeyName = 'data_key';

/** Opens the vault with the first master key that fits; makes the data key of a new database. */
export async function openVault(meta: Meta, masterKeys: readonly string[]): Promise<Vault> {
  const made = wrapDataKey(createDataKey(), masterKeyOf(masterKeys[0]!));
  await meta.claim(dataKeyName, made);
  const wrapped = (await meta.get(dataKeyName)) ?? made;
  for (const [place, text] of masterKeys.entries()) {
    try {
      return vaultOf(unwrapDataKey(wrapped, masterKeyOf(text)));
    } catch (error) {
      const wrong = error instanceof Problem && error.code === vaultProblem.wrong_master_key.code;
      if (!wrong || place === masterKeys.length - 1) throw error;
    }
  }
  throw vaultProblem.wrong_master_key();
}

/** Wraps the data key anew: from here on only `next` opens it. */
export async function rewrapDataKey(records: Records, meta: Meta, current: string, next: string): Promise<void> {
  await records.write(async () => {
    const wrapped = await meta.get(dataKeyName);
    if (!wrapped) throw vaultProblem.wrong_master_key();
    const dataKey = unwrapDataKey(wrapped, masterKeyOf(current));
    await meta.set(dataKeyName, wrapDataKey(dataKey, masterKeyOf(next)));
  });
}

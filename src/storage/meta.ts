import { Problem } from '#base/problems.ts';
import {
  createDataKey,
  createVault,
  parseMasterKey,
  unwrapDataKey,
  type Vault,
  vaultProblem,
  wrapDataKey,
} from '#base/vault.ts';
import type { Records } from './records.ts';

/** Facts about the installation itself, by name. */
export type Meta = ReturnType<typeof createMetaStore>;

export function createMetaStore(records: Records) {
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
    async remove(name: string): Promise<void> {
      await records.db.deleteFrom('meta').where('name', '=', name).execute();
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

export const dataKeyName = 'data_key';

/** Where the master key comes from. */
export interface MasterKeys {
  /** Those to try: none before the first start, two after an interrupted rotation. */
  candidates(): string[];
  /** Makes and keeps one, for a new database. */
  create(): string;
  /** Told which one fits; what else is kept opens nothing. */
  confirm(key: string): void;
}

/** Opens the vault with the master key that fits; makes the keys of a new database. */
export async function openVault(meta: Meta, keys: MasterKeys): Promise<Vault> {
  return createVault(await openDataKey(meta, keys));
}

/** What the vault is made of, for threads that open it themselves. It is handed over in memory and kept nowhere. */
export async function openDataKey(meta: Meta, keys: MasterKeys): Promise<Buffer> {
  const wrapped = (await meta.get(dataKeyName)) ?? (await createFirstDataKey(meta, keys));
  const candidates = keys.candidates();
  if (candidates.length === 0) throw vaultProblem.wrong_master_key({ message: masterKeyMissingMessage });
  for (const key of candidates) {
    const dataKey = tryUnwrapDataKey(wrapped, key);
    if (!dataKey) continue;
    keys.confirm(key);
    return dataKey;
  }
  throw vaultProblem.wrong_master_key();
}

const masterKeyMissingMessage =
  'The master key of this database is missing: put master.key back into the data directory, or set GW_MASTER_KEY';

/** Several machines may start on one new database: the first one's key is everybody's. */
async function createFirstDataKey(meta: Meta, keys: MasterKeys): Promise<string> {
  const wrapped = wrapDataKey(createDataKey(), parseMasterKey(keys.candidates()[0] ?? keys.create()));
  await meta.claim(dataKeyName, wrapped);
  return (await meta.get(dataKeyName)) ?? wrapped;
}

/** Undefined where it was wrapped under another master key. */
export function tryUnwrapDataKey(wrapped: string, masterKey: string): Buffer | undefined {
  try {
    return unwrapDataKey(wrapped, parseMasterKey(masterKey));
  } catch (error) {
    if (error instanceof Problem && error.code === vaultProblem.wrong_master_key.code) return undefined;
    throw error;
  }
}

/** Wraps the data key anew: from here on only `next` opens it. */
export async function rewrapDataKey(records: Records, meta: Meta, current: string, next: string): Promise<void> {
  await records.write(async () => {
    const wrapped = await meta.get(dataKeyName);
    if (!wrapped) throw vaultProblem.wrong_master_key();
    const dataKey = unwrapDataKey(wrapped, parseMasterKey(current));
    await meta.set(dataKeyName, wrapDataKey(dataKey, parseMasterKey(next)));
  });
}

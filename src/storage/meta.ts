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

/** Key-value store of installation-wide facts. */
export type Meta = ReturnType<typeof createMetaStore>;

export function createMetaStore(records: Records) {
  const meta = {
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
    /** Insert-if-absent: true for the first caller; concurrent ones wait for its transaction and get false. */
    async claim(name: string, value: string): Promise<boolean> {
      const inserted = await records.db
        .insertInto('meta')
        .values({ name, value })
        .onConflict(conflict => conflict.column('name').doNothing())
        .executeTakeFirst();
      return (inserted.numInsertedOrUpdatedRows ?? 0n) > 0n;
    },
    /** Inside a transaction: replaces a value, or the initial one, under a row lock. */
    async change(name: string, initial: string, change: (value: string) => string): Promise<void> {
      await meta.claim(name, initial);
      const { value } = await records.db
        .updateTable('meta')
        .set(row => ({ value: row.ref('value') }))
        .where('name', '=', name)
        .returning('value')
        .executeTakeFirstOrThrow();
      await meta.set(name, change(value));
    },
  };
  return meta;
}

export const dataKeyName = 'data_key';

/** Source of the master key. */
export interface MasterKeys {
  /** Keys to try: none before the first start, two after an interrupted rotation. */
  candidates(): string[];
  /** Creates and stores one, for a new database. */
  create(): string;
  /** Called with the key that unwrapped the data key; the other candidates are obsolete. */
  confirm(key: string): void;
}

/** Opens the vault with the matching master key; creates the keys of a new database. */
export async function openVault(meta: Meta, keys: MasterKeys): Promise<Vault> {
  return createVault(await openDataKey(meta, keys));
}

/** Unwrapped data key, for threads that open the vault themselves. It is passed in memory and never stored. */
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

/** First insert wins: several machines may start on one new database and must share its data key. */
async function createFirstDataKey(meta: Meta, keys: MasterKeys): Promise<string> {
  const wrapped = wrapDataKey(createDataKey(), parseMasterKey(keys.candidates()[0] ?? keys.create()));
  await meta.claim(dataKeyName, wrapped);
  return (await meta.get(dataKeyName)) ?? wrapped;
}

/** Undefined where another master key wrapped it. */
export function tryUnwrapDataKey(wrapped: string, masterKey: string): Buffer | undefined {
  try {
    return unwrapDataKey(wrapped, parseMasterKey(masterKey));
  } catch (error) {
    if (error instanceof Problem && error.code === vaultProblem.wrong_master_key.code) return undefined;
    throw error;
  }
}

/** Rewraps the data key: from here on only `next` unwraps it. */
export async function rewrapDataKey(records: Records, meta: Meta, current: string, next: string): Promise<void> {
  await records.write(async () => {
    const wrapped = await meta.get(dataKeyName);
    if (!wrapped) throw vaultProblem.wrong_master_key();
    const dataKey = unwrapDataKey(wrapped, parseMasterKey(current));
    await meta.set(dataKeyName, wrapDataKey(dataKey, parseMasterKey(next)));
  });
}

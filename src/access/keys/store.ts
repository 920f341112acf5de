import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import {
  type CheckObjectLimit,
  columnContains,
  noObjectLimit,
  type PageRequest,
  translateConflict,
} from '#storage/collection.ts';
import { selectListed } from '#storage/listed-values.ts';
import { findRowObserver, noteObjectName } from '#storage/operation-context.ts';
import type { Records } from '#storage/records.ts';
import { removeSearchEntry, writeSearchEntry } from '#storage/search-names.ts';
import { openRow, openRows } from '#storage/unreadable-rows.ts';
import { type CountedObjects, countKeysBy } from './filter-store.ts';
import { createKeyIdIndexes } from './id-index-store.ts';
import { hasKeyFilter } from './index-filter-store.ts';
import { displayHash, idPurpose, type KeyRow, keyDigest, keyIdsOf, parseKeyBody, serializeKey } from './key-row.ts';
import { problem } from './problems.ts';
import type { Key } from './schema.ts';
import {
  buildListQueries,
  type ConcernedObjects,
  countConcernedKeys,
  filterKeys,
  type KeyFilter,
  type KeyPageQuery,
  listKeys,
  listOrganisationKeyRows,
  organisationRowId,
  searchKeys,
  selectKeyRows,
} from './search-store.ts';

export type KeyStore = ReturnType<typeof createKeyStore>;

/** `token`: an API key; `basic`: a basic-auth user; `organisation`: limits shared by all keys of an organisation. */
export type KeyKind = 'token' | 'basic' | 'organisation';

export interface StoredKey {
  readonly rowId: string;
  readonly orgId: string;
  readonly kind: KeyKind;
  /** Key id, or its hash where only hashes are stored. */
  readonly keyId: string;
  readonly keyHash: string;
  /** Lookup digest; counter names derive from it. */
  readonly digest: string;
  /** As sent, with members set by the server. The password is a hash. */
  readonly key: Key;
}

export interface NewKey {
  readonly rowId: string;
  readonly orgId: string;
  readonly kind: KeyKind;
  readonly keyId: string;
  readonly createdAtMs: number;
  readonly key: Key;
  /** Public ids of its policies. */
  readonly policyIds: readonly string[];
}

/** Both engines bound the values of one statement. */
const maxRowsPerInsert = 1000;

/** Keys of one certificate that one request reads or removes. */
const maxBoundKeys = 10_000;
const mentioningBatchSize = 100;

/** The id of an unreadable row is sealed; its hash is not. */
const describeRow = ({ key_hash }: Pick<KeyRow, 'key_hash'>) => `key ${key_hash}`;

export function createKeyStore(
  records: Records,
  vault: Vault,
  settings: Settings,
  checkObjectLimit: CheckObjectLimit = noObjectLimit,
) {
  const codec = createKeyCodec(vault, settings);
  return {
    hashOf: codec.hashOf,
    count: (orgId: string) => countKeys(records, orgId),
    /** Number of keys that a change of APIs or policies concerns. */
    countConcerned: (orgId: string, concerned: ConcernedObjects) => countConcernedKeys(records, orgId, concerned),
    /** Numbers of visible keys by policy and API. */
    countBy: (orgId: string, counted: CountedObjects) => countKeysBy(records, orgId, counted),
    /** Runs several writes of keys as one. */
    runInTransaction: <T>(work: () => Promise<T>): Promise<T> => records.write(work),
    ...createKeyLookups(records, codec),
    ...createBoundKeyLookups(records, codec),
    ...createKeyWrites(records, codec, checkObjectLimit),
    ...createKeyLists(records, codec),
  };
}

type KeyCodec = ReturnType<typeof createKeyCodec>;

/** Encoding of keys in rows: ids are digests, sealed or hashed; bodies have sealed secrets. */
function createKeyCodec(vault: Vault, settings: Settings) {
  const storesIds = settings['keys.at_rest'] === 'encrypted';
  const readKeyId = (row: Pick<KeyRow, 'sealed' | 'key_hash'>) =>
    row.sealed ? vault.open(row.sealed, idPurpose) : row.key_hash;
  return {
    digestOf: (keyId: string) => keyDigest(vault, keyId),
    hashOf: (keyId: string) => displayHash(keyId, settings),
    bodyOf: (key: Key) => serializeKey(key, vault),
    sealId: (keyId: string, kind: KeyKind) =>
      storesIds || kind === 'organisation' ? vault.seal(keyId, idPurpose) : '',
    readKeyId,
    openKeyId: (row: Pick<KeyRow, 'sealed' | 'key_hash'>) => openRow(row, readKeyId, describeRow),
    toStoredKey: (row: KeyRow, keyId = readKeyId(row)): StoredKey => ({
      rowId: row.id,
      orgId: row.org_id,
      kind: row.kind as KeyKind,
      keyId,
      keyHash: row.key_hash,
      digest: row.digest,
      key: parseKeyBody(row.body, vault),
    }),
  };
}

async function findFirst(
  records: Records,
  { digestOf, toStoredKey }: KeyCodec,
  keyIds: readonly string[],
  orgId?: string,
): Promise<StoredKey | undefined> {
  if (keyIds.length === 0) return undefined;
  const byDigest = new Map(keyIds.map(keyId => [digestOf(keyId), keyId]));
  const rows = await selectKeyRows(records)
    .where('digest', 'in', [...byDigest.keys()])
    .execute();
  const candidates = rows.filter(row => orgId === undefined || row.org_id === orgId);
  const row = keyIds.map(keyId => candidates.find(row => byDigest.get(row.digest) === keyId)).find(row => row);
  if (row) findRowObserver('keys')?.onRead(row.body);
  return row && toStoredKey(row, byDigest.get(row.digest));
}

/** Rows that hold the id of a certificate anywhere: `isBoundTo` decides. */
const selectMentioning = (records: Records, orgId: string, certificateId: string) =>
  selectKeyRows(records)
    .where('org_id', '=', orgId)
    .where('kind', '!=', 'organisation')
    .where(columnContains('body', JSON.stringify(certificateId)))
    .orderBy('id');

const isBoundTo = ({ certificate, mtls_static_certificate_bindings: bindings }: Key, certificateId: string) =>
  certificate === certificateId || Boolean(bindings?.includes(certificateId));

/** Finds keys by the certificate they are bound to. */
const createBoundKeyLookups = (records: Records, { toStoredKey }: KeyCodec) => ({
  /** Keys that are bound to a certificate, oldest first. */
  async findBoundTo(orgId: string, certificateId: string): Promise<StoredKey[]> {
    const rows = await selectMentioning(records, orgId, certificateId)
      .limit(maxBoundKeys + 1)
      .execute();
    if (rows.length > maxBoundKeys) throw problem.too_many_bound({ detail: { maxKeys: maxBoundKeys } });
    return rows.map(row => toStoredKey(row)).filter(({ key }) => isBoundTo(key, certificateId));
  },

  /** The oldest key that is bound to a certificate. */
  async findFirstBoundTo(orgId: string, certificateId: string): Promise<StoredKey | undefined> {
    for (let last = ''; ; ) {
      const rows = await selectMentioning(records, orgId, certificateId)
        .where('id', '>', last)
        .limit(mentioningBatchSize)
        .execute();
      const found = rows.map(row => toStoredKey(row)).find(({ key }) => isBoundTo(key, certificateId));
      if (found || rows.length < mentioningBatchSize) return found;
      last = rows.at(-1)!.id;
    }
  },
});

/** Finds one key. */
function createKeyLookups(records: Records, codec: KeyCodec) {
  const { toStoredKey } = codec;
  return {
    /** By id, or by custom name in this organisation. */
    get: (orgId: string, keyId: string) =>
      findFirst(records, codec, [...new Set([keyId, ...keyIdsOf(orgId, keyId)])], orgId),

    /** In any organisation: for the operator only. */
    getAnywhere: (keyId: string) => findFirst(records, codec, [keyId]),

    async findByRowId(rowId: string): Promise<StoredKey | undefined> {
      const row = await selectKeyRows(records).where('id', '=', rowId).executeTakeFirst();
      return row && toStoredKey(row);
    },

    /** Key of a presented credential. Organisation limits are no credential. */
    async findByCredential(orgId: string, credential: string): Promise<StoredKey | undefined> {
      const stored = await findFirst(records, codec, keyIdsOf(orgId, credential), orgId);
      return stored?.kind === 'organisation' ? undefined : stored;
    },

    /** By hash; ambiguous hashes are refused. Without `orgId`, in any organisation (operator only). */
    async findByHash(orgId: string | undefined, hash: string): Promise<StoredKey | undefined> {
      const anywhere = selectKeyRows(records).where('key_hash', '=', hash).limit(2);
      const [row, another] = await (orgId === undefined ? anywhere : anywhere.where('org_id', '=', orgId)).execute();
      if (another) throw problem.hash_ambiguous();
      if (row) findRowObserver('keys')?.onRead(row.body);
      return row && toStoredKey(row);
    },

    /** True when the key may call the API, directly or through a policy. */
    async hasRight({ rowId, orgId }: StoredKey, apiId: string): Promise<boolean> {
      const { rows } = buildListQueries(records, orgId, { apiId });
      return (await rows.where('id', '=', rowId).executeTakeFirst()) !== undefined;
    },

    /** False when all APIs the key may call are hidden. */
    async isVisible(
      { rowId, orgId }: Pick<StoredKey, 'rowId' | 'orgId'>,
      hiddenApis: readonly string[],
    ): Promise<boolean> {
      if (hiddenApis.length === 0) return true;
      const { rows } = buildListQueries(records, orgId, { hiddenApis });
      return (await rows.where('id', '=', rowId).executeTakeFirst()) !== undefined;
    },

    /** Hashes, of those given, of keys with an API that is not hidden. */
    async findVisibleHashes(orgId: string, hashes: readonly string[], hiddenApis: readonly string[]) {
      const { rows } = buildListQueries(records, orgId, { hiddenApis });
      const listed = rows.where('key_hash', 'in', selectListed(records, hashes));
      return (await listed.where('kind', '!=', 'organisation').execute()).map(({ key_hash }) => key_hash);
    },
  };
}

/** Row of a key, locked until the end of the transaction. */
function lockKeyRow(records: Records, rowId: string) {
  const query = selectKeyRows(records).where('id', '=', rowId);
  return (records.engine === 'postgres' ? query.forUpdate() : query).executeTakeFirst();
}

const buildKeyRow = ({ digestOf, hashOf, bodyOf, sealId }: KeyCodec, newKey: NewKey) => ({
  id: newKey.kind === 'organisation' ? organisationRowId(newKey.rowId) : newKey.rowId,
  org_id: newKey.orgId,
  created_at: newKey.createdAtMs,
  digest: digestOf(newKey.keyId),
  key_hash: hashOf(newKey.keyId),
  kind: newKey.kind,
  sealed: sealId(newKey.keyId, newKey.kind),
  ...toFilterColumns(newKey.key),
  body: bodyOf(newKey.key),
});

/** Columns of the filters of lists. */
const toFilterColumns = ({ expires, is_inactive }: Key) => ({
  expires_at: Number.isSafeInteger(expires) ? Math.max(0, expires!) : 0,
  inactive: Number(is_inactive === true),
});

function createKeyWrites(records: Records, codec: KeyCodec, checkObjectLimit: CheckObjectLimit) {
  const { bodyOf, toStoredKey } = codec;
  return {
    async create(newKey: NewKey): Promise<StoredKey> {
      const { orgId, kind, keyId, key } = newKey;
      const row = buildKeyRow(codec, newKey);
      await records.write(async () => {
        if (await findFirst(records, codec, [keyId])) throw problem.exists();
        // Organisation limits are written by the operator and do not count.
        if (kind !== 'organisation') await checkObjectLimit(orgId, id => countKeys(records, id));
        findRowObserver('keys')?.onWrite(row.id, undefined, row.body);
        await translateConflict(records.db.insertInto('keys').values(row).execute(), problem.exists);
        await indexRights(records, { ...newKey, rowId: row.id });
        await indexNames(records, row, key);
        records.markChanged('keys', row.digest);
      });
      return { rowId: row.id, orgId, kind, keyId, keyHash: row.key_hash, digest: row.digest, key };
    },

    /** Read-modify-write in one transaction: no concurrent change is lost. */
    async change(
      stored: StoredKey,
      change: (previous: Key) => Promise<{ key: Key; policyIds: readonly string[] }>,
    ): Promise<StoredKey | undefined> {
      return records.write(async () => {
        const row = await lockKeyRow(records, stored.rowId);
        if (!row) return undefined;
        const { key, policyIds } = await change(toStoredKey(row).key);
        const body = bodyOf(key);
        findRowObserver('keys')?.onWrite(row.id, row.body, body);
        await records.db
          .updateTable('keys')
          .set({ body, ...toFilterColumns(key) })
          .where('id', '=', row.id)
          .execute();
        await indexRights(records, { rowId: row.id, orgId: row.org_id, key, policyIds });
        await indexNames(records, row, key);
        records.markChanged('keys', row.digest);
        return { ...stored, key };
      });
    },

    async remove({ rowId }: Pick<StoredKey, 'rowId'>): Promise<boolean> {
      return records.write(async () => {
        // Lock order: the key row first, as in `change`; another order could deadlock.
        const row = await lockKeyRow(records, rowId);
        if (!row) return false;
        findRowObserver('keys')?.onWrite(row.id, row.body, undefined);
        await records.db.deleteFrom('keys').where('id', '=', rowId).execute();
        await unindexRights(records, rowId);
        noteObjectName('keys', [row.key_hash], await removeSearchEntry(records, 'keys', rowId));
        records.markChanged('keys', row.digest);
        return true;
      });
    },
  };
}

function createKeyLists(records: Records, { toStoredKey, readKeyId, openKeyId }: KeyCodec) {
  const indexes = createKeyIdIndexes(records, readKeyId);
  return {
    async page(orgId: string, query: KeyPageQuery) {
      const result =
        query.q || hasKeyFilter(query)
          ? await searchKeys(records, indexes, orgId, query, (row, text) => openKeyId(row)?.includes(text) ?? false)
          : await listKeys(records, orgId, query);
      return { ...result, items: openRows(result.rows, row => toStoredKey(row), describeRow) };
    },

    /** Ids with this prefix, newest first; hashes where only hashes are stored. */
    async ids(filter: KeyFilter, prefix = ''): Promise<string[]> {
      const rows = await filterKeys(records, filter, row => openKeyId(row)?.startsWith(prefix) ?? false);
      return rows.map(readKeyId);
    },

    async organisationPage(query: PageRequest) {
      const result = await listOrganisationKeyRows(records, query);
      return { ...result, items: openRows(result.rows, row => toStoredKey(row), describeRow) };
    },
  };
}

async function indexRights(
  records: Records,
  { rowId, orgId, key, policyIds }: Pick<NewKey, 'rowId' | 'orgId' | 'key' | 'policyIds'>,
): Promise<void> {
  await unindexRights(records, rowId);
  const apis = Object.keys(key.access_rights ?? {}).filter(Boolean);
  for (let at = 0; at < apis.length; at += maxRowsPerInsert) {
    const rows = apis.slice(at, at + maxRowsPerInsert).map(api_id => ({ org_id: orgId, api_id, key: rowId }));
    await records.db.insertInto('key_apis').values(rows).execute();
  }
  const policies = [...new Set(policyIds)].map(policy_id => ({ org_id: orgId, policy_id, key: rowId }));
  if (policies.length > 0) await records.db.insertInto('key_policies').values(policies).execute();
}

/** Found by alias, user name and hash. Limits of an organisation are no key of a list. */
async function indexNames(
  records: Records,
  { id, org_id, kind, key_hash }: Pick<KeyRow, 'id' | 'org_id' | 'kind' | 'key_hash'>,
  { alias, basic_auth_data }: Key,
): Promise<void> {
  if (kind === 'organisation') return;
  const names = [alias ?? '', basic_auth_data?.user ?? '', key_hash];
  const label = alias || basic_auth_data?.user || '';
  noteObjectName('keys', [key_hash], label);
  await writeSearchEntry(records, 'keys', { orgId: org_id, object: id }, { names, label, detail: key_hash });
}

async function unindexRights(records: Records, rowId: string): Promise<void> {
  await records.db.deleteFrom('key_apis').where('key', '=', rowId).execute();
  await records.db.deleteFrom('key_policies').where('key', '=', rowId).execute();
}

async function countKeys(records: Records, orgId: string): Promise<number> {
  const query = records.db.selectFrom('keys').select(it => it.fn.countAll<number>().as('total'));
  return Number((await query.where('org_id', '=', orgId).executeTakeFirstOrThrow()).total);
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { readSettings } from '#base/settings.ts';
import { createDataKey, createVault } from '#base/vault.ts';
import { pruneChanges } from '#storage/change-log.ts';
import { openRecords, type Records } from '#storage/records.ts';
import { collectUnreadableRows } from '#storage/unreadable-rows.ts';
import { onBothEngines } from '../../../tests/lifecycle/databases.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { createKeyIdIndexes, type KeyIdIndexOptions } from './id-index-store.ts';
import { idPurpose } from './key-row.ts';
import { createKeyStore, type KeyStore } from './store.ts';

const vault = createVault(createDataKey());
const openStore = (records: Records, own = vault) => createKeyStore(records, own, readSettings({ flags: {} }));

const openIndexes = (records: Records, options?: KeyIdIndexOptions) =>
  createKeyIdIndexes(records, row => vault.open(row.sealed, idPurpose), options);

let createdAtMs = 1_700_000_000_000;
const create = (keys: KeyStore, orgId: string, keyId: string, alias = '') =>
  keys.create({
    rowId: createPublicId(),
    orgId,
    kind: 'token',
    keyId,
    createdAtMs: createdAtMs++,
    key: { alias },
    policyIds: [],
  });

const find = async (keys: KeyStore, orgId: string, q: string, filter: object = {}) =>
  (await keys.page(orgId, { page: 1, size: 100, q, ...filter })).items.map(({ keyId }) => keyId);

onBothEngines('search in key ids', fresh => {
  async function openTwice() {
    const { options } = await fresh();
    const [records, other] = [await openRecords(options), await openRecords(options)];
    const close = async () => {
      await records.close();
      await other.close();
    };
    return { records, other, close };
  }

  test('keys created, changed and deleted after a search are in the next one, also by another process', async () => {
    const { records, other, close } = await openTwice();
    const [keys, otherKeys] = [openStore(records), openStore(other)];
    const first = await create(keys, 'a', 'needle-1');
    await create(keys, 'b', 'needle-of-b');
    assert.deepEqual(await find(keys, 'a', 'needle'), ['needle-1']);
    await create(keys, 'a', 'needle-2');
    const third = await create(otherKeys, 'a', 'needle-3');
    await create(otherKeys, 'b', 'needle-of-b-2');
    await create(otherKeys, 'a', 'hay');
    assert.deepEqual(await find(keys, 'a', 'needle'), ['needle-3', 'needle-2', 'needle-1']);
    assert.deepEqual(await find(keys, 'b', 'needle'), ['needle-of-b-2', 'needle-of-b']);
    await otherKeys.change(third, async () => ({ key: { alias: 'renamed' }, policyIds: [] }));
    assert.deepEqual(await find(keys, 'a', 'needle', { text: 'renamed' }), ['needle-3']);
    await otherKeys.remove(first);
    const page = await keys.page('a', { page: 1, size: 1, q: 'needle' });
    assert.deepEqual([page.total, page.pages, page.items[0]?.keyId], [2, 2, 'needle-3']);
    await keys.remove(third);
    await create(keys, 'a', 'needle-3');
    assert.deepEqual(await find(keys, 'a', 'needle'), ['needle-3', 'needle-2']);
    await close();
  });

  test('a key with an older creation time than an indexed one is found at its place', async () => {
    const { records, close } = await openTwice();
    const keys = openStore(records);
    await create(keys, 'a', 'id-new');
    await find(keys, 'a', 'id');
    createdAtMs -= 10;
    await create(keys, 'a', 'id-old');
    createdAtMs += 10;
    assert.deepEqual(await find(keys, 'a', 'id'), ['id-new', 'id-old']);
    await close();
  });

  test('an index is built again where the change log no longer reaches back, or the whole topic changed', async () => {
    const { records, other, close } = await openTwice();
    const [keys, otherKeys] = [openStore(records), openStore(other)];
    const gone = await create(keys, 'a', 'id-1');
    assert.deepEqual(await find(keys, 'a', 'id'), ['id-1']);
    await otherKeys.remove(gone);
    for (let n = 2; n < 6; n++) await create(otherKeys, 'a', `id-${n}`);
    await pruneChanges(records, 1);
    assert.deepEqual(await find(keys, 'a', 'id'), ['id-5', 'id-4', 'id-3', 'id-2']);
    await other.write(async () => {
      await other.db.deleteFrom('keys').execute();
      other.markChanged('keys');
    });
    assert.deepEqual(await find(keys, 'a', 'id'), []);
    await close();
  });

  test('concurrent searches during writes each have what was written before them', async () => {
    const { records, close } = await openTwice();
    const keys = openStore(records);
    const runs = Array.from({ length: 20 }, async (_each, n) => {
      await create(keys, 'a', `id-${n}.`);
      return find(keys, 'a', `id-${n}.`);
    });
    assert.deepEqual(
      await Promise.all(runs),
      runs.map((_each, n) => [`id-${n}.`]),
    );
    await close();
  });

  test('a key that was sealed with another key is reported by every search, or fails it', async () => {
    const { records, close } = await openTwice();
    const keys = openStore(records);
    await create(keys, 'a', 'readable');
    const foreign = await create(openStore(records, createVault(createDataKey())), 'a', 'foreign');
    for (let n = 0; n < 2; n++) {
      const unreadable = new Map<string, string>();
      assert.deepEqual(await collectUnreadableRows(unreadable, () => find(keys, 'a', 'read')), ['readable']);
      assert.deepEqual([...unreadable.keys()], [`key ${foreign.keyHash}`]);
      await assert.rejects(find(keys, 'a', 'read'), /sealed|another|master/i);
    }
    await close();
  });

  test('indexes beyond the bound are evicted, least recently searched first', async () => {
    const { records, close } = await openTwice();
    const keys = openStore(records);
    for (const orgId of ['a', 'b', 'c']) for (let n = 0; n < 10; n++) await create(keys, orgId, `${orgId}-${n}`);
    const one = openIndexes(records);
    await one.search('a', index => index.size);
    const indexes = openIndexes(records, { maxBytes: one.bytes * 2 });
    for (const orgId of ['a', 'b', 'a', 'c']) assert.equal(await indexes.search(orgId, index => index.size), 10);
    assert.equal(indexes.organisations, 2);
    assert.ok(indexes.bytes <= one.bytes * 2);
    let isBuilt = false;
    const watched = createKeyIdIndexes(
      records,
      row => {
        isBuilt = true;
        return vault.open(row.sealed, idPurpose);
      },
      { maxBytes: one.bytes * 2 },
    );
    for (const orgId of ['a', 'b', 'a', 'c']) await watched.search(orgId, () => undefined);
    isBuilt = false;
    await watched.search('a', () => undefined);
    assert.equal(isBuilt, false);
    await watched.search('b', () => undefined);
    assert.equal(isBuilt, true);
    await close();
  });

  test('an organisation whose keys exceed the bound has no index, and keeps no memory', async () => {
    const { records, close } = await openTwice();
    const keys = openStore(records);
    for (let n = 0; n < 10; n++) await create(keys, 'a', `id-${n}`);
    for (const maxBytes of [100, 3100]) {
      const indexes = openIndexes(records, { maxBytes });
      assert.equal(await indexes.search('a', index => index.size), undefined);
      assert.deepEqual([indexes.bytes, indexes.organisations], [0, 0]);
    }
    const unbounded = openIndexes(records);
    await unbounded.search('a', index => index.size);
    const indexes = openIndexes(records, { maxBytes: unbounded.bytes * 1.2 });
    assert.equal(await indexes.search('a', index => index.size), 10);
    for (let n = 10; n < 14; n++) await create(keys, 'a', `id-${n}`);
    assert.equal(await indexes.search('a', index => index.size), undefined);
    assert.deepEqual([indexes.bytes, indexes.organisations], [0, 0]);
    await close();
  });

  test('all indexes are released after the idle time', async () => {
    const { records, close } = await openTwice();
    await create(openStore(records), 'a', 'id');
    const indexes = openIndexes(records, { idleTimeoutMs: 20 });
    assert.equal(await indexes.search('a', index => index.size), 1);
    await eventually(() => assert.equal(indexes.bytes, 0));
    assert.equal(await indexes.search('a', index => index.size), 1);
    await close();
  });
});

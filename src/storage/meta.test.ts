import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createSecretText } from '#base/ids.ts';
import { withRecords } from '../../tests/lifecycle/databases.ts';
import { createMasterKeys, type DataDirectory, openDataDirectory, replaceMasterKey } from './data-directory.ts';
import { createMetaStore, openVault, rewrapDataKey } from './meta.ts';
import type { Records } from './records.ts';

const root = mkdtempSync(join(tmpdir(), 'gw-meta-'));
after(() => rmSync(root, { recursive: true }));

withRecords('vault keys', given => {
  const setting = (key: string) => ({ candidates: () => [key], create: () => key, confirm: () => undefined });

  /** Each test begins with a database that has no data key yet, and a directory of its own. */
  async function newcomer(): Promise<{ records: Records; directory: DataDirectory }> {
    const records = given();
    await records.db.deleteFrom('meta').where('name', '=', 'data_key').execute();
    return { records, directory: openDataDirectory(mkdtempSync(join(root, 'd-'))) };
  }
  const openIn = (records: Records, directory: DataDirectory) =>
    openVault(createMetaStore(records), createMasterKeys(directory, ''));

  test('meta values are set and replaced, and claimed by the first caller only', async () => {
    const meta = createMetaStore(given());
    assert.equal(await meta.get('fact'), undefined);
    await meta.set('fact', '1');
    await meta.set('fact', '2');
    assert.equal(await meta.get('fact'), '2');
    const claims = await Promise.all(['a', 'b', 'c'].map(name => meta.claim('claimed', name)));
    assert.deepEqual(claims.filter(Boolean).length, 1);
    assert.equal(await meta.get('claimed'), ['a', 'b', 'c'][claims.indexOf(true)]);
    await meta.remove('fact');
    assert.equal(await meta.get('fact'), undefined);
    assert.equal(await meta.get('claimed'), ['a', 'b', 'c'][claims.indexOf(true)], 'no other name is removed');
  });

  test('the first open creates the keys, later ones use them', async () => {
    const { records, directory } = await newcomer();
    const sealed = (await openIn(records, directory)).seal('secret', 'test');
    assert.equal((await openIn(records, directory)).open(sealed, 'test'), 'secret');
    directory.release();
  });

  test('concurrent opens of a new database share one data key', async () => {
    const { records, directory } = await newcomer();
    const key = createSecretText();
    const vaults = await Promise.all([1, 2, 3].map(() => openVault(createMetaStore(records), setting(key))));
    const sealed = vaults[0]!.seal('secret', 'test');
    for (const vault of vaults) assert.equal(vault.open(sealed, 'test'), 'secret');
    directory.release();
  });

  test('a wrong master key is rejected, and the sealed data is unchanged', async () => {
    const { records, directory } = await newcomer();
    const key = createSecretText();
    const sealed = (await openVault(createMetaStore(records), setting(key))).seal('secret', 'test');
    await assert.rejects(openVault(createMetaStore(records), setting(createSecretText())), {
      code: 'vault.wrong_master_key',
      message: /^The master key cannot decrypt the data key/,
    });
    await assert.rejects(openVault(createMetaStore(records), setting('too short')), { code: 'vault.weak_master_key' });
    assert.equal((await openVault(createMetaStore(records), setting(key))).open(sealed, 'test'), 'secret');
    directory.release();
  });

  test('a lost master key is reported, not replaced', async () => {
    const { records, directory } = await newcomer();
    await openIn(records, directory);
    const key = directory.read('master.key')!;
    directory.remove('master.key');
    await assert.rejects(openIn(records, directory), {
      code: 'vault.wrong_master_key',
      message: /is missing: put master\.key back .* or set GW_MASTER_KEY$/,
    });
    assert.equal(directory.read('master.key'), undefined);
    directory.write('master.key', key);
    await openIn(records, directory);
    directory.release();
  });

  test('after a rewrap only the new master key opens the vault, and it opens everything', async () => {
    const { records, directory } = await newcomer();
    const sealed = (await openIn(records, directory)).seal('secret', 'test');
    const old = directory.read('master.key')!;
    const next = createSecretText();
    await replaceMasterKey(directory, next, () => rewrapDataKey(records, createMetaStore(records), old, next));
    assert.equal(directory.read('master.key'), next);
    assert.equal(directory.read('master.key.next'), undefined);
    assert.equal((await openIn(records, directory)).open(sealed, 'test'), 'secret');
    await assert.rejects(openVault(createMetaStore(records), setting(old)), { code: 'vault.wrong_master_key' });
    directory.release();
  });

  test('a rewrap with a wrong key changes nothing', async () => {
    const { records, directory } = await newcomer();
    await openIn(records, directory);
    const wrong = rewrapDataKey(records, createMetaStore(records), createSecretText(), createSecretText());
    await assert.rejects(wrong, { code: 'vault.wrong_master_key' });
    await openIn(records, directory);
    directory.release();
  });

  test('a rewrap of a database without a data key is rejected', async () => {
    const { records, directory } = await newcomer();
    const absent = rewrapDataKey(records, createMetaStore(records), createSecretText(), createSecretText());
    await assert.rejects(absent, { code: 'vault.wrong_master_key' });
    assert.equal(await createMetaStore(records).get('data_key'), undefined);
    directory.release();
  });

  /** A rotation that ends at a given point, as a crash would end it. */
  async function interruptRotation(where: 'before the database' | 'after the database') {
    const { records, directory } = await newcomer();
    const sealed = (await openIn(records, directory)).seal('secret', 'test');
    const old = directory.read('master.key')!;
    const next = createSecretText();
    const crash = replaceMasterKey(directory, next, async () => {
      if (where === 'after the database') await rewrapDataKey(records, createMetaStore(records), old, next);
      throw new Error('crash');
    });
    await assert.rejects(crash, /crash/);
    assert.deepEqual([directory.read('master.key'), directory.read('master.key.next')], [old, next]);
    return { records, directory, sealed, old, next };
  }

  for (const where of ['before the database', 'after the database'] as const) {
    test(`a rotation interrupted ${where} was changed is resolved at the next open, and can be repeated`, async () => {
      const { records, directory, sealed, old, next } = await interruptRotation(where);
      assert.equal((await openIn(records, directory)).open(sealed, 'test'), 'secret');
      const fitting = where === 'before the database' ? old : next;
      assert.deepEqual([directory.read('master.key'), directory.read('master.key.next')], [fitting, undefined]);
      const third = createSecretText();
      await replaceMasterKey(directory, third, () => rewrapDataKey(records, createMetaStore(records), fitting, third));
      assert.equal((await openIn(records, directory)).open(sealed, 'test'), 'secret');
      directory.release();
    });
  }
});

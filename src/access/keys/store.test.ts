import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from '#base/settings.ts';
import { createDataKey, createVault } from '#base/vault.ts';
import { withRecords } from '../../../tests/lifecycle/databases.ts';
import { createKeyStore } from './store.ts';

withRecords('key store', given => {
  test('removing a key that is gone returns false and marks no change', async () => {
    const records = given();
    const keys = createKeyStore(records, createVault(createDataKey()), readSettings({ flags: {} }));
    const before = await records.revision();
    assert.equal(await keys.remove({ rowId: 'gone' }), false);
    assert.equal(await records.revision(), before);
  });
});

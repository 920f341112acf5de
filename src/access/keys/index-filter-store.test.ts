import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from '#base/settings.ts';
import { createDataKey, createVault } from '#base/vault.ts';
import { openRecords, type Records } from '#storage/records.ts';
import { onBothEngines } from '../../../tests/lifecycle/databases.ts';
import type { KeyListFilter } from './filter-store.ts';
import { hasKeyFilter } from './index-filter-store.ts';
import { listKeys } from './search-store.ts';
import { createKeyStore } from './store.ts';

const vault = createVault(createDataKey());
const openStore = (records: Records) => createKeyStore(records, vault, readSettings({ flags: {} }));
const nowMs = 1_750_000_000_000;
const nowSeconds = nowMs / 1000;

async function addPolicy(records: Records, orgId: string, id: string, state: string, apiIds: readonly string[]) {
  const row = { id: `row-${orgId}-${id}`, org_id: orgId, created_at: 1, policy_id: id, name: id, name_fold: id };
  await records.db
    .insertInto('policies')
    .values({ ...row, state, auth_type: 'authToken', body: '{}' })
    .execute();
  for (const api_id of apiIds)
    await records.db.insertInto('policy_apis').values({ org_id: orgId, api_id, policy: row.id }).execute();
}

/** One value of each list in turn, with cycles of different lengths: every pair of values meets. */
const pick = <T>(values: readonly T[], n: number): T => values[n % values.length]!;

async function fill(records: Records) {
  const keys = openStore(records);
  for (const orgId of ['a', 'b']) {
    await addPolicy(records, orgId, 'open', 'active', ['x', 'y']);
    await addPolicy(records, orgId, 'denied', 'deny', ['y']);
    await addPolicy(records, orgId, 'empty', 'active', []);
  }
  for (let n = 0; n < 120; n++) {
    const apis = pick([[], ['x'], ['x', 'y'], ['z'], ['y']], n);
    const user = n % 11 === 0 ? { basic_auth_data: { user: `User ${n}`, password: '' } } : {};
    await keys.create({
      rowId: `k${String(n).padStart(4, '0')}`,
      orgId: pick(['a', 'a', 'b'], n),
      kind: n % 11 === 0 ? 'basic' : n === 7 ? 'organisation' : 'token',
      keyId: `id-${n}`,
      createdAtMs: nowMs + n,
      key: {
        alias: pick(['', 'Mobile App', 'Web', 'Übung 100%'], n),
        expires: pick([0, nowSeconds - 10, nowSeconds, nowSeconds + 10, 0, 0, 0], n),
        is_inactive: n % 4 === 1,
        access_rights: Object.fromEntries(apis.map(api_id => [api_id, { api_id }])),
        ...user,
      },
      policyIds: pick(
        [[], [], ['open'], ['denied'], ['empty'], ['open', 'denied'], ['unknown']],
        n + Math.floor(n / 7),
      ),
    });
  }
  return keys;
}

const single: KeyListFilter[] = [
  ...['x', 'y', 'z', 'none'].map(apiId => ({ apiId })),
  ...['open', 'denied', 'empty', 'unknown', 'none'].map(policyId => ({ policyId })),
  ...(['active', 'inactive', 'expired'] as const).map(state => ({ state })),
  ...(['token', 'basic'] as const).map(kind => ({ kind })),
  ...['app', 'MOBILE', 'übung', '%', 'user 1', 'none'].map(text => ({ text })),
  ...[nowSeconds, nowSeconds + 11].map(expiresBefore => ({ expiresBefore })),
  ...[['x'], ['x', 'y'], ['y', 'z'], ['x', 'y', 'z'], ['none']].map(hiddenApis => ({ hiddenApis })),
];

onBothEngines('filters of key lists in memory', fresh => {
  test('every filter and pair of filters selects the keys that the database selects', async () => {
    const records = await openRecords((await fresh()).options);
    const keys = await fill(records);
    const page = { page: -1, size: 10, nowMs };
    const filters = [
      ...single,
      ...single.flatMap((one, n) => single.slice(n + 1).map(other => ({ ...one, ...other }))),
    ];
    let selected = 0;
    assert.equal(hasKeyFilter(page), false, 'a plain page needs no index');
    for (const filter of filters) {
      assert.equal(hasKeyFilter({ ...page, ...filter }), true);
      const expected = await listKeys(records, 'a', { ...page, ...filter });
      const found = await keys.page('a', { ...page, ...filter });
      const ids = found.items.map(({ rowId }) => rowId);
      assert.deepEqual(
        ids,
        expected.rows.map(({ id }) => id),
        JSON.stringify(filter),
      );
      assert.deepEqual([found.total, found.pages], [expected.total, 1]);
      selected += ids.length;
      const first = await keys.page('a', { ...page, page: 1, ...filter, q: 'id-' });
      assert.deepEqual([first.total, first.items.map(({ rowId }) => rowId)], [ids.length, ids.slice(0, 10)]);
    }
    assert.ok(selected > filters.length);
    await records.close();
  });

  test('a changed policy, key or right is in the next filtered list', async () => {
    const { options } = await fresh();
    const [records, other] = [await openRecords(options), await openRecords(options)];
    const [keys, otherKeys] = [await fill(records), openStore(other)];
    const list = async (filter: KeyListFilter) =>
      (await keys.page('a', { page: -1, size: 10, nowMs, ...filter })).items.map(({ rowId }) => rowId);
    const before = await list({ state: 'inactive', policyId: 'open' });
    await other.db.updateTable('policies').set({ state: 'deny' }).where('policy_id', '=', 'open').execute();
    const after = await list({ state: 'inactive', policyId: 'open' });
    assert.ok(after.length > before.length);
    const [rowId] = await list({ apiId: 'z' });
    const stored = (await otherKeys.findByRowId(rowId!))!;
    const next = { alias: 'Renamed', access_rights: { w: { api_id: 'w' } } };
    await otherKeys.change(stored, async () => ({ key: next, policyIds: ['empty'] }));
    assert.deepEqual(await list({ apiId: 'w' }), [rowId]);
    assert.deepEqual(await list({ text: 'renamed' }), [rowId]);
    assert.ok((await list({ policyId: 'empty' })).includes(rowId!));
    assert.ok(!(await list({ apiId: 'z' })).includes(rowId!));
    await records.close();
    await other.close();
  });
});

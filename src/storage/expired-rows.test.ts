import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withRecords } from '../../tests/lifecycle/databases.ts';
import { deleteExpiredRows } from './expired-rows.ts';
import type { Records } from './records.ts';

const toRow = (digest: string, expiresAtMs: number) => ({
  digest,
  purpose: 'reset',
  org_id: 'org',
  user_id: '',
  created_at: 0,
  expires_at: expiresAtMs,
  body: '',
});

async function listDigests({ db }: Records): Promise<string[]> {
  const rows = await db.selectFrom('sign_in_tokens').select('digest').orderBy('digest').execute();
  return rows.map(({ digest }) => digest);
}

withRecords('expired rows', given => {
  test('rows are deleted at their expiry, and later ones stay', async () => {
    const records = given();
    await records.db
      .insertInto('sign_in_tokens')
      .values([toRow('a', 999), toRow('b', 1000), toRow('c', 1001)])
      .execute();
    assert.equal(await deleteExpiredRows(records, 'sign_in_tokens', 1000), false);
    assert.deepEqual(await listDigests(records), ['c']);
  });

  test('a full batch of the oldest rows is deleted, and reported as incomplete', async () => {
    const records = given();
    await records.db.deleteFrom('sign_in_tokens').execute();
    const rows = Array.from({ length: 1001 }, (_, at) => toRow(`d${at}`, 2000 + at));
    for (let at = 0; at < rows.length; at += 100)
      await records.db
        .insertInto('sign_in_tokens')
        .values(rows.slice(at, at + 100))
        .execute();
    assert.equal(await deleteExpiredRows(records, 'sign_in_tokens', 10_000), true);
    assert.deepEqual(await listDigests(records), ['d1000']);
    assert.equal(await deleteExpiredRows(records, 'sign_in_tokens', 10_000), false);
    assert.deepEqual(await listDigests(records), []);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FoundKeyRow } from '#access/reader.ts';
import type { Reader } from '#storage/reader.ts';
import { noGrants } from '../../pipeline/tenant-grants.ts';
import { createReaderWithBackup } from './backup-reader.ts';
import type { ConfigBackup } from './config-backup.ts';

const limits = { id: 'limits', digest: 'd1' } as FoundKeyRow;
const certificate = { id: 'c1', org_id: 'one', body: '{}' };
const backup: ConfigBackup = {
  apis: [],
  certificates: [certificate],
  policies: [
    { org_id: 'one', body: '{"_id":"p1","id":"gold","name":"of one"}' },
    { org_id: 'two', body: '{"_id":"p2","id":"gold","name":"of two"}' },
  ],
  organisations: [
    { digest: 'd1', rows: [limits] },
    { digest: 'd2', rows: [] },
  ],
  grants: noGrants,
};

/** A database that records the table of each query. */
const asked: string[] = [];
const database: Reader = {
  rows(sql) {
    asked.push(/from (\w+)/.exec(sql)![1]!);
    return [];
  },
  close: async () => undefined,
};
const unavailable = { code: 'database.unavailable', status: 503 };

test('until the database is available the backup is read, and other lookups reject without a query', async () => {
  const { access, reader, switchToDatabase } = createReaderWithBackup(database, backup);
  assert.deepEqual(access.keys(['d1']), [limits]);
  assert.deepEqual(access.keys(['d2']), []);
  assert.deepEqual(access.certificates(['c1', 'c2']), [certificate]);
  const names = async (orgId: string, ...ids: string[]) => (await access.policies(orgId, ids)).map(({ name }) => name);
  assert.deepEqual(await names('one', 'gold', 'p1', 'silver'), ['of one']);
  assert.deepEqual(await names('two', 'p2', 'p1'), ['of two']);
  for (const rows of [
    access.keys(['a caller']),
    access.keys(['d1', 'a caller']),
    access.oauthTokens('token'),
    access.oauthClients('api', 'client'),
    reader.rows('select id from apis', []),
  ])
    await assert.rejects(Promise.resolve(rows), unavailable);
  assert.deepEqual(asked, []);

  switchToDatabase();
  await access.keys(['d1']);
  await access.policies('one', ['gold']);
  await access.certificates(['c1']);
  await reader.rows('select id from apis', []);
  assert.deepEqual(asked, ['keys', 'policies', 'certificates', 'apis']);
});

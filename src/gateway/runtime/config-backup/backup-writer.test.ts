import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { keyDigest } from '#access/keys/key-row.ts';
import { systemClock } from '#base/clock.ts';
import { createSecretText } from '#base/ids.ts';
import { createLog } from '#base/log.ts';
import { createDataKey, createVault, parseMasterKey, wrapDataKey } from '#base/vault.ts';
import { createMetaStore, dataKeyName } from '#storage/meta.ts';
import { openRecords, type Records, type Topic } from '#storage/records.ts';
import { testPostgres } from '../../../../tests/support/services/engines.ts';
import { readBackup } from './backup-file.ts';
import { startBackupWriter } from './backup-writer.ts';

const directory = mkdtempSync(join(tmpdir(), 'gw-known-'));
const path = join(directory, 'config-backup.sealed');
const dataKey = createDataKey();
const vault = createVault(dataKey);
const lines: string[] = [];
const log = createLog({ level: 'info', format: 'json', write: line => lines.push(line) });
let database: Awaited<ReturnType<typeof testPostgres>>;
let records: Records;
let master = createSecretText();

before(async () => {
  database = await testPostgres();
  records = await openRecords(database);
  await createMetaStore(records).set(dataKeyName, wrapDataKey(dataKey, parseMasterKey(master)));
  await records.write(async () => {
    for (let n = 0; n < 450; n++) await insertApi(`api-${n}`);
    const limits = { id: 'limits', org_id: 'org', created_at: 1, body: '{}', kind: 'organisation', key_hash: 'h' };
    await records.db
      .insertInto('keys')
      .values({ ...limits, sealed: '', digest: keyDigest(vault, 'org') } as never)
      .execute();
    records.markChanged('apis');
  });
});
after(async () => {
  await records?.close();
  await database?.drop();
  rmSync(directory, { recursive: true, force: true });
});

const insertApi = (id: string) =>
  records.db
    .insertInto('apis')
    .values({
      ...{ id, org_id: 'org', created_at: 1, body: JSON.stringify({ id }), api_id: id, kind: 'classic', name: id },
      ...{ name_fold: id, domain: '', listen_path: `/${id}`, updated_at: 1 },
    })
    .execute();
const touch = (topic: Topic, id: string) => records.write(async () => records.markChanged(topic, id));
const keeping = (mostBytes?: number) =>
  startBackupWriter({
    url: database.url,
    path,
    dataKey,
    clock: systemClock,
    log,
    ...(mostBytes ? { maxBytes: mostBytes } : {}),
  });
const text = () => readFileSync(path, 'utf8');

test('the config backup is written when its content changes, not for changes of keys', async () => {
  const keeper = await keeping();
  await keeper.look();
  let last = text();
  const detectChange = async () => {
    await keeper.look();
    const was = last;
    last = text();
    return last !== was;
  };
  assert.equal(await detectChange(), false);
  await touch('keys', 'some key');
  await touch('oauth', 'some client');
  assert.equal(await detectChange(), false);
  for (const topic of ['apis', 'policies', 'certificates', 'organisations'] as const) {
    await touch(topic, 'some');
    assert.equal(await detectChange(), true, topic);
  }
  await touch('keys', keyDigest(vault, 'org'));
  assert.equal(await detectChange(), true, 'limits of an organisation');
  master = createSecretText();
  await createMetaStore(records).set(dataKeyName, wrapDataKey(dataKey, parseMasterKey(master)));
  assert.equal(await detectChange(), true, 'another master key');
  await keeper.close();

  const { backup } = readBackup(text(), database.url, ['a master key of before, long enough', master]);
  assert.equal(backup.apis.length, 450);
  assert.deepEqual(
    backup.organisations.map(({ digest, rows }) => [digest, rows.map(row => row.id)]),
    [[keyDigest(vault, 'org'), ['limits']]],
  );
});

test('changes before close are in the config backup', async () => {
  const keeper = await keeping();
  await records.write(async () => {
    await insertApi('last');
    records.markChanged('apis', 'last');
  });
  await keeper.close();
  assert.equal(readBackup(text(), database.url, [master]).backup.apis.length, 451);
});

test('a config backup that grows too large is removed', async () => {
  const keeper = await keeping(10_000);
  await keeper.look();
  await keeper.close();
  assert.ok(!existsSync(path) && !existsSync(`${path}.new`));
  assert.equal(lines.filter(line => line.includes('config backup too large, removed')).length, 1);
});

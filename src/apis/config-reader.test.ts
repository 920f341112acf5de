import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createDataKey, createVault } from '#base/vault.ts';
import { pruneChanges } from '#storage/change-log.ts';
import { openReader } from '#storage/open-reader.ts';
import type { Reader } from '#storage/reader.ts';
import { openRecords, type Records } from '#storage/records.ts';
import { onBothEngines } from '../../tests/lifecycle/databases.ts';
import { type ConfigChanges, createConfigReader } from './config-reader.ts';

const vault = createVault(createDataKey());

onBothEngines('config changes', fresh => {
  let records: Records;
  let reader: Reader;
  before(async () => {
    const { options } = await fresh();
    records = await openRecords(options);
    reader = await openReader(options);
  });
  after(async () => {
    await reader?.close();
    await records?.close();
  });
  const touch = (...ids: string[]) =>
    records.write(async () => {
      for (const id of ids) records.markChanged('apis', id);
    });
  const summarize = ({ revision, changes }: ConfigChanges) => [revision, changes?.map(({ id }) => id)];

  test('without changes the list is empty at revision 0', async () => {
    assert.deepEqual(summarize(await createConfigReader(reader, vault).changesSince(0)), [0, []]);
  });

  test('changes are returned in order from a revision', async () => {
    await touch('a', 'b');
    await touch('c');
    const store = createConfigReader(reader, vault);
    assert.deepEqual(summarize(await store.changesSince(0)), [2, ['a', 'b', 'c']]);
    assert.deepEqual(summarize(await store.changesSince(1)), [2, ['c']]);
    assert.deepEqual(summarize(await store.changesSince(2)), [2, []]);
  });

  test('a change committed during a read is returned by the next read, never skipped', async () => {
    const busy: Reader = {
      ...reader,
      async rows<R>(sql: string, values: readonly (string | number)[]) {
        const found = await reader.rows<R>(sql, values);
        await touch(`d${(await records.revision()) + 1}`);
        return found;
      },
    };
    const begun = await records.revision();
    const store = createConfigReader(busy, vault);
    const seen: string[] = [];
    let revision = begun;
    for (let n = 0; n < 3; n++) {
      const found = await store.changesSince(revision);
      revision = found.revision;
      seen.push(...found.changes!.map(({ id }) => id));
    }
    const rest = await createConfigReader(reader, vault).changesSince(revision);
    seen.push(...rest.changes!.map(({ id }) => id));
    const all = Array.from({ length: (await records.revision()) - begun }, (_, at) => `d${begun + 1 + at}`);
    assert.deepEqual(seen, all);
  });

  test('after pruning, a reader at the edge of the log continues and one behind it reloads everything', async () => {
    for (let n = 0; n < 12; n++) await touch('e', 'f');
    const last = await records.revision();
    assert.equal(await pruneChanges(records), 0, 'the default bound leaves a log of a few revisions');
    assert.equal(await pruneChanges(records, 5, 3), last - 5);
    assert.equal(await pruneChanges(records, 5, 3), 0);
    const store = createConfigReader(reader, vault);
    const edge = last - 4;
    assert.deepEqual(summarize(await store.changesSince(last)), [last, []]);
    assert.equal((await store.changesSince(edge)).changes?.length, 8);
    for (const behind of [edge - 1, edge - 2, 0])
      assert.deepEqual(await store.changesSince(behind), { revision: last, changes: undefined });
    await touch('g');
    assert.deepEqual(summarize(await store.changesSince(last)), [last + 1, ['g']]);
  });

  test('a reader ahead of the database reloads everything: the database was restored from a backup', async () => {
    const last = await records.revision();
    assert.deepEqual(await createConfigReader(reader, vault).changesSince(last + 7), {
      revision: last,
      changes: undefined,
    });
  });
});

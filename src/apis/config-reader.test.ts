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

onBothEngines('what threads read of changes', fresh => {
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
  const shown = ({ revision, changes }: ConfigChanges) => [revision, changes?.map(({ id }) => id)];

  test('before anything changed there is nothing to read', async () => {
    assert.deepEqual(shown(await createConfigReader(reader, vault).changesSince(0)), [0, []]);
  });

  test('changes come in their order, from the revision one has', async () => {
    await touch('a', 'b');
    await touch('c');
    const store = createConfigReader(reader, vault);
    assert.deepEqual(shown(await store.changesSince(0)), [2, ['a', 'b', 'c']]);
    assert.deepEqual(shown(await store.changesSince(1)), [2, ['c']]);
    assert.deepEqual(shown(await store.changesSince(2)), [2, []]);
  });

  test('what is committed while somebody reads is read the next time, and never passed over', async () => {
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

  test('the log keeps its newest revisions; who is at its edge reads on, who is behind begins anew', async () => {
    for (let n = 0; n < 12; n++) await touch('e', 'f');
    const last = await records.revision();
    assert.equal(await pruneChanges(records, 5, 3), last - 5);
    assert.equal(await pruneChanges(records, 5, 3), 0);
    const store = createConfigReader(reader, vault);
    const edge = last - 4;
    assert.deepEqual(shown(await store.changesSince(last)), [last, []]);
    assert.equal((await store.changesSince(edge)).changes?.length, 8);
    for (const behind of [edge - 1, edge - 2, 0])
      assert.deepEqual(await store.changesSince(behind), { revision: last, changes: undefined });
    await touch('g');
    assert.deepEqual(shown(await store.changesSince(last)), [last + 1, ['g']]);
  });

  test('whoever knows more than the database begins anew: it was put back to an earlier state', async () => {
    const last = await records.revision();
    assert.deepEqual(await createConfigReader(reader, vault).changesSince(last + 7), {
      revision: last,
      changes: undefined,
    });
  });
});

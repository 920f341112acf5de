import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines } from '../../tests/lifecycle/databases.ts';
import { eventually } from '../../tests/support/upstream.ts';
import { maxLogRevisions, pruneChanges, startChangeLogPruning } from './change-log.ts';
import { openRecords, type Records } from './records.ts';

const countRows = async (records: Records) =>
  (await records.db.selectFrom('changes').select('revision').execute()).length;

onBothEngines('change log', fresh => {
  async function openWithChanges(count: number): Promise<Records> {
    const records = await openRecords((await fresh()).options);
    for (let n = 0; n < count; n++) await records.write(async () => records.markChanged('keys', String(n)));
    return records;
  }

  test('pruning an empty log deletes nothing, and the default batch deletes all that is beyond the bound', async () => {
    const records = await openWithChanges(0);
    assert.equal(await pruneChanges(records), 0);
    for (let n = 0; n < 5; n++) await records.write(async () => records.markChanged('keys', String(n)));
    assert.equal(await pruneChanges(records, 5), 0);
    assert.equal(await pruneChanges(records, 2), 3);
    assert.equal(await countRows(records), 2);
    await records.close();
  });

  test('the log is pruned at the start and then every ten minutes, to its bound', async ({ mock }) => {
    const records = await openWithChanges(3);
    await records.write(async () => {
      await records.db
        .updateTable('meta')
        .set({ value: String(maxLogRevisions + 2) })
        .where('name', '=', 'revision')
        .execute();
    });
    mock.timers.enable({ apis: ['setInterval'] });
    const pruning = startChangeLogPruning(records, error => assert.fail(error));
    await eventually(async () => assert.equal(await countRows(records), 1));
    await records.db.updateTable('meta').set({ value: '30000' }).where('name', '=', 'revision').execute();
    mock.timers.tick(599_999);
    assert.equal(await countRows(records), 1);
    mock.timers.tick(1);
    await eventually(async () => assert.equal(await countRows(records), 0));
    mock.timers.reset();
    await pruning.close();
    await records.close();
  });
});

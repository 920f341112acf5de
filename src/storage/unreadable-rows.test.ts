import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { problems } from '#base/problems.ts';
import { vaultProblem } from '#base/vault.ts';
import { collectUnreadableRows, openRow, openRows, type UnreadableRows } from './unreadable-rows.ts';

const sealed = vaultProblem.cannot_open({ detail: { purpose: 'test' } });
const other = problems('other', { odd: { status: 500, message: 'Odd' } }).odd();
const bug = new TypeError('bug');

/** Opens rows: an error is thrown, a number is read. */
const open = (row: number | Error): number => {
  if (row instanceof Error) throw row;
  return row;
};
const idOf = (row: number | Error) => (row instanceof Error ? row.name : row);

describe('unreadable rows', () => {
  test('a partial list leaves out rows sealed with another key, with their id and the reason', async () => {
    const unreadable: UnreadableRows = new Map();
    const rows = await collectUnreadableRows(unreadable, async () => openRows([1, sealed, 2], open, idOf));
    assert.deepEqual(rows, [1, 2]);
    assert.deepEqual([...unreadable], [['Problem', sealed.message]]);
  });

  test('any other error fails a partial list', async () => {
    for (const error of [other, bug]) {
      const unreadable: UnreadableRows = new Map();
      const work = collectUnreadableRows(unreadable, async () => openRows([1, error], open, idOf));
      await assert.rejects(work, thrown => thrown === error);
      assert.equal(unreadable.size, 0);
    }
  });

  test('elsewhere a row that cannot be opened is an error', () => {
    for (const error of [sealed, other, bug])
      assert.throws(
        () => openRow(error, open, idOf),
        thrown => thrown === error,
      );
  });
});

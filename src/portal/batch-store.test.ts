import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toLengthBatches } from './batch-store.ts';

const rowsOf = (lengths: readonly number[]) => lengths.map((length, place) => ({ id: place + 1, length }));

describe('batches of documents', () => {
  test('a batch has at most the characters of the bound, in order; a longer document is alone', () => {
    assert.deepEqual([...toLengthBatches(rowsOf([4, 6, 1, 30, 2, 2]), 10)], [[1, 2], [3], [4], [5, 6]]);
    assert.deepEqual([...toLengthBatches([], 10)], []);
  });

  test('a batch has at most 1,000 documents', () => {
    const sizes = [...toLengthBatches(rowsOf(Array.from({ length: 2001 }, () => 1)))].map(batch => batch.length);
    assert.deepEqual(sizes, [1000, 1000, 1]);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { padToPowerOfTwo, splitIntoBatches } from './insert-batches.ts';

test('rows are split into few sizes, in order, each within the bound', () => {
  const sizes = new Set<number>();
  for (let count = 0; count <= 1100; count++) {
    const rows = Array.from({ length: count }, (_, n) => n);
    const batches = [...splitIntoBatches(rows, 500)];
    assert.deepEqual(batches.flat(), rows);
    for (const { length } of batches) sizes.add(length);
  }
  assert.deepEqual(
    [...sizes].toSorted((a, b) => a - b),
    [1, 2, 4, 8, 16, 32, 64, 128, 256],
  );
  assert.deepEqual([...splitIntoBatches([1, 2, 3], 1)], [[1], [2], [3]]);
});

test('a list is padded to a power of two with its last value', () => {
  assert.deepEqual(padToPowerOfTwo([]), []);
  assert.deepEqual(padToPowerOfTwo([7]), [7]);
  assert.deepEqual(padToPowerOfTwo([1, 2, 3, 4, 5]), [1, 2, 3, 4, 5, 5, 5, 5]);
});

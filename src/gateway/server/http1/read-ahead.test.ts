import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ReadAhead } from './read-ahead.ts';

describe('read-ahead of pipelined requests', () => {
  test('it is full beyond 64 KiB, with the memory of each read counted, and empty after its bytes were taken', () => {
    const readAhead = new ReadAhead();
    const [first, second] = [Buffer.alloc(65_536 - 2 * 256 - 1, 'a'), Buffer.from('b')];
    for (let round = 0; round < 2; round++) {
      readAhead.hold(first);
      readAhead.hold(second);
      assert.equal(readAhead.isFull, false);
      assert.equal(readAhead.byteLength, first.length + 1);
      readAhead.hold(Buffer.alloc(0));
      assert.equal(readAhead.isFull, true);
      assert.deepEqual(readAhead.take(), Buffer.concat([first, second]));
      assert.deepEqual([readAhead.isFull, readAhead.byteLength], [false, 0]);
    }
  });
});

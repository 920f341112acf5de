import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WriteBuffers } from './write-buffers.ts';

describe('write buffers', () => {
  test('a released buffer is used again, one in use is not', () => {
    const buffers = new WriteBuffers();
    const one = buffers.join('head', Buffer.alloc(50_000, 'x'), '\r\n');
    const two = buffers.join('', Buffer.alloc(50_000, 'y'), '');
    assert.notEqual(one.buffer, two.buffer);
    assert.equal(one.toString('latin1'), `head${'x'.repeat(50_000)}\r\n`);
    assert.equal(two.toString('latin1'), 'y'.repeat(50_000));
    buffers.release(one);
    assert.equal(buffers.join('caf\xe9', Buffer.from('z'), '').buffer, one.buffer);
    assert.equal(one.subarray(0, 5).toString('latin1'), 'caf\xe9z');
  });

  test('bytes beyond the size of a buffer get memory of their own', () => {
    const buffers = new WriteBuffers();
    const large = buffers.join('a', Buffer.alloc(200_000, 'b'), 'c');
    assert.equal(large.length, 200_002);
    buffers.release(large);
    assert.notEqual(buffers.join('', Buffer.from('d'), '').buffer, large.buffer);
  });

  test('a write that fills a buffer exactly uses a released one', () => {
    const buffers = new WriteBuffers();
    const fill = () => buffers.join('ab', Buffer.alloc(65_536 + 32_768 - 4), 'cd');
    const full = fill();
    buffers.release(full);
    assert.equal(fill().buffer, full.buffer);
  });

  test('a bounded number of released buffers is kept', () => {
    const buffers = new WriteBuffers();
    const used = Array.from({ length: 20 }, () => buffers.join('', Buffer.from('x'), ''));
    for (const buffer of used) buffers.release(buffer);
    const again = new Set(used.map(() => buffers.join('', Buffer.from('x'), '').buffer));
    assert.equal(used.filter(({ buffer }) => again.has(buffer)).length, 8);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyBuffer } from './body-buffer.ts';

test('a body buffer returns its chunks in order, at any time', () => {
  const gathered = new BodyBuffer();
  assert.equal(gathered.bytes().length, 0);
  let expected = '';
  for (let at = 0; at < 2500; at++) {
    const part = 'x'.repeat(at % 3) + at;
    expected += part;
    gathered.add(Buffer.from(part));
    if (at % 499 === 0) assert.equal(gathered.bytes().toString(), expected);
  }
  assert.equal(gathered.bytes().toString(), expected);
});

test('a body buffer compacts one-byte chunks', () => {
  const gathered = new BodyBuffer();
  const bytes = Buffer.alloc(100_000, 'a');
  for (let at = 0; at < bytes.length; at++) gathered.add(bytes.subarray(at, at + 1));
  assert.ok(gathered.chunkCount <= 1100, String(gathered.chunkCount));
  assert.ok(gathered.bytes().equals(bytes));
});

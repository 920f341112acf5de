import assert from 'node:assert/strict';
import { test } from 'node:test';
import { constantTimeEqual } from './constant-time.ts';

test('equal secrets compare as equal, whatever their length', () => {
  for (const text of ['', 'a', 'päss', 'x'.repeat(10_000)]) assert.equal(constantTimeEqual(text, `${text}`), true);
});

test('secrets that differ anywhere, or in length only, compare as different', () => {
  for (const [a, b] of [
    ['secret', 'secreT'],
    ['secret', 'secret '],
    ['', 'secret'],
    ['secret', ''],
    ['secret', 'secret\0'],
  ] as const) {
    assert.equal(constantTimeEqual(a, b), false);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trimTrailingSlashes } from './trim-slashes.ts';

test('trailing slashes are trimmed, others stay', () => {
  for (const [given, left] of [
    ['', ''],
    ['/', ''],
    ['a//b///', 'a//b'],
    ['a', 'a'],
  ] as const)
    assert.equal(trimTrailingSlashes(given), left);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseUpstreamAddress } from './load-balancer.ts';

/** An upstream address of so many characters. */
const addressOf = (length: number) => 'http://upstream.example/'.padEnd(length, 'x');

test('a parsed upstream address is cached up to 256 characters; longer ones, which requests can fill, are not', () => {
  for (const [length, isCached] of [
    [30, true],
    [256, true],
    [257, false],
    [5000, false],
  ] as const) {
    const [first, second] = [parseUpstreamAddress(addressOf(length)), parseUpstreamAddress(addressOf(length))];
    assert.equal(first === second, isCached, `${length} characters`);
    assert.deepEqual(first, second);
    assert.equal(first.path.length, length - 'http://upstream.example'.length);
  }
});

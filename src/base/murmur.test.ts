import assert from 'node:assert/strict';
import { test } from 'node:test';
import { murmur32, murmur64, murmur128 } from './murmur.ts';

const fox = 'The quick brown fox jumps over the lazy dog.';

for (const [text, h32, h128] of [
  ['', '00000000', '00000000000000000000000000000000'],
  ['hello', '248bfa47', 'cbd8a7b341bd9b025b1e906a48ae1d19'],
  ['hello, world', '149bbb7f', '342fac623a5ebc8e4cdcbc079642414d'],
  ['19 Jan 2038 at 3:14:07 AM', 'e31e8a70', 'b89e5988b737affc664fc2950231b2cb'],
  [fox, 'd5c48bfc', 'cd99481f9ee902c9695da1a38987b6e7'],
] as const) {
  test(`${JSON.stringify(text)} hashes to the published values`, () => {
    assert.equal(murmur32(text), h32);
    assert.equal(murmur128(text), h128);
    assert.equal(murmur64(text), h128.slice(0, 16));
  });
}

test('the seed of the 32-bit hash counts, as published', () => {
  assert.equal(murmur32('hello', 1), 'bb4abcad');
  assert.equal(murmur32('', 1), '514e28b7');
  assert.equal(murmur32('', 0xffffffff), '81f16f39');
});

test('text is hashed as UTF-8', () => {
  assert.notEqual(murmur32('ä'), murmur32('a'));
  assert.equal(murmur32('π'.repeat(8), 0x9747b28c), 'd58063c1');
});

test('every tail length gives a different hash of full width', () => {
  for (const [hash, width] of [
    [murmur32, 8],
    [murmur64, 16],
    [murmur128, 32],
  ] as const) {
    const seen = Array.from({ length: 49 }, (_, length) => hash('x'.repeat(length)));
    assert.equal(new Set(seen).size, 49);
    assert.ok(seen.every(each => each.length === width));
  }
});

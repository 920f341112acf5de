import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createNameHash } from './name-hash.ts';

const mask = 0xffffffffn;
const rotate = (value: bigint, bits: bigint) => ((value << bits) | (value >> (32n - bits))) & mask;

/** HalfSipHash-1-3 with a 64-bit result, as its authors publish it, on unsigned numbers. */
function computeReference(key: readonly [number, number], words: readonly number[]): [number, number] {
  const [key0, key1] = key.map(half => BigInt(half) & mask) as [bigint, bigint];
  let [v0, v1, v2, v3] = [key0, key1 ^ 0xeen, key0 ^ 0x6c796765n, key1 ^ 0x74656462n];
  const runRounds = (count: number) => {
    for (let round = 0; round < count; round++) {
      v0 = (v0 + v1) & mask;
      v1 = rotate(v1, 5n) ^ v0;
      v0 = rotate(v0, 16n);
      v2 = (v2 + v3) & mask;
      v3 = rotate(v3, 8n) ^ v2;
      v0 = (v0 + v3) & mask;
      v3 = rotate(v3, 7n) ^ v0;
      v2 = (v2 + v1) & mask;
      v1 = rotate(v1, 13n) ^ v2;
      v2 = rotate(v2, 16n);
    }
  };
  for (const word of words.map(it => BigInt(it) & mask)) {
    v3 ^= word;
    runRounds(1);
    v0 ^= word;
  }
  v2 ^= 0xeen;
  runRounds(3);
  const low = v1 ^ v3;
  v1 ^= 0xddn;
  runRounds(3);
  return [Number(BigInt.asIntN(32, low)), Number(BigInt.asIntN(32, v1 ^ v3))];
}

/** Two UTF-16 units per word; the last word has the length and the unit that is left, if any. */
function toWords(name: string): number[] {
  const units = [...Array(name.length).keys()].map(index => name.charCodeAt(index));
  const pairs = Math.floor(units.length / 2);
  const words = Array.from({ length: pairs }, (_, pair) => units[2 * pair]! | (units[2 * pair + 1]! << 16));
  return [...words, (units[2 * pairs] ?? 0) | (units.length << 16)];
}

describe('name hash', () => {
  const names = ['', 'a', 'ab', 'abc', 'rate:key', 'quota:org/é\u{1F600}', '\0', '\0\0', 'x'.repeat(101)];

  test('it is HalfSipHash-1-3 of the name under the key', () => {
    const keys: [number, number][] = [
      [0, 0],
      [1, -1],
      [0x01234567, -0x76543211],
    ];
    for (const key of keys) {
      const { hash, halves } = createNameHash(...key);
      for (const name of names) {
        hash(name);
        assert.deepEqual([...halves], computeReference(key, toWords(name)), JSON.stringify([key, name]));
      }
    }
  });

  test('names that differ by a trailing zero unit have different hashes', () => {
    const { hash, halves } = createNameHash(7, 9);
    const hashes = ['', '\0', '\0\0', '\0\0\0'].map(name => {
      hash(name);
      return halves.join();
    });
    assert.equal(new Set(hashes).size, hashes.length);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ShardedMap } from './sharded-map.ts';

interface Entry {
  readonly value: number;
}

const change = fc.record({ key: fc.nat(200).map(String), value: fc.option(fc.nat(9)), copies: fc.boolean() });

describe('Sharded map', () => {
  test('after any changes and copies it equals a plain map, and other copies stay as they were', () => {
    fc.assert(
      fc.property(fc.nat(300), fc.array(change, { maxLength: 200 }), (size, changes) => {
        const initial = Array.from({ length: size }, (_, key): [string, Entry] => [String(key), { value: key }]);
        let sharded = new ShardedMap<Entry>(initial);
        let plain = new Map(initial);
        const others: [ShardedMap<Entry>, Map<string, Entry>][] = [];
        for (const { key, value, copies } of changes) {
          if (copies) {
            others.push([sharded, plain]);
            sharded = sharded.copy();
            plain = new Map(plain);
          }
          if (value === null) sharded.delete(key);
          else sharded.set(key, { value });
          if (value === null) plain.delete(key);
          else plain.set(key, { value });
          assert.deepEqual(sharded.get(key), plain.get(key));
        }
        for (const [map, expected] of [...others, [sharded, plain] as const]) {
          assert.equal(map.size, expected.size);
          assert.deepEqual(new Map(map), expected);
          assert.deepEqual(new Set(map.keys()), new Set(expected.keys()));
          assert.equal([...map.values()].length, expected.size);
        }
      }),
    );
  });

  test('a map that was copied can be changed without a change of its copy', () => {
    const map = new ShardedMap<Entry>([['a', { value: 1 }]]);
    map.set('b', { value: 2 });
    const copy = map.copy();
    map.set('a', { value: 3 });
    map.delete('b');
    assert.deepEqual(
      [new Map(copy), new Map(map)],
      [
        new Map([
          ['a', { value: 1 }],
          ['b', { value: 2 }],
        ]),
        new Map([['a', { value: 3 }]]),
      ],
    );
  });
});

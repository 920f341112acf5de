import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { LayeredMap } from './layered-map.ts';

const change = fc.record({ key: fc.nat(60), value: fc.option(fc.nat(9)), copies: fc.boolean() });

describe('Layered map', () => {
  test('after any changes and copies it equals a plain map, and earlier copies stay as they were', () => {
    fc.assert(
      fc.property(fc.nat(50), fc.array(change, { maxLength: 200 }), (size, changes) => {
        const initial = Array.from({ length: size }, (_, key) => [key, { value: key }] as const);
        let layered = new LayeredMap<number, { value: number }>(new Map(initial));
        let plain = new Map<number, { value: number }>(initial);
        const earlier: [LayeredMap<number, { value: number }>, Map<number, { value: number }>][] = [];
        for (const { key, value, copies } of changes) {
          if (copies) {
            earlier.push([layered, plain]);
            layered = layered.copy();
            plain = new Map(plain);
          }
          if (value === null) layered.delete(key);
          else layered.set(key, { value });
          if (value === null) plain.delete(key);
          else plain.set(key, { value });
          assert.deepEqual(layered.get(key), plain.get(key));
        }
        for (const [map, expected] of [...earlier, [layered, plain] as const]) {
          assert.equal(map.size, expected.size);
          assert.deepEqual(new Map(map), expected);
          assert.deepEqual(new Set(map.keys()), new Set(expected.keys()));
          assert.equal([...map.values()].length, expected.size);
        }
      }),
    );
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Lru } from './lru.ts';

test('an LRU cache never exceeds its bound', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 20 }), fc.array(fc.integer({ min: 0, max: 50 })), (most, keys) => {
      const kept = new Lru<number, string>(most);
      for (const key of keys) {
        if (kept.get(key) === undefined) kept.set(key, String(key));
        assert.ok(kept.size <= most);
        assert.equal(kept.get(key), String(key));
      }
    }),
  );
});

test('entries that are read stay, others are evicted', () => {
  const kept = new Lru<string, number>(10);
  kept.set('wanted', 1);
  for (let n = 0; n < 100; n++) {
    kept.set(`other ${n}`, n);
    assert.equal(kept.get('wanted'), 1);
  }
  assert.equal(kept.get('other 0'), undefined);
});

test('a deleted entry is removed from both generations', () => {
  const kept = new Lru<string, number>(4);
  for (const name of ['a', 'b', 'c']) kept.set(name, name.length);
  kept.set('a', 2);
  assert.equal(kept.delete('a'), true);
  assert.equal(kept.get('a'), undefined);
  kept.deleteWhere(value => value === 1);
  assert.equal(kept.size, 0);
});

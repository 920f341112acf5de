import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { BoundedMap } from './bounded-map.ts';

describe('bounded map', () => {
  test('a new entry beyond the bound evicts the oldest one and reports it', () => {
    const evicted: string[] = [];
    const map = new BoundedMap<string, number>(2, (value, key) => evicted.push(`${key}=${value}`));
    map.set('a', 1);
    map.set('b', 2);
    map.set('c', 3);
    assert.deepEqual(evicted, ['a=1']);
    assert.deepEqual([...map.values()], [2, 3]);
    assert.equal(map.get('a'), undefined);
  });

  test('an entry that was touched or set again outlives older ones; one that was only read does not', () => {
    const map = new BoundedMap<string, number>(3);
    for (const name of ['read', 'touched', 'set']) map.set(name, 1);
    assert.equal(map.get('read'), 1);
    assert.equal(map.touch('touched'), 1);
    map.set('set', 2);
    map.set('new', 1);
    assert.deepEqual([map.get('read'), map.get('touched'), map.get('set')], [undefined, 1, 2]);
    assert.equal(map.touch('read'), undefined);
  });

  test('removed entries are not reported as evicted', () => {
    const map = new BoundedMap<string, number>(2, () => assert.fail('evicted'));
    map.set('a', 1);
    assert.equal(map.delete('a'), true);
    assert.equal(map.delete('a'), false);
    map.set('b', 1);
    map.set('c', 1);
    map.clear();
    assert.equal(map.size, 0);
  });

  test('it holds the entries that were set last, up to the bound', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.array(fc.integer({ min: 0, max: 12 })), (maxEntries, keys) => {
        const map = new BoundedMap<number, number>(maxEntries);
        for (const key of keys) map.set(key, key);
        const recent = [...new Set(keys.toReversed())].slice(0, maxEntries).reverse();
        assert.deepEqual([...map.values()], recent);
      }),
    );
  });
});

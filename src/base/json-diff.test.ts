import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { diffJson } from './json-diff.ts';

describe('JSON diff', () => {
  const changes = (before: unknown, after: unknown) => diffJson(before, after, 100).changes;

  test('equal values have no differences', () => {
    fc.assert(fc.property(fc.jsonValue(), value => changes(value, structuredClone(value)).length === 0));
  });

  test('a change is at the deepest common place, with an absent side left out', () => {
    assert.deepEqual(changes({ a: { b: 1, c: 2 } }, { a: { b: 3, d: null } }), [
      { path: '/a/b', before: 1, after: 3 },
      { path: '/a/c', before: 2 },
      { path: '/a/d', after: null },
    ]);
    assert.deepEqual(changes([1, 2], [1, 3, 4]), [
      { path: '/1', before: 2, after: 3 },
      { path: '/2', after: 4 },
    ]);
    assert.deepEqual(changes({ a: [1] }, { a: { 0: 1 } }), [{ path: '/a', before: [1], after: { 0: 1 } }]);
    assert.deepEqual(changes(1, 'x'), [{ path: '', before: 1, after: 'x' }]);
  });

  test('names are escaped as JSON Pointer requires, and members of the prototype are no members', () => {
    assert.deepEqual(changes({}, { 'a/b~c': 1 }), [{ path: '/a~1b~0c', after: 1 }]);
    assert.deepEqual(changes({}, { constructor: 1 }), [{ path: '/constructor', after: 1 }]);
  });

  test('differences beyond the bound are left out and reported', () => {
    const { changes: found, isTruncated } = diffJson({}, { a: 1, b: 2, c: 3 }, 2);
    assert.deepEqual([found.length, isTruncated], [2, true]);
    assert.equal(diffJson({}, { a: 1, b: 2 }, 2).isTruncated, false);
  });

  test('shown values replace compared ones, also where they are equal', () => {
    const { changes: found } = diffJson({ a: 's1' }, { a: 's2' }, 9, { before: { a: '***' }, after: { a: '***' } });
    assert.deepEqual(found, [{ path: '/a', before: '***', after: '***' }]);
  });

  test('the members that a diff does not name are equal', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.integer()), fc.dictionary(fc.string(), fc.integer()), (one, other) => {
        const named = new Set(changes(one, other).map(({ path }) => path));
        const names = new Set([...Object.keys(one), ...Object.keys(other)]);
        for (const name of names) {
          const path = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
          assert.equal(named.has(path), !Object.is(one[name], other[name]));
        }
      }),
    );
  });
});

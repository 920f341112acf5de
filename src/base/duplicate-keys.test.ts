import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findDuplicateMember, hasDuplicateKeys } from './duplicate-keys.ts';

test('a duplicate member name is found at any depth and in any escaping', () => {
  for (const text of [
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '[{"b":{"a":[],"c":1,"a":{}}}]',
    '{"a":{"x":1},"b":"}","a":1}',
    '{"__proto__":1,"__proto__":2}',
    '{"":1,"":2}',
  ])
    assert.ok(hasDuplicateKeys(text), text);
});

test('a duplicate member is named with its path', () => {
  assert.deepEqual(findDuplicateMember('{"a":[1,[2],{"b c":{"d":1,"d":2}}]}'), ['a', 2, 'b c', 'd']);
  assert.deepEqual(findDuplicateMember('[{},{"a":1,"\\u0061":2}]'), [1, 'a']);
  assert.equal(findDuplicateMember('{"a":{"a":1},"b":[{"a":1},{"a":2}]}'), undefined);
});

test('output of JSON.stringify has no duplicate names', () => {
  fc.assert(fc.property(fc.json(), text => !hasDuplicateKeys(JSON.stringify(JSON.parse(text)))));
  for (const text of ['{"a":"a","b":["a","a"],"c":{"a":1}}', '[{"a":1},{"a":2}]', '"a"', '{"a":"\\"a\\":1"}'])
    assert.ok(!hasDuplicateKeys(text), text);
});

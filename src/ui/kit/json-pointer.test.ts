import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePointer, toPointer } from './json-pointer.ts';

test('slashes and tildes of names are escaped in a pointer, and read back', () => {
  assert.equal(toPointer(['paths', '/a~b', 0]), '/paths/~1a~0b/0');
  assert.deepEqual(parsePointer('/paths/~1a~0b/0'), ['paths', '/a~b', '0']);
  assert.deepEqual(parsePointer('/~01'), ['~1']);
  assert.deepEqual([toPointer([]), parsePointer('')], ['', []]);
});

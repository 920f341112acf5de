import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageQuery } from './shapes.ts';

const read = (query: object) => pageQuery.parse(query).p;

test('no page, or an empty one, is the first', () => {
  assert.equal(read({}), 1);
  assert.equal(read({ p: '' }), 1);
});

test('any number below 0 asks for everything, however small', () => {
  for (const p of ['-1', '-5', '-99999999999']) assert.equal(read({ p }), -1);
});

test('a page beyond every list is past the end, not a mistake', () => {
  assert.equal(read({ p: '1e9' }), 1_000_000_000);
  assert.equal(read({ p: '900000000000' }), 1_000_000_000);
});

test('what is no whole number is refused', () => {
  for (const p of ['abc', '1.5', 'NaN', 'Infinity', '1,2', ['1', '2']])
    assert.equal(pageQuery.safeParse({ p }).success, false, String(p));
});

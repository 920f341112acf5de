import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageQuery } from './shapes.ts';

const read = (query: object) => pageQuery.parse(query).p;

test('an absent or empty page number is the first page', () => {
  assert.equal(read({}), 1);
  assert.equal(read({ p: '' }), 1);
});

test('a negative page number means unpaged, however small', () => {
  for (const p of ['-1', '-5', '-99999999999']) assert.equal(read({ p }), -1);
});

test('a page number beyond the bound is clamped, not an error', () => {
  assert.equal(read({ p: '1e9' }), 1_000_000_000);
  assert.equal(read({ p: '900000000000' }), 1_000_000_000);
});

test('a page number that is no integer is rejected', () => {
  for (const p of ['abc', '1.5', 'NaN', 'Infinity', '1,2', ['1', '2']])
    assert.equal(pageQuery.safeParse({ p }).success, false, String(p));
});

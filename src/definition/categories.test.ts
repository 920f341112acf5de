import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCategories, stripCategories } from './categories.ts';

test('words with a hash are the categories of a name, each once', () => {
  assert.deepEqual(parseCategories('Orders #shop #internal #shop'), ['shop', 'internal']);
  assert.deepEqual(parseCategories('#first'), ['first']);
  assert.deepEqual(parseCategories('C#'), []);
  assert.deepEqual(parseCategories('plain # name'), []);
});

test('a name without its categories keeps the other words', () => {
  assert.equal(stripCategories('Orders #shop of the #internal house'), 'Orders of the house');
});

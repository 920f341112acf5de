import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCategories, stripCategories } from './categories.ts';

test('the words with a hash are the categories, each once', () => {
  assert.deepEqual(parseCategories('Orders #shop #internal #shop'), ['shop', 'internal']);
  assert.deepEqual(parseCategories('#first'), ['first']);
  assert.deepEqual(parseCategories('C#'), []);
  assert.deepEqual(parseCategories('plain # name'), []);
});

test('what is left is the name', () => {
  assert.equal(stripCategories('Orders #shop of the #internal house'), 'Orders of the house');
});

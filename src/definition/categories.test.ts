import assert from 'node:assert/strict';
import { test } from 'node:test';
import { categoriesOf, plainNameOf } from './categories.ts';

test('the words with a hash are the categories, each once', () => {
  assert.deepEqual(categoriesOf('Orders #shop #internal #shop'), ['shop', 'internal']);
  assert.deepEqual(categoriesOf('#first'), ['first']);
  assert.deepEqual(categoriesOf('C#'), []);
  assert.deepEqual(categoriesOf('plain # name'), []);
});

test('what is left is the name', () => {
  assert.equal(plainNameOf('Orders #shop of the #internal house'), 'Orders of the house');
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { highlightWords } from './highlight.ts';

describe('highlighting of found words', () => {
  const highlight = (text: string, ...words: string[]) => highlightWords(text, words).toString();

  test('words that begin with a searched one are marked in any case, others are not', () => {
    assert.equal(highlight('Orders, reorder', 'order'), '<mark>Orders</mark>, reorder');
  });

  test('markup of the text is escaped inside and outside of marks', () => {
    assert.equal(
      highlight('<b>order</b> & more', 'order', 'b'),
      '&lt;<mark>b</mark>&gt;<mark>order</mark>&lt;/<mark>b</mark>&gt; &amp; more',
    );
  });

  test('a text without searched words stays as it is', () => {
    assert.equal(highlight('Orders <1>'), 'Orders &lt;1&gt;');
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listSearchWords, toWordRange } from './search-words.ts';

describe('words of a search', () => {
  test('are folded, each once, without markup and punctuation', () => {
    assert.deepEqual(listSearchWords('<p class="x">Größe, GRÖßE: orders-v1!</p>'), ['größe', 'orders', 'v1']);
    assert.deepEqual(listSearchWords('%_ … <br>'), []);
  });

  test('are found in scripts without spaces, and in forms of the same letters', () => {
    assert.ok(listSearchWords('支払いを処理する').includes('支払い'));
    assert.deepEqual(listSearchWords('Ｏｒｄｅｒｓ'), ['orders']);
    assert.deepEqual(listSearchWords('e\u0301te\u0301'), ['été']);
  });

  test('of a long text are bounded in number and length', () => {
    const many = Array.from({ length: 5000 }, (_, n) => `word${n}`).join(' ');
    assert.equal(listSearchWords(many).length, 2000);
    assert.deepEqual(listSearchWords(`${'x'.repeat(300)} short`), ['short']);
    assert.deepEqual(listSearchWords(`${' '.repeat(60_000)}late`), []);
    assert.equal(listSearchWords('<'.repeat(200_000)).length, 0);
  });

  test('that begin with a text are between its bounds in bytewise order', () => {
    const { first, end } = toWordRange('grö');
    const isBetween = (word: string) =>
      Buffer.compare(Buffer.from(word), Buffer.from(first)) >= 0 &&
      Buffer.compare(Buffer.from(word), Buffer.from(end)) < 0;
    assert.deepEqual(['grö', 'größe', 'grö𐍈', 'gro', 'grp', 'größ'].map(isBetween), [
      true,
      true,
      true,
      false,
      false,
      true,
    ]);
  });
});

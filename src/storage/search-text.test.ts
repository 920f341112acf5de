import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toSearchText } from './search-text.ts';

describe('Search text', () => {
  test('names are folded, one per line, without empty and equal ones', () => {
    assert.equal(toSearchText(['Übung', '', 'ÜBUNG', 'a\r\nB']), 'übung\na b');
  });

  test('a longer text is cut at a whole character within the bound of an index row', () => {
    for (const name of ['x', 'é', '€', '😀', 'x😀€']) {
      const text = toSearchText([name.repeat(3000)]);
      const bytes = Buffer.byteLength(text);
      assert.ok(bytes <= 2000 && bytes > 1985, `${name}: ${bytes}`);
      assert.ok(!text.includes('\uFFFD'), name);
      assert.ok(name.repeat(3000).startsWith(text));
    }
  });

  test('a lone surrogate, which no database stores, is replaced', () => {
    assert.equal(toSearchText(['a\uD800b']), 'a\uFFFDb');
  });
});

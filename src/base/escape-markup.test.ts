import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapeMarkup } from './escape-markup.ts';

test('escaped text starts no tag or entity and ends no attribute', () => {
  assert.equal(escapeMarkup(`<a b="c" d='e'>&amp;`), '&lt;a b=&#34;c&#34; d=&#39;e&#39;&gt;&amp;amp;');
});

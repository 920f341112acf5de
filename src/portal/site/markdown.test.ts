import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse } from 'marked';
import { renderMarkdown } from './markdown.ts';
import { sanitizeHtml } from './sanitize-html.ts';

const length = 32 * 1024;
const hostile: Readonly<Record<string, string>> = {
  'a local part without an end': `${'a.'.repeat(length / 2)}@`,
  'a local part of the largest size, repeated': `${`${'a'.repeat(64)}@`.repeat(length / 65)}`,
  'punctuation after a link': `http://a${'!'.repeat(length)}`,
  'open brackets': '['.repeat(length),
  'emphasis that never closes': '*a**'.repeat(length / 4),
  'code spans that never close': '`a``'.repeat(length / 4),
};
/** The library takes minutes for them. */
const unbounded: Readonly<Record<string, string>> = {
  'nested lists': '- '.repeat(length / 2),
  underscores: '_'.repeat(length),
};

describe('Markdown', () => {
  for (const [what, source] of Object.entries(hostile))
    test(`32 kB of ${what} is rendered before the timeout of the test`, { timeout: 20_000 }, () => {
      assert.ok(renderMarkdown(source).toString().length >= length);
    });

  for (const [what, source] of Object.entries(unbounded))
    test(`32 kB of ${what} end with the budget of the parser, and the text is shown as it is`, () => {
      assert.equal(renderMarkdown(`${source}end`).toString(), `<pre>${source}end</pre>`);
    });

  test('ordinary text is rendered as by the library', () => {
    for (const source of [
      'Mail me@example.org or see https://a.example/b?c=1&d, `code`, *emphasis* & &amp; &copy; <b>bold</b>.',
      'first.last+tag@mail.example.org, (www.example.org/a_b) and mailto:x@example.org',
      '| a | b |\n|---|---|\n| x@y.example | ~~no~~ |\n\n- [x] done\n- [ ] open  \nnext',
      '1 < 2 > 0 "quoted" \\* \\_ a_b_c __strong__ ![image](/a.png "t")',
    ])
      assert.equal(renderMarkdown(source).toString(), sanitizeHtml(parse(source, { gfm: true, async: false })));
  });
});

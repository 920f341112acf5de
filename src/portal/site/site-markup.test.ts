import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { renderContent } from './markdown.ts';
import { html } from './markup.ts';
import { sanitizeHtml } from './sanitize-html.ts';

describe('Markup of the portal', () => {
  test('the html tag escapes every value but markup, and leaves out absent ones', () => {
    const inner = html`<b>${'<i>'}</b>`;
    assert.equal(
      html`<p title="${'"x" & \'y\''}">${[inner, 1, false, undefined]}</p>`.toString(),
      '<p title="&#34;x&#34; &amp; &#39;y&#39;"><b>&lt;i&gt;</b>1</p>',
    );
  });

  const cases: readonly (readonly [input: string, output: string])[] = [
    ['<p onclick="a()">x</p>', '<p>x</p>'],
    ['<script>a</script>b', 'b'],
    ['<SCRIPT>a</ScRiPt >b', 'b'],
    ['<script>a', ''],
    ['<svg><a href="/">x</a></svg>y', 'y'],
    ['<a href="javascript:a()">x</a>', '<a>x</a>'],
    ['<a href="java\tscript:a()">x</a>', '<a>x</a>'],
    ['<a href="&#106;avascript:a()">x</a>', '<a>x</a>'],
    ['<a href=" JAVASCRIPT:a()">x</a>', '<a>x</a>'],
    ['<a href="&#160;javascript:a()">x</a>', '<a>x</a>'],
    ['<a href="&#xfeff;javascript:a()">x</a>', '<a>x</a>'],
    ['<a href="//example.org/">x</a>', '<a href="//example.org/" rel="nofollow noopener noreferrer">x</a>'],
    ['<a href="data:text/html,x">x</a>', '<a>x</a>'],
    ['<a href="/docs?a=1&amp;b=2">x</a>', '<a href="/docs?a=1&amp;b=2">x</a>'],
    ['<a href="https://example.org/">x</a>', '<a href="https://example.org/" rel="nofollow noopener noreferrer">x</a>'],
    ['<img src="https://example.org/x.png" onerror=a()>', '<img alt="">'],
    ['<img src="/site/x.png" alt="a > b">', '<img src="/site/x.png" alt="a &gt; b">'],
    ['<img src="data:image/svg+xml;base64,AA==">', '<img alt="">'],
    ['<b><i>x</b></i>', '<b><i>x</i></b>'],
    ['<p>a', '<p>a</p>'],
    ['</p>a', 'a'],
    ['a < b & c &copy; <3', 'a &lt; b &amp; c &copy; &lt;3'],
    ['<p title="<b>', '&lt;p title="&lt;b&gt;'],
    ['<!-- <p>x</p> -->y', 'y'],
    ['<h1 id="content">x</h1>', '<h2>x</h2>'],
    ['<code class="language-js evil">x</code>', '<code class="language-js">x</code>'],
    ['<input type="checkbox" checked disabled> done', '☑  done'],
    ['<form action="/auth/logout"><button>x</button></form>', 'x'],
  ];
  for (const [input, output] of cases)
    test(`the sanitizer turns ${JSON.stringify(input)} into safe markup`, () => {
      assert.equal(sanitizeHtml(input), output);
    });

  test('unended tags become text, other elements are dropped with their content, and nesting ends at 100 levels', () => {
    const count = 200_000;
    const cases: readonly (readonly [part: string, output: string])[] = [
      ['<a ', '&lt;a '.repeat(count)],
      ['<a "', '&lt;a "'.repeat(count)],
      ['</b', '&lt;/b'.repeat(count)],
      ['<script></script', '&lt;/script'],
      ['<!--', ''],
      ['<b>', '<b>'.repeat(100) + '</b>'.repeat(100)],
    ];
    for (const [part, output] of cases) assert.ok(sanitizeHtml(part.repeat(count)) === output, part);
  });

  test('headings of content have anchors, also twice the same', () => {
    assert.equal(
      renderContent('# Rate limits\n\n## Rate limits').toString().trim(),
      '<h2 id="t-rate-limits">Rate limits</h2>\n<h2 id="t-rate-limits-2">Rate limits</h2>',
    );
  });

  test('tokens of the site are those of the kit', () => {
    const read = (path: string) =>
      new Map(
        [
          ...readFileSync(new URL(path, import.meta.url), 'utf8')
            .split('\n}\n')[0]!
            .matchAll(/^ {2}(--[\w-]+): ([^;]+);$/gm),
        ].map(([, name, value]) => [name!, value!]),
      );
    const kit = read('../../../src/ui/kit/tokens.css');
    for (const [name, value] of read('./site.css'))
      if (kit.has(name) && name !== '--control') assert.equal(value, kit.get(name), name);
  });
});

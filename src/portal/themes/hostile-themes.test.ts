import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Problem } from '#base/problems.ts';
import { imageHeads } from '../../../tests/support/image-heads.ts';
import { createZip } from '../../../tests/support/zip.ts';
import { checkThemeArchive } from './archive.ts';

const svg = (inner: string, attributes = '') => `<svg xmlns="http://www.w3.org/2000/svg" ${attributes}>${inner}</svg>`;
const manifest = (more: object = {}) => JSON.stringify({ name: 'acme', version: '1', ...more });
const check = (files: Record<string, string | Buffer>) =>
  checkThemeArchive(
    createZip(Object.entries({ 'theme.json': manifest(), ...files }).map(([name, content]) => ({ name, content }))),
  );

const findRefusal = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    return error.message;
  }
  return 'accepted';
};

const refusedFiles: [name: string, content: string | Buffer, reason: RegExp][] = [
  ['assets/a.js', 'alert(1)', /type that themes may not have/],
  ['assets/a.html', '<p>', /type that themes may not have/],
  ['assets/a', 'x', /type that themes may not have/],
  ['server.ts', 'x', /has no place in a theme/],
  ['views/a.ts', 'x', /has no place in a theme/],
  ['views/deep/a.html', 'x', /has no place in a theme/],
  ['assets/a.png', 'GIF89a', /is not image\/png/],
  ['assets/a.png', imageHeads['image/png']([60_000, 1]), /has 60000 × 1 pixels: at most 4096/],
  ['assets/a.woff2', 'MZ', /content of another type/],
  ['views/a.html', '<SCRIPT src=//x>', /script/],
  ['views/a.html', '<img src=x onerror=alert(1)>', /event handler/],
  ['views/a.html', '<img/onerror=alert(1)>', /event handler/],
  ['views/a.html', '<a href="javascript :x">', /javascript/],
  ['layouts/a.html', '<base href="//x">', /loads other documents/],
  ['partials/a.html', '<meta http-equiv=refresh>', /replaces headers/],
  ['views/a.html', '{{if}}', /line 1/],
  ['views/a.html', '{{env "HOME"}}', /env/],
  ['views/a.html', '{{template "missing"}}', /not defined/],
  ['partials/a.html', '{{end}}', /line 1/],
  ['mailers/a.txt', '{{.x', /line 1/],
  ['assets/a.css', '@import "//x"', /loads other files/],
  ['assets/a.css', 'a { b: url( "https://x/y") }', /loads other files/],
  ['assets/a.svg', svg('<script>alert(1)</script>'), /element script/],
  ['assets/a.svg', svg('<x:script xmlns:x="http://www.w3.org/2000/svg">1</x:script>'), /element script/],
  ['assets/a.svg', svg('', 'onload="alert(1)"'), /event handler onload/],
  ['assets/a.svg', svg('<g><path ONCLICK="x"/></g>'), /event handler ONCLICK/],
  ['assets/a.svg', svg('<foreignObject><p/></foreignObject>'), /element foreignObject/],
  ['assets/a.svg', svg('<a href="https://x"/>'), /element a/],
  ['assets/a.svg', svg('<use href="https://x/y.svg#z"/>'), /another file in href/],
  ['assets/a.svg', svg('<use xlink:href=" data:text/html,x"/>'), /another file/],
  ['assets/a.svg', svg('<image href="#a"/>'), /element image/],
  ['assets/a.svg', svg('<path fill="url(https://x)"/>'), /another file in fill/],
  ['assets/a.svg', svg('<style>@import "x"</style>'), /styles that load/],
  ['assets/a.svg', svg('<style type="a">b{c:url(//x)}</style>'), /styles that load/],
  ['assets/a.svg', svg('<animate attributeName="href" to="javascript:1"/>'), /element animate/],
  ['assets/a.svg', '<!DOCTYPE svg [<!ENTITY a "b">]><svg/>', /is not an SVG/],
  ['assets/a.svg', '<html/>', /is not an SVG/],
];

describe('uploads of themes', () => {
  for (const [name, content, reason] of refusedFiles)
    test(`${name} with ${content.slice(0, 60)} is refused`, () => {
      assert.match(
        findRefusal(() => check({ [name]: content })),
        reason,
      );
    });

  test('a fault of a partial is reported with its file and line, also where other files include it', () => {
    const files = { 'layouts/a.html': '{{template "nav"}}', 'views/a.html': '\n\n\nx', 'partials/ok.html': 'x' };
    for (const [content, reason] of [
      ['a\n{{if}}', /partials\/nav\.html .*line 2/],
      ['a\n{{template "nvv"}}', /partials\/nav\.html .*line 2/],
      ['{{define "x"}}{{end}}', /partials\/nav\.html .*cannot define/],
      ['{{end}}{{define "x"}}', /partials\/nav\.html .*line 1/],
      ['{{template "ok"}}', /^accepted$/],
    ] as const)
      assert.match(
        findRefusal(() => check({ ...files, 'partials/nav.html': content })),
        reason,
      );
  });

  test('files that draw, style and frame pages are accepted', () => {
    check({
      'README.md': '# Acme',
      'assets/a.svg': svg(
        '<defs><linearGradient id="g"/></defs><path fill="url(#g)"/><use href="#p"/><style>a{b:c}</style>',
      ),
      'assets/fonts/a.woff2': 'wOF2…',
      'assets/a.css': '@font-face { src: url(fonts/a.woff2) } a { b: url(#c) }',
      'views/a.html': '<p class="one">{{.Button}} content="on=1"</p>',
      'mailers/approve.txt': 'Hello {{.user.First}}',
    });
  });

  test('paths outside of the root, links and nested themes are refused', () => {
    for (const name of ['../a.css', '/a.css', 'assets/../../a.css', 'assets\\a.css', 'C:/a.css'])
      assert.match(
        findRefusal(() => check({ [name]: 'x' })),
        /outside of its root/,
      );
    const nested = createZip([{ name: 'acme/theme.json', content: manifest() }]);
    assert.match(
      findRefusal(() => checkThemeArchive(nested)),
      /acme\/theme\.json: theme\.json must be at the root/,
    );
    assert.match(
      findRefusal(() => checkThemeArchive(createZip([{ name: 'assets/a.css', content: '' }]))),
      /has no theme\.json/,
    );
  });

  test('archives that inflate beyond the bounds, or lie about sizes, are refused before they are stored', () => {
    const bomb = { name: 'assets/a.css', content: ' '.repeat(33 * 1024 * 1024) };
    const own = { name: 'theme.json', content: manifest() };
    assert.match(
      findRefusal(() => checkThemeArchive(createZip([own, bomb]))),
      /more than 33554432 bytes/,
    );
    assert.match(
      findRefusal(() => checkThemeArchive(createZip([own, { ...bomb, declaredBytes: 10 }]))),
      /damaged/,
    );
    assert.match(
      findRefusal(() => check({ 'assets/a.css': ' '.repeat(5 * 1024 * 1024 + 1) })),
      /assets\/a\.css has more than 5242880 bytes/,
    );
    const many = Array.from({ length: 501 }, (_, place) => ({ name: `assets/${place}.css`, content: '' }));
    assert.match(
      findRefusal(() => checkThemeArchive(createZip([own, ...many]))),
      /more than 500 files/,
    );
  });

  test('a manifest is refused with the path of its fault and the nearest name', () => {
    const refused: [object, RegExp][] = [
      [{ templates: [{ name: 'home', template: 'hme' }] }, /names views\/hme\.html.*did you mean views\/home\.html/],
      [
        {
          templates: [
            { name: 'a', template: 'home' },
            { name: 'a', template: 'home' },
          ],
        },
        /the template a twice/,
      ],
      [{ templates: [{ name: 'a', template: '../../etc/passwd' }] }, /templates\[0\]\.template/],
      [{ colors: {} }, /colors: .*colours/],
      [{ colours: { accent: 'red;}' } }, /colours\.accent/],
      [{ logo: 'assets/lgo.svg' }, /did you mean assets\/logo\.svg/],
      [{ logo: 'https://x' }, /logo/],
      [{ language: 'ejs' }, /language/],
      [{ name: '../x' }, /name/],
    ];
    const files = { 'views/home.html': 'x', 'assets/logo.svg': svg('') };
    for (const [more, reason] of refused)
      assert.match(
        findRefusal(() => check({ 'theme.json': manifest(more), ...files })),
        reason,
      );
    assert.match(
      findRefusal(() => check({ 'theme.json': '{' })),
      /theme\.json/,
    );
  });
});

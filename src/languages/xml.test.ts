import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeXml, parseXml, writeXml, XmlError, type XmlMap } from './xml.ts';

/** Removes prototypes, which comparisons would distinguish. */
const plain = (source: string) => JSON.parse(JSON.stringify(parseXml(source))) as unknown;

test('elements, attributes, text and repetitions become objects', () => {
  const cases: readonly [source: string, expected: unknown][] = [
    ['<a>x</a>', { a: 'x' }],
    ['<a/>', { a: '' }],
    ['<a></a>', { a: '' }],
    ['<a b="1"/>', { a: { '-b': '1' } }],
    [`<a b='1' c = "2">x</a>`, { a: { '-b': '1', '-c': '2', '#text': 'x' } }],
    ['<a><b>1</b><c>2</c></a>', { a: { b: '1', c: '2' } }],
    ['<a><b>1</b><b>2</b><b/></a>', { a: { b: ['1', '2', ''] } }],
    ['<?xml version="1.0"?>\n<!-- c --><a>\n  <b> x </b>\n</a>\n<!-- d -->', { a: { b: 'x' } }],
    ['<a>x<b/>y</a>', { a: { b: '', '#text': 'xy' } }],
    ['<a><![CDATA[<b> & ]]></a>', { a: '<b> & ' }],
    ['<a>&lt;&amp;&gt;&quot;&apos;&#65;&#x42;</a>', { a: `<&>"'AB` }],
    ['<a b="&#10;&lt;"/>', { a: { '-b': '\n<' } }],
    ['<s:Envelope xmlns:s="u"><s:Body>x</s:Body></s:Envelope>', { Envelope: { '-s': 'u', Body: 'x' } }],
    ['<é>ü</é>', { é: 'ü' }],
  ];
  for (const [source, expected] of cases) assert.deepEqual(plain(source), expected, source);
});

test('malformed XML and document types are rejected', () => {
  const faults: readonly [source: string, why: RegExp][] = [
    ['', /no element/],
    ['plain', /outside the root/],
    ['<a>', /not closed/],
    ['<a></b>', /unexpected end of b/],
    ['</a>', /unexpected end of a/],
    ['<a/><b/>', /more than one root/],
    ['<a/>x', /outside the root/],
    ['<a b/>', /no quoted value/],
    ['<a b=1/>', /no quoted value/],
    ['<a b="<"/>', /no quoted value/],
    ['<a b="1"c="2"/>', /unexpected character/],
    ['<1/>', /name is expected/],
    ['< a/>', /name is expected/],
    ['<a>&nope;</a>', /entity/],
    ['<a>& b</a>', /entity/],
    ['<a>&#0;</a>', /entity/],
    ['<a>&#xD800;</a>', /entity/],
    ['<a>&lt</a>', /entity/],
    ['<a>]]></a>', /CDATA section/],
    ['<!-- a -- b --><a/>', /inside a comment/],
    ['<!-- x', /comment is not closed/],
    ['<a><![CDATA[x</a>', /CDATA section is not closed/],
    ['<!DOCTYPE a><a/>', /document types/],
    ['<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a>&c;</a>', /document types/],
    ['<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', /document types/],
    ['<a><!ENTITY b "c"></a>', /document types/],
  ];
  for (const [source, why] of faults)
    assert.throws(
      () => parseXml(source),
      error => error instanceof XmlError && why.test(error.message),
      source,
    );
});

test('line ends are one line feed, and white space in attributes is blanks', () => {
  assert.deepEqual(plain('<a>1\r\n2\r3\n4</a>'), { a: '1\n2\n3\n4' });
  assert.deepEqual(plain('<a><![CDATA[1\r\n2\r]]></a>'), { a: '1\n2\n' });
  assert.deepEqual(plain('<a b="1\r\n2\t3&#10;"/>'), { a: { '-b': '1 2 3\n' } });
  assert.deepEqual(plain('\ufeff<a>\u00a0x</a>'), { a: '\u00a0x' });
});

test('forbidden characters are rejected anywhere', () => {
  for (const character of ['\0', '\x01', '\x0b', '\x1f', '\ufffe', '\uffff', '\ud800'])
    for (const source of [
      `<a>${character}</a>`,
      `<a b="${character}"/>`,
      `<!--${character}--><a/>`,
      `<a><![CDATA[${character}]]></a>`,
    ])
      assert.throws(() => parseXml(source), /character U\+[\dA-F]{4} at \d+ is not allowed/);
});

test('duplicate attributes are rejected; of two that differ in their prefix the last wins', () => {
  assert.throws(() => parseXml('<a b="1" c="2" b="3"/>'), /attribute b stands twice/);
  assert.deepEqual(plain('<a x:b="1" y:b="2"/>'), { a: { '-b': '2' } });
});

test('line breaks and tabs survive writing and parsing', () => {
  const value = { a: { '-b': 'x\n\ty\r', '#text': 'x\r\ny' } };
  assert.equal(writeXml(value), '<a b="x&#xA;&#x9;y&#xD;">x&#xD;\ny</a>');
  assert.deepEqual(plain(writeXml(value)), value);
});

test('depth and number of elements and attributes are bounded', () => {
  const isLimitError = (error: unknown) => error instanceof XmlError && error.isLimitExceeded;
  assert.throws(() => parseXml('<a>'.repeat(1_000_000)), isLimitError);
  assert.throws(() => parseXml(`<a>${'<b/>'.repeat(200_000)}</a>`), isLimitError);
  const attributes = Array.from({ length: 200_000 }, (_, at) => `b${at}="1"`).join(' ');
  assert.throws(() => parseXml(`<a ${attributes}/>`), isLimitError);
});

test('names such as __proto__ and constructor are ordinary', () => {
  const found = parseXml('<constructor><__proto__>x</__proto__></constructor>');
  assert.deepEqual(Object.entries(found.constructor), [['__proto__', 'x']]);
  assert.equal(({} as { x?: unknown }).x, undefined);
});

test('a document is decoded by its byte order mark or declared encoding', () => {
  assert.equal(decodeXml(Buffer.from('<a>é</a>')), '<a>é</a>');
  const latin = Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>', 'latin1');
  assert.match(decodeXml(latin), /<a>é<\/a>/);
  assert.match(decodeXml(Buffer.from('\ufeff<a>é</a>', 'utf16le')), /<a>é<\/a>/);
  assert.throws(() => decodeXml(Buffer.from([0x3c, 0xff, 0x3e])), XmlError);
  assert.throws(() => decodeXml(Buffer.from('<?xml version="1.0" encoding="nope"?><a/>')), XmlError);
});

test('an object with one member becomes the root element, several go into doc', () => {
  const cases: readonly [value: XmlMap, expected: string][] = [
    [{ a: 'x' }, '<a>x</a>'],
    [{ a: null }, '<a/>'],
    [{ a: '' }, '<a/>'],
    [{ a: 1, b: true }, '<doc><a>1</a><b>true</b></doc>'],
    [{ a: [1, 2] }, '<doc><a>1</a><a>2</a></doc>'],
    [{ a: { '-id': 7, '#text': '<&>' } }, '<a id="7">&lt;&amp;&gt;</a>'],
    [{ a: { '-q': `"'` } }, '<a q="&quot;&apos;"/>'],
    [{ a: { b: { c: [{ d: 1 }, 'e'] } } }, '<a><b><c><d>1</d></c><c>e</c></b></a>'],
    [{}, '<doc/>'],
    [{ a: 'x\u0000y' }, '<a>x\ufffdy</a>'],
  ];
  for (const [value, expected] of cases) assert.equal(writeXml(value), expected);
});

test('an invalid element or attribute name is rejected', () => {
  for (const name of ['a b', '1', '', 'a><script', '#x', 'a="1"'])
    assert.throws(() => writeXml({ root: { [name]: 'x' } }), XmlError, name);
  assert.throws(() => writeXml({ root: { '-a b': 'x' } }), XmlError);
  assert.throws(() => writeXml({ root: { '-a': {} } }), XmlError);
});

test('written XML parses to the same value', () => {
  const word = fc.stringMatching(/^[a-z]{1,5}$/);
  const leaf = fc
    .string({ unit: 'binary', minLength: 1 })
    .map(text => text.replaceAll(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '').trim());
  const tree = fc.letrec<{ node: unknown }>(tie => ({
    node: fc.oneof({ maxDepth: 4 }, leaf, fc.dictionary(word, tie('node'), { minKeys: 1, maxKeys: 3 })),
  })).node;
  fc.assert(
    fc.property(word, tree, (root, value) => {
      assert.deepEqual(plain(writeXml({ [root]: value })), JSON.parse(JSON.stringify({ [root]: value })));
    }),
    { numRuns: 200 },
  );
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseXml } from './xml.ts';
import { compileXPath, selectText, XPathError } from './xpath.ts';

describe('XPath', () => {
  const document = parseXml(
    '<s:Envelope xmlns:s="urn:s"><s:Header><auth id="7"><token>one</token><token kind="b">two</token></auth></s:Header><note>text</note></s:Envelope>',
  );

  test('a location path selects the first text or attribute', () => {
    const expected: Record<string, string | undefined> = {
      '/Envelope/note': 'text',
      '/s:Envelope/s:Header/auth/token': 'one',
      '//token': 'one',
      '//token[2]': 'two',
      '//token[3]': undefined,
      '//token/text()': 'one',
      '//auth/@id': '7',
      '//token/@kind': 'b',
      '/Envelope/*/auth/@id': '7',
      '/note': undefined,
      '//auth': undefined,
    };
    for (const [path, text] of Object.entries(expected))
      assert.equal(selectText(compileXPath(path), document), text, path);
  });

  test('a selection that visits too many elements finds nothing', () => {
    const nested = parseXml(`${'<a>'.repeat(90)}${'<b/>'.repeat(9000)}<c>found</c>${'</a>'.repeat(90)}`);
    assert.equal(selectText(compileXPath('//c'), nested), 'found');
    assert.equal(selectText(compileXPath('//*//*//*//c'), nested), undefined);
  });

  test('other expressions are refused', () => {
    for (const source of [
      '',
      'token',
      '//',
      '/a[',
      '/a[0]',
      '/a[@b="c"]',
      'count(//a)',
      '/a/@b/c',
      '//@b',
      '/a/..',
      '/text()',
    ])
      assert.throws(() => compileXPath(source), XPathError, source);
    assert.throws(() => compileXPath('/a'.repeat(33)), XPathError);
  });
});

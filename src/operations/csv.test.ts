import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatCsv } from './csv.ts';

describe('CSV', () => {
  const cases: [string, string][] = [
    ['plain', 'plain'],
    ['', ''],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['two\r\nlines', '"two\r\nlines"'],
    [' padded ', '" padded "'],
    ['=1+1', "'=1+1"],
    ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', '"\'\t\'=1"'],
    ['\r=1', '"\'\r=1"'],
    ['\n=1', '"\'\n=1"'],
    ['\uFF1D1', "'\uFF1D1"],
    ['x;=HYPERLINK("http://x","y")', '"x;\'=HYPERLINK(""http://x"",""y"")"'],
    ['x;"=1', '"x;""\'=1"'],
    ['x\t+1', '"x\t\'+1"'],
    ['x| @SUM(A1);-1', '"x| \'@SUM(A1);\'-1"'],
    ['a;b', '"a;b"'],
    ['text/html;q=0.9', '"text/html;q=0.9"'],
    ['a=b', 'a=b'],
    ['/orders/{id}', '/orders/{id}'],
    ['münchen', 'münchen'],
  ];
  for (const [text, cell] of cases)
    test(`${JSON.stringify(text)} becomes the cell ${JSON.stringify(cell)}`, () => {
      assert.equal(formatCsv(['a', 'b'], [[text, 1]]), `a,b\r\n${cell},1\r\n`);
    });

  test('numbers and booleans are written as they are, negative ones too', () => {
    assert.equal(formatCsv(['n', 'b'], [[-1.5, true]]), 'n,b\r\n-1.5,true\r\n');
  });

  test('without rows only the header line is written', () => {
    assert.equal(formatCsv(['a', 'b'], []), 'a,b\r\n');
  });
});

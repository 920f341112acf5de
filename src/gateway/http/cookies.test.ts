import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseCookies, readCookie, removeCookie } from './cookies.ts';
import { HeaderList } from './headers.ts';

const cookieHeaders = (...lines: string[]) => new HeaderList(lines.flatMap(line => ['Cookie', line]));

describe('cookies', () => {
  test('readCookie returns the first value of a name, without its quotes', () => {
    const headers = cookieHeaders('a=1; b="two=2" ;b=3', 'c = 4');
    assert.equal(readCookie(headers, 'a'), '1');
    assert.equal(readCookie(headers, 'b'), 'two=2');
    assert.equal(readCookie(headers, 'c'), '4');
  });

  test('readCookie is empty for a missing name and for a pair without an equals sign', () => {
    assert.equal(readCookie(cookieHeaders('flag; a=1'), 'flag'), '');
    assert.equal(readCookie(cookieHeaders('a=1'), 'b'), '');
    assert.equal(readCookie(new HeaderList(), 'a'), '');
  });

  test('a UTF-8 value that ends in the byte A0 is kept whole, since that byte is no white space in a header', () => {
    const value = Buffer.from('voilà').toString('latin1');
    const headers = cookieHeaders(`a=${value} ;\tb = ${value}`);
    assert.equal(readCookie(headers, 'a'), value);
    assert.deepEqual(parseCookies(headers).get('b'), [value]);
    removeCookie(headers, 'a');
    assert.deepEqual(headers.all('cookie'), [`b = ${value}`]);
  });

  test('parseCookies groups values by name over all Cookie fields and keeps them encoded', () => {
    const cookies = parseCookies(cookieHeaders('a=1+1; flag; a="q"', 'b=%20'));
    assert.deepEqual(
      [...cookies],
      [
        ['a', ['1+1', '"q"']],
        ['b', ['%20']],
      ],
    );
  });

  test('removeCookie joins the remaining cookies in one field', () => {
    const headers = cookieHeaders('a=1; key=x;b=2', 'key=y; c=3');
    removeCookie(headers, 'key');
    assert.deepEqual(headers.all('cookie'), ['a=1; b=2; c=3']);
  });

  test('removeCookie removes the header with its last cookie', () => {
    const headers = cookieHeaders('key=x');
    removeCookie(headers, 'key');
    assert.equal(headers.has('cookie'), false);
  });

  test('removeCookie leaves headers without that name unchanged', () => {
    const headers = cookieHeaders('a=1;  b=2', 'c=3');
    removeCookie(headers, 'key');
    assert.deepEqual(headers.all('cookie'), ['a=1;  b=2', 'c=3']);
  });
});

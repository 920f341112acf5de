import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalizePath, isInvalidPath, normalizeForMatch, resolveDots, splitTarget } from './path.ts';

const rules = { keepEncodedSlashes: false, keepDoubleEncoding: true };
const spelled: readonly [given: string, canonical: string][] = [
  ['/', '/'],
  ['/a/b', '/a/b'],
  ['/a/b/', '/a/b/'],
  ['//a///b', '/a/b'],
  ['/a/./b', '/a/b'],
  ['/a/../b', '/b'],
  ['/a/%2e%2e/b', '/b'],
  ['/a/%2E./b', '/b'],
  ['/../../x', '/x'],
  ['/a/..', '/'],
  ['/a/b/..', '/a/'],
  ['/a/b/.', '/a/b/'],
  ['/%61dmin', '/admin'],
  ['/a%7Eb', '/a~b'],
  ['/a%3fb', '/a%3Fb'],
  ['/a%c3%a9', '/a%C3%A9'],
  ['/a;x=1/b', '/a;x=1/b'],
  ['/a%25b', '/a%25b'],
  ['/...', '/...'],
  ['/.hidden', '/.hidden'],
  ['/a b'.replace(' ', '%20'), '/a%20b'],
  ['/\u00c3\u00a9', '/%C3%A9'],
];

for (const [given, canonical] of spelled) {
  test(`the path ${JSON.stringify(given)} is canonicalized to ${canonical}`, () =>
    assert.equal(canonicalizePath(given, rules), canonical));
}

for (const given of [
  '/a%00b',
  '/a%0ab',
  '/a%2fb',
  '/a%5Cb',
  '/a\\b',
  '/a%',
  '/a%4',
  '/a%zz',
  '/%ff',
  '/%c3%28',
  '/..;/b',
  '/a/.;x/b',
  '/a/%2e%2e;x=1/b',
  '/a/..%3b/b',
  '/a b',
  '/a\tb',
  'a',
  '',
]) {
  test(`the path ${JSON.stringify(given)} is refused`, () => assert.ok(isInvalidPath(canonicalizePath(given, rules))));
}

test('an encoded slash is kept with encoded_slashes=keep and never separates segments', () => {
  const keep = { keepEncodedSlashes: true, keepDoubleEncoding: true };
  assert.equal(canonicalizePath('/a%2fb%5c', keep), '/a%2Fb%5C');
  for (const hidden of ['/a%2f..%2fb', '/a/..%2f', '/..%5cb', '/a%2f.', '/a%2f%2e%2e/b', '/%2e%2e%2fb'])
    assert.ok(isInvalidPath(canonicalizePath(hidden, keep)), hidden);
});

test('a path is normalized for matching, escaped or not', () => {
  for (const [given, met] of [
    ['/a%40b%3Ac', '/a@b:c'],
    ['/%28x%29%2A%2B%2C%21%24%26%27%3B%3D', "/(x)*+,!$&';="],
    ['/a%2540', '/a%2540'],
    ['/a%20%2F%3F%23', '/a%20%2F%3F%23'],
  ] as const)
    assert.equal(normalizeForMatch(given), met);
});

test('a path with a stripped prefix cannot leave its base path', () => {
  for (const [given, tidy] of [
    ['../secret', '/secret'],
    ['/../secret', '/secret'],
    ['x', '/x'],
    ['//x', '/x'],
    ['/x/', '/x/'],
    ['/x/..', '/'],
    ['', '/'],
    ['/.x/..y', '/.x/..y'],
  ] as const)
    assert.equal(resolveDots(given), tidy);
});

test('canonicalizing a path is idempotent', () => {
  const piece = fc.constantFrom('/', '.', '..', 'a', '%2e', '%41', '%20', '//', '%C3%A9', ';', '~', '%7e');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), pieces => {
      const once = canonicalizePath(`/${pieces.join('')}`, rules);
      if (isInvalidPath(once)) return;
      assert.equal(canonicalizePath(once, rules), once);
      assert.doesNotMatch(once, /\/\/|\/\.{1,2}(\/|$)/);
    }),
  );
});

test('a request target is a path or an absolute URL with its host', () => {
  assert.deepEqual(splitTarget('/a?b=c?d'), { path: '/a', query: 'b=c?d' });
  assert.deepEqual(splitTarget('http://Host:80/a?x'), { path: '/a', query: 'x', host: 'Host:80' });
  assert.deepEqual(splitTarget('http://host?x'), { path: '/', query: 'x', host: 'host' });
  for (const target of ['*', 'a', 'ftp://x/', 'http://user@host/', '/a#b'])
    assert.ok(isInvalidPath(splitTarget(target)), target);
});

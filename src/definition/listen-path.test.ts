import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { normalizeListenPath } from './listen-path.ts';

const spellings: readonly [written: string, spelled: string][] = [
  ['', '/'],
  ['/', '/'],
  ['orders', '/orders'],
  ['//orders///inner/', '/orders/inner/'],
  ['/a/./b/../c', '/a/c'],
  ['/../a/..', '/'],
  ['/a/b/..', '/a/'],
  ['/café/', '/caf%C3%A9/'],
  ['/caf%c3%a9', '/caf%C3%A9'],
  ['/%6frders/%2f', '/orders/%2F'],
  ['/a b|c', '/a%20b%7Cc'],
  ['/{id:[a-z|é]{2}}/x', '/{id:[a-z|é]{2}}/x'],
];
for (const [written, spelled] of spellings)
  test(`${JSON.stringify(written)} is ${spelled}`, () => assert.equal(normalizeListenPath(written), spelled));

test('a normalized listen path stays as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), path => {
      const spelled = normalizeListenPath(path);
      assert.equal(normalizeListenPath(spelled), spelled);
    }),
  );
});

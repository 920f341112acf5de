import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readNextPath } from './next-path.ts';

test('a sign-on continues at a path of this site only', () => {
  for (const path of ['/', '/apis?q=1#top', '/a//b', '/%2f%2fhost']) assert.equal(readNextPath(path), path);
  for (const path of [
    '//evil.example',
    '/\\evil.example',
    '/.//evil.example',
    '/..//evil.example',
    '/%2e//evil.example',
    '/a/..//evil.example',
    '/a/../\\evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '',
    undefined,
    ['/a'],
    `/${'a'.repeat(1024)}`,
  ])
    assert.equal(readNextPath(path), '/', String(path));
});

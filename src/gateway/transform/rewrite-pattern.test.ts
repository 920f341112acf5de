import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { ApiCompileError } from '../pipeline/step.ts';
import { compileNative, compileRewritePattern } from './rewrite-pattern.ts';

const open = ['([^/]+)', '[^/]*', '([^/?]+)', '(\\d+)', '\\w+', '([a-z0-9-]+)'];
const texts = fc.constantFrom('a', 'orders', 'v1.0', 'x-y', '7', '%20', '\\.', '');
const segment = fc.tuple(texts, fc.constantFrom('', ...open), texts).map(parts => `/${parts.join('')}`);
const source = fc
  .tuple(
    fc.constantFrom('', '^'),
    fc.array(segment, { minLength: 1, maxLength: 4 }),
    fc.constantFrom('', '(.*)', '.+', '(/.*)', '\\?(.*)', '.*'),
    fc.constantFrom('', '$'),
  )
  .map(([begin, segments, rest, end]) => begin + segments.join('') + rest + end);
const address = fc
  .array(fc.constantFrom('/', 'a', 'orders', 'v1.0', 'x-y', '7', '%20', '?', '&q=1', '//'), { maxLength: 12 })
  .map(parts => `/${parts.join('')}`);

test('native patterns match as the linear engine does', () => {
  let quick = 0;
  fc.assert(
    fc.property(source, address, (pattern, text) => {
      const native = compileNative(pattern);
      if (!native) return;
      quick++;
      const matcher = RE2JS.compile(pattern).matcher(text);
      const found = compileRewritePattern(pattern, 'a test').match(text);
      const expected = matcher.find()
        ? Array.from({ length: matcher.groupCount() + 1 }, (_, group) => matcher.group(group) ?? '')
        : undefined;
      assert.deepEqual(found?.texts, expected, `${pattern} on ${text}`);
    }),
    { numRuns: 500 },
  );
  assert.ok(quick > 400, `${quick} of 500 were quick`);
});

test('only patterns without backtracking are compiled natively', () => {
  for (const pattern of ['/a', '^/a/(.*)$', '/orders/([^/]+)/items/(\\d+)', '/a\\?(.*)', '/v1.0/x'])
    assert.ok(compileNative(pattern), pattern);
  for (const pattern of [
    '(a*)*b',
    '/(a+)+$',
    '/(.*)x',
    '/.*/.*/.*x',
    'a[^/]+/x',
    '/([^/]+)-([^/]+)x',
    '/(\\w+)(\\w+)x',
    '/[^a]+b',
    '/[--9]+x',
    '/[--a-]+x',
    '/a|/b',
    '/a{1,1000}',
    '/(?=a)',
    `/${'a/'.repeat(300)}`,
  ])
    assert.equal(compileNative(pattern), undefined, pattern);
});

test('an invalid or oversized pattern keeps its API from being served', () => {
  for (const pattern of ['(', '(?=a)', '(a)\\1', 'a{1000}{1000}', 'x'.repeat(6000)])
    assert.throws(() => compileRewritePattern(pattern, 'a rewrite'), ApiCompileError, pattern.slice(0, 20));
  assert.throws(() => compileRewritePattern('[a-z]{200}', 'a rewrite trigger', 100), /is too complex/);
});

test('groups that did not participate are empty', () => {
  assert.deepEqual(compileRewritePattern('/(a)|/(b)', 'a test').match('/b'), {
    texts: ['/b', '', 'b'],
    starts: [0, -1, 1],
  });
  assert.equal(compileRewritePattern('/(a)|/(b)', 'a test').match('/c'), undefined);
});

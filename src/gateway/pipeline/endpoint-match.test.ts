import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readSettings } from '#base/settings.ts';
import { classicToModel } from '#definition/model.ts';
import { createEndpointMatcher, type Endpoint, type MatchMode } from './endpoint-match.ts';
import type { Exchange } from './exchange.ts';
import { ApiCompileError } from './step.ts';

const endpoint = (path: string, method = '', ignoreCase = false): Endpoint => ({ path, method, ignoreCase });

function matcher(entries: readonly Endpoint[], mode: MatchMode = 'strict', definition: object = {}) {
  const model = classicToModel({ name: 'a', proxy: {}, ...definition } as Parameters<typeof classicToModel>[0]);
  const settings = readSettings({ flags: { 'gateway.endpoint_match': mode } });
  return createEndpointMatcher(entries, { model, version: model.versions[0]!, settings })!;
}

function findEntry(
  entries: readonly Endpoint[],
  path: string,
  { method = 'GET', mode = 'strict', ...more }: Asked = {},
) {
  const call = { innerPath: path, path: `/listen${path}`, method, versionName: '', ...more } as Exchange;
  return matcher(entries, mode as MatchMode, more.definition).find(call)?.path;
}
interface Asked {
  method?: string;
  mode?: MatchMode;
  versionName?: string;
  definition?: object;
}

const fits: readonly [pattern: string, path: string, fits: boolean][] = [
  ['/get', '/get', true],
  ['/get', '/get/', true],
  ['/get/', '/get', true],
  ['get', '/get', true],
  ['^/get$', '/get', true],
  ['/get', '/getting', false],
  ['/get', '/x/get', false],
  ['/get', '/get/y', false],
  ['/', '/', true],
  ['/', '/x', false],
  ['/users/{id}', '/users/7', true],
  ['/users/{id}', '/users/7/', true],
  ['/users/{id}', '/users/', false],
  ['/users/{id}', '/users/7/posts', false],
  ['/users/{id}/posts', '/users/7/posts', true],
  ['/users/{id:[0-9]{2}}', '/users/77', true],
  ['/users/{id:[0-9]{2}}', '/users/777', false],
  ['/files/{name}.json', '/files/a.json', true],
  ['/files/{name}.json', '/files/axjson', true],
  ['/files/{name}%2Ejson', '/files/a.json', true],
  ['/files/{name}%2Ejson', '/files/axjson', false],
  ['/files/{name}\\.json', '/files/axjson', false],
  ['/{a}-{b}', '/x-y', true],
  ['/users/*', '/users/7/posts', true],
  ['/users/*', '/users/', true],
  ['/users/*', '/users', false],
  ['/users/*/posts', '/users/7/posts', true],
  ['/users/*/posts', '/users/7/8/posts', false],
  ['/v1.0/x', '/v1.0/x', true],
  ['/v1.0/x', '/v1x0/x', true],
  ['/v1%2E0/x', '/v1.0/x', true],
  ['/v1%2E0/x', '/v1x0/x', false],
  ['/v1\\.0/x', '/v1.0/x', true],
  ['/v1\\.0/x', '/v1x0/x', false],
  ['/secret.', '/secretx', true],
  ['/users/?', '/users', true],
  ['/users/?more', '/usersmore', true],
  ['/(a|b)/c', '/b/c', true],
  ['/a/c|/b/c', '/b/c', true],
  ['/a/[0-9]+', '/a/12', true],
  ['/a/[0-9]+', '/a/x', false],
  ['/café/{x}', '/caf%C3%A9/1', true],
  ['/café', '/caf%C3%A9', true],
  ['/a b', '/a%20b', true],
  ['/a%2eb%c3%a9', '/a.b%C3%A9', true],
];
for (const [pattern, path, expected] of fits) {
  test(`the pattern ${pattern} ${expected ? 'matches' : 'does not match'} ${path}`, () => {
    assert.equal(findEntry([endpoint(pattern)], path), expected ? pattern : undefined);
  });
}

test('endpoint matching is case-sensitive unless the entry ignores case', () => {
  assert.equal(findEntry([endpoint('/Get')], '/get'), undefined);
  for (const pattern of ['/Get', '/Get/{id}', '/Get/[A-Z]+', '/Caf%C3%A9'])
    assert.equal(
      findEntry([endpoint(pattern, '', true)], pattern.replace('{id}', 'X').replace('[A-Z]+', 'y').toLowerCase()),
      pattern,
    );
});

test('an entry with a method matches that method only', () => {
  const list = [endpoint('/x', 'POST'), endpoint('/{any}', 'GET')];
  assert.equal(findEntry(list, '/x'), '/{any}');
  assert.equal(findEntry(list, '/x', { method: 'POST' }), '/x');
  assert.equal(findEntry(list, '/x', { method: 'PUT' }), undefined);
});

test('endpoint_match selects prefix, suffix or substring matching', () => {
  const expected: Record<MatchMode, readonly boolean[]> = {
    strict: [true, false, false, false],
    prefix: [true, true, false, false],
    suffix: [true, false, true, false],
    loose: [true, true, true, true],
  };
  for (const [mode, answers] of Object.entries(expected)) {
    const paths = ['/get', '/getting', '/x/get', '/x/get/y'];
    const given = paths.map(path => findEntry([endpoint('/get')], path, { mode: mode as MatchMode }) !== undefined);
    assert.deepEqual(given, answers, mode);
  }
});

test('loose patterns match with the listen path, strict ones without it', () => {
  assert.equal(findEntry([endpoint('/listen/x')], '/x'), undefined);
  assert.equal(findEntry([endpoint('/listen/x')], '/x', { mode: 'loose' }), '/listen/x');
});

test('a version segment that stays in the path is ignored by endpoint patterns', () => {
  const definition = {
    definition: { location: 'url' },
    version_data: { not_versioned: false, versions: { v1: { name: 'v1' } } },
  };
  assert.equal(findEntry([endpoint('/x')], '/v1/x', { versionName: 'v1', definition }), '/x');
  assert.equal(findEntry([endpoint('/v1/x')], '/v1/x', { versionName: 'v1', definition }), '/v1/x');
  assert.equal(findEntry([endpoint('/')], '/v1', { versionName: 'v1', definition }), '/');
  assert.equal(findEntry([endpoint('/0/x')], '/v10/x', { versionName: 'v1', definition }), undefined);
});

test('an invalid endpoint pattern keeps its API from being served', () => {
  assert.throws(() => matcher([endpoint('/[')]), ApiCompileError);
});

test('the index finds the first matching entry of any list', () => {
  const segment = fc.constantFrom('a', 'b', 'A', '{x}', '*', 'a.b', '[ab]', 'a|b');
  const pattern = fc.array(segment, { minLength: 1, maxLength: 3 }).map(parts => `/${parts.join('/')}`);
  const entry = fc.tuple(pattern, fc.constantFrom('', 'GET', 'POST'), fc.boolean());
  const path = fc
    .array(fc.constantFrom('a', 'b', 'A', 'a.b', 'c'), { minLength: 1, maxLength: 3 })
    .map(it => `/${it.join('/')}`);
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 8 }), path, (entries, asked) => {
      const list = entries.map(([path, method, anyCase]) => endpoint(path, method, anyCase));
      const alone = list.find(it => findEntry([it], asked) !== undefined);
      const call = { innerPath: asked, path: asked, method: 'GET', versionName: '' } as Exchange;
      assert.equal(matcher(list).find(call), alone);
    }),
  );
});

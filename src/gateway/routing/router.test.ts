import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Router } from './router.ts';

const strict = new Router<string>({ prefix: false });
const loose = new Router<string>({ prefix: true });
const withRoutes = (router: Router<string>, ...paths: string[]) =>
  router.withChanges(paths.map(path => ({ host: '', listenPath: path, value: path })));
const findValue = (router: Router<string>, path: string, host = '') => router.find(host, path)?.value;

test('a listen path matches itself and paths below it, whole segments only', () => {
  const router = withRoutes(strict, '/app');
  assert.equal(findValue(router, '/app'), '/app');
  assert.equal(findValue(router, '/app/'), '/app');
  assert.equal(findValue(router, '/app/x/y'), '/app');
  assert.equal(findValue(router, '/apple'), undefined);
  assert.equal(findValue(router, '/'), undefined);
  assert.equal(findValue(router, '/x/app'), undefined);
});

test('a listen path with a trailing slash does not match without it', () => {
  const router = withRoutes(strict, '/app/');
  assert.equal(findValue(router, '/app'), undefined);
  assert.equal(findValue(router, '/app/'), '/app/');
  assert.equal(findValue(router, '/app/x'), '/app/');
});

test('the longest listen path wins, independent of insertion order', () => {
  for (const paths of [
    ['/a', '/a/b', '/a/b/c', '/'],
    ['/', '/a/b/c', '/a/b', '/a'],
  ]) {
    const router = withRoutes(strict, ...paths);
    assert.equal(findValue(router, '/a/b/c/d'), '/a/b/c');
    assert.equal(findValue(router, '/a/b/x'), '/a/b');
    assert.equal(findValue(router, '/a/x'), '/a');
    assert.equal(findValue(router, '/other'), '/');
  }
});

test('parameter segments match their pattern and rank below static segments', () => {
  const router = withRoutes(strict, '/users/{id}', '/users/me', '/files/{name:[a-z]+}.txt', '/{any}/deep/er');
  assert.equal(findValue(router, '/users/me'), '/users/me');
  const user = router.find('', '/users/42/orders');
  assert.equal(user?.value, '/users/{id}');
  assert.deepEqual(user?.parameters, { id: '42' });
  assert.equal(user?.listenPath, '/users/42');
  assert.deepEqual(router.find('', '/files/abc.txt')?.parameters, { name: 'abc' });
  assert.equal(findValue(router, '/files/ABC.txt'), undefined);
  assert.equal(findValue(router, '/users/deep/er'), '/users/{id}');
  assert.equal(findValue(router, '/x/deep/er'), '/{any}/deep/er');
});

test('an API with a host wins over one without, and does not match other hosts', () => {
  const router = strict.withChanges([
    { host: 'api.example.org', listenPath: '/', value: 'own' },
    { host: '{tenant}.example.net', listenPath: '/x', value: 'tenants' },
    { host: '', listenPath: '/x', value: 'anyone' },
  ]);
  assert.equal(findValue(router, '/x', 'api.example.org'), 'own');
  assert.equal(findValue(router, '/x', 'elsewhere.example.org'), 'anyone');
  assert.deepEqual(router.find('acme.example.net', '/x')?.parameters, { tenant: 'acme' });
  assert.equal(findValue(router, '/y', 'elsewhere.example.org'), undefined);
});

test('of several parameter segments the longest match wins, then the more specific one, independent of order', () => {
  const routes = ['/o/{a}', '/o/{b:[0-9]+}', '/o/v{c}', '/p/{a}', '/p/{b:[0-9]+}/x/y'];
  const hosts = ['{a}.example.org', '{b:[0-9]+}.example.org'];
  for (const order of [routes, routes.toReversed()]) {
    const router = withRoutes(strict, ...order).withChanges([{ host: '', listenPath: order[0]!, value: order[0]! }]);
    assert.equal(findValue(router, '/o/12'), '/o/{b:[0-9]+}');
    assert.equal(findValue(router, '/o/v12'), '/o/v{c}');
    assert.equal(findValue(router, '/o/abc'), '/o/{a}');
    assert.equal(findValue(router, '/p/12/x/y'), '/p/{b:[0-9]+}/x/y');
    assert.equal(findValue(router, '/p/12/x'), '/p/{a}');
  }
  for (const order of [hosts, hosts.toReversed()]) {
    const router = strict.withChanges(order.map(host => ({ host, listenPath: '/', value: host })));
    assert.equal(findValue(router, '/x', '12.example.org'), '{b:[0-9]+}.example.org');
  }
});

test('a host template is found by its literal suffix', () => {
  const hosts = ['{a}.org', 'x.{a}', '{a}shop.test', 'v{n}.api.test', '{a}.{b}.test', '{a:.+}'];
  const router = strict.withChanges(hosts.map(host => ({ host, listenPath: '/', value: host })));
  for (const [host, expected] of [
    ['a.org', '{a}.org'],
    ['x.net', 'x.{a}'],
    ['myshop.test', '{a}shop.test'],
    ['v2.api.test', 'v{n}.api.test'],
    ['w2.api.test', '{a}.{b}.test'],
    ['a.b.c.d', '{a:.+}'],
    ['localhost', '{a:.+}'],
  ] as const)
    assert.equal(findValue(router, '/y', host), expected, host);
});

test('prefix matching takes the longest static segment that the path segment starts with', () => {
  const router = withRoutes(loose, '/app', '/ap');
  assert.equal(findValue(router, '/apple/x'), '/app');
  assert.equal(findValue(router, '/apt'), '/ap');
  assert.equal(findValue(router, '/a'), undefined);
});

test('withChanges leaves the previous router unchanged', () => {
  const first = withRoutes(strict, '/a', '/a/b', '/c/{d}');
  const second = first.withChanges([
    { host: '', listenPath: '/a/b', value: undefined },
    { host: '', listenPath: '/c/{d}', value: undefined },
    { host: '', listenPath: '/new', value: '/new' },
  ]);
  assert.equal(findValue(first, '/a/b'), '/a/b');
  assert.equal(findValue(first, '/new'), undefined);
  assert.equal(findValue(first, '/c/1'), '/c/{d}');
  assert.equal(findValue(second, '/a/b'), '/a');
  assert.equal(findValue(second, '/c/1'), undefined);
  assert.equal(findValue(second, '/new'), '/new');
});

test('for any set of listen paths the match is the longest whole-segment prefix of the path', () => {
  const segment = fc.constantFrom('a', 'b', 'ab', 'c');
  const path = fc.array(segment, { maxLength: 4 }).map(parts => `/${parts.join('/')}`);
  fc.assert(
    fc.property(fc.uniqueArray(path, { maxLength: 12 }), path, (routes, asked) => {
      const fits = (route: string) => route === '/' || asked === route || asked.startsWith(`${route}/`);
      const expected = routes.filter(fits).sort((a, b) => b.length - a.length)[0];
      assert.equal(findValue(withRoutes(strict, ...routes), asked), expected);
    }),
  );
});

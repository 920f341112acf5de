import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkClassic } from './classic.ts';
import { checkOas } from './oas.ts';
import { compilePathTemplate, findPathTemplateError, hostLabelPattern, normalizeHost } from './path-template.ts';

const fitting: readonly (readonly [segment: string, text: string, values: readonly string[] | undefined])[] = [
  ['{id}', 'a7', ['a7']],
  ['v{major}.{minor}', 'v1.2', ['1', '2']],
  ['{id:[0-9]{2}}', '42', ['42']],
  ['{id:[0-9]{2}}', '4', undefined],
  ['{a:(x|y)+}-{b:(?P<n>z)}', 'xy-z', ['xy', 'z']],
  ['{a:[(]}', '(', ['(']],
  ['{a:\\(}', '(', ['(']],
  ['a.b{c}', 'axbc', undefined],
  ['a.b{c}', 'a.bc', ['c']],
  ['{id}', '', undefined],
  ['{id}', 'a/b', undefined],
  ['aa{x}aa', 'aaa', undefined],
  ['aa{x}aa', 'aaaa', undefined],
  ['aa{x}aa', 'aaxaa', ['x']],
  ['{x}', 'é😀', ['é😀']],
  ['a{x:.*}a', 'a', undefined],
  ['a{x:.*}a', 'aa', ['']],
  ['a{x:b}c{y}', 'abcd', ['b', 'd']],
];
for (const [segment, text, values] of fitting)
  test(`${segment} ${values ? 'fits' : 'does not fit'} ${text}`, () =>
    assert.deepEqual(compilePathTemplate(segment).match(text), values));

test('a host parameter matches one label', () => {
  assert.deepEqual(compilePathTemplate('{t}.a.test', hostLabelPattern).match('x.a.test'), ['x']);
  assert.equal(compilePathTemplate('{t}.a.test', hostLabelPattern).match('x.y.a.test'), undefined);
});

test('a host is lower-cased, its patterns are not', () => {
  assert.equal(normalizeHost('{T:\\D+}.Shop.TEST.'), '{T:\\D+}.shop.test');
});

const unreadable = 'is not a valid regular expression (RE2 syntax)';

test('a path or host template that does not compile is rejected in both formats, with its path', () => {
  for (const segment of ['{x:(}', '{x:a)(b}', '{x:(?=a)}', '{x:(a)\\1}', '{x:(a{1000}){1000}}']) {
    assert.equal(findPathTemplateError(`/a/${segment}`, '/'), `${segment} ${unreadable}`);
    const classic = checkClassic({ proxy: { listen_path: `/a/${segment}` }, domain: `${segment}.test` });
    assert.ok(!classic.ok);
    assert.deepEqual(
      classic.errors.map(({ path }) => path),
      ['proxy.listen_path', 'domain'],
    );
    const oas = checkOas({
      openapi: '3.0.3',
      info: { title: 'A', version: '1' },
      paths: {},
      'x-gw-api-gateway': {
        info: { name: 'A', state: { active: true } },
        upstream: { url: 'http://127.0.0.1' },
        server: { listenPath: { value: `/${segment}` }, customDomain: { enabled: true, name: segment } },
      },
    });
    assert.ok(!oas.ok);
    const places = ['listenPath.value', 'customDomain.name'].map(it => `x-gw-api-gateway.server.${it}`);
    assert.deepEqual(
      oas.errors.map(({ path }) => path),
      places,
    );
  }
});

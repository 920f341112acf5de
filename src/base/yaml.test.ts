import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYaml, toYamlText } from './yaml.ts';

test('YAML is parsed as data, dates and versions as text', () => {
  assert.deepEqual(parseYaml("a: [1, true, null]\nday: 2026-01-02\nopenapi: 3.0.3\n200: { x: 'y' }\n"), {
    a: [1, true, null],
    day: '2026-01-02',
    openapi: '3.0.3',
    '200': { x: 'y' },
  });
  assert.deepEqual(parseYaml('base: &b { p: 1 }\nmore: { <<: *b, q: 2 }\n'), { base: { p: 1 }, more: { p: 1, q: 2 } });
  assert.throws(() => parseYaml('b:\n  a: 1\n  "a": 2'), /duplicate member a/);
  assert.deepEqual(parseYaml('{"json": "is YAML"}'), { json: 'is YAML' });
});

test('malformed YAML is rejected with its position, and never quoted', () => {
  for (const text of ['a: [', 'a: secret: b', '--- a\n--- b', '"secret'])
    assert.throws(
      () => parseYaml(text),
      (error: Error) => /^Request body malformed: it is not YAML at character \d+$/.test(error.message),
      text,
    );
  assert.throws(() => parseYaml(' \n'), /Request body is empty/);
});

test('alias expansion is bounded', () => {
  const names = Array.from({ length: 12 }, (_, at) => String.fromCharCode(97 + at));
  const lines = names.map((name, at) => {
    const part =
      at === 0
        ? 'x'
        : Array(9)
            .fill(`*${names[at - 1]}`)
            .join(', ');
    return `${name}: &${name} [${part}]`;
  });
  assert.throws(() => parseYaml(lines.join('\n')), /has too many aliases/);
  assert.throws(() => parseYaml('a: &a [*a]'), /malformed/);
  assert.throws(() => parseYaml('['.repeat(5000)), /malformed/);
  assert.throws(() => parseYaml('['.repeat(5_000_000)), /too long for YAML/);
  assert.throws(() => parseYaml(`${'['.repeat(200)}${']'.repeat(200)}`), /nested deeper/);
});

test('YAML has the bounds of JSON', () => {
  assert.throws(() => parseYaml('a: .inf'), /a number is too large/);
  assert.throws(() => parseYaml('__proto__: { a: 1 }'), /the member name __proto__ is not allowed/);
  assert.throws(() => parseYaml('a: "\\0"'), /NUL/);
  assert.throws(() => parseYaml('[1, 2, 3]', 2), /more than 2 values/);
});

test('a value formatted as YAML is parsed back the same', () => {
  const shared = { text: 'no', number: 1, date: '2026-01-01', long: 'word '.repeat(60) };
  const value = { shared, again: shared, list: [null, true, 'a: b', '- c', ''], '3.0': '3.10' };
  assert.deepEqual(parseYaml(toYamlText(value)), value);
  assert.doesNotMatch(toYamlText(value), /[&*]/);
});

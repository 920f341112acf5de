import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { getByPath, parseJson } from './json.ts';

test('any JSON value is parsed unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), value => {
      const text = JSON.stringify(value);
      fc.pre(!text.includes('__proto__') && !text.includes('\\u0000'));
      assert.deepEqual(parseJson(text), JSON.parse(text));
    }),
    { numRuns: 200 },
  );
});

test('an empty body is rejected as empty', () => {
  for (const text of ['', ' ', '\n\t']) assert.throws(() => parseJson(text), { code: 'json.empty', status: 400 });
});

test('a hundred levels are read, one more is refused, and a hundred thousand cannot exhaust the stack', () => {
  const nestArrays = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  assert.ok(parseJson(nestArrays(100)));
  for (const levels of [101, 100_000]) assert.throws(() => parseJson(nestArrays(levels)), { code: 'json.too_deep' });
  assert.throws(() => parseJson(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`), { code: 'json.too_deep' });
});

test('a member called __proto__ is refused at any depth, however it is written', () => {
  for (const text of ['{"__proto__":{"a":1}}', '[{"b":{"__proto__":1}}]', '{"\\u005f_proto__":1}'])
    assert.throws(() => parseJson(text), { code: 'json.forbidden_name', message: /__proto__/ });
  assert.deepEqual(parseJson('{"constructor":{"prototype":1}}'), { constructor: { prototype: 1 } });
});

test('a NUL character is refused in text and in names, since one of the engines cannot hold it', () => {
  for (const text of ['"\\u0000"', '["a\\u0000b"]', '{"a\\u0000":1}', '{"a":{"b":["\\u0000"]}}'])
    assert.throws(() => parseJson(text), { code: 'json.forbidden_text' });
});

test('a number beyond the range of doubles is rejected, the largest double is not', () => {
  for (const text of ['1e999', '[-1e999]', `{"a":${'9'.repeat(400)}}`])
    assert.throws(() => parseJson(text), { code: 'json.forbidden_number' });
  assert.equal(parseJson('1e308'), 1e308);
});

test('a syntax error is reported with its position', () => {
  const readMessage = (text: string) => {
    try {
      parseJson(text);
    } catch (error) {
      return (error as Error).message;
    }
    return assert.fail(text);
  };
  assert.equal(readMessage('{"a" 1}'), 'Request body malformed: it is not JSON at character 5');
  assert.equal(readMessage('{"a":'), 'Request body malformed: unexpected end of JSON');
  assert.equal(readMessage('at position 5'), 'Request body malformed: it is not JSON');
});

test('neither the message nor the detail of an error quotes the body', () => {
  const texts = ['canary', '{"a": canary}', '"canary', '["canary",]', '{"canary": tru}', '{"__proto__":"canary"}'];
  for (const text of [
    ...texts,
    '["canary\\u0000"]',
    `["canary",1e999]`,
    `${'['.repeat(200)}"canary"${']'.repeat(200)}`,
  ])
    assert.throws(
      () => parseJson(text),
      (error: Error) => !`${error.message}${error.stack}${JSON.stringify(error)}${error.cause}`.includes('canary'),
      text,
    );
});

test('a text of more values than allowed is refused, wherever they stand', () => {
  const many = (count: number) => JSON.stringify(Array.from({ length: count }, () => 1));
  assert.equal((parseJson(many(99), 100) as unknown[]).length, 99);
  for (const text of [many(100), `{"a":${many(60)},"b":${many(60)}}`, '[[[1]]]'.replace('1', many(100))])
    assert.throws(() => parseJson(text, 100), /it has more than 100 values/);
});

test('a path reaches own members and items only', () => {
  const value = { a: [{ b: 1 }], c: null };
  assert.equal(getByPath(value, ['a', '0', 'b']), 1);
  assert.equal(getByPath(value, []), value);
  for (const path of [['x'], ['c', 'd'], ['a', 'length', 'x'], ['toString'], ['__proto__'], ['a', '1']])
    assert.equal(getByPath(value, path), undefined, path.join('.'));
});

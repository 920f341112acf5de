import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidBody, parseBodyData } from './body-data.ts';

const read = (text: string, maxValues = 1000) => parseBodyData(Buffer.from(text), 'json', maxValues);
const isLimitExceeded = (error: unknown) => error instanceof InvalidBody && error.isLimitExceeded;

test('long whole numbers stay exact, up to a bound of digits', () => {
  assert.equal(read('{"a": 12345678901234567890}').a, 12345678901234567890n);
  assert.equal(read(`{"a": -${'9'.repeat(900)}}`).a, BigInt(`-${'9'.repeat(900)}`));
  assert.throws(() => read(`{"a": ${'9'.repeat(1_000_000)}}`), isLimitExceeded);
});

test('a body holds at most so many values, with long numbers and without', () => {
  for (const last of ['1', '12345678901234567890']) {
    assert.equal((read(`[${'1,'.repeat(998)}${last}]`).array as unknown[]).length, 999);
    assert.throws(() => read(`[${'1,'.repeat(999)}${last}]`), isLimitExceeded);
    assert.throws(() => read(`[${'{},'.repeat(999)}${last}]`), isLimitExceeded);
  }
});

test('values are counted before the text is parsed: one that is not JSON is refused for its number of values', () => {
  assert.throws(() => read(`${'[1,'.repeat(2000)}`), isLimitExceeded);
});

test('XML holds at most so many elements and attributes', () => {
  const xml = (parts: number) => Buffer.from(`<r>${'<a/>'.repeat(parts - 1)}</r>`);
  assert.equal((parseBodyData(xml(100), 'xml', 100).r as { a: unknown[] }).a.length, 99);
  assert.throws(() => parseBodyData(xml(101), 'xml', 100), isLimitExceeded);
});

test('nesting that would exhaust the stack is refused', () => {
  const nestArrays = (levels: number) => `${'['.repeat(levels)}12345678901234567890${']'.repeat(levels)}`;
  assert.ok(read(nestArrays(900)));
  assert.throws(() => read(nestArrays(100_000), 1_000_000), isLimitExceeded);
});

test('the error of a body that is not JSON does not repeat its text', () => {
  assert.throws(() => read('{"secret": 12345678901234567890'), { message: 'the body is not JSON' });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { canExceedValues, findJsonExcess } from './json-scan.ts';

const endless = Number.POSITIVE_INFINITY;

function measure(value: unknown, depth = 0): { values: number; depth: number } {
  if (typeof value !== 'object' || value === null) return { values: 1, depth };
  const inner = Object.values(value).map(it => measure(it, depth + 1));
  return {
    values: inner.reduce((sum, it) => sum + it.values, 1),
    depth: inner.reduce((most, it) => Math.max(most, it.depth), depth + 1),
  };
}

describe('JSON pre-scan', () => {
  test('a text passes with exactly its values and levels, and with one less of either it is refused', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        const { values, depth } = measure(JSON.parse(text));
        assert.equal(findJsonExcess(text, { maxValues: values, maxDepth: depth }), undefined, text);
        assert.equal(findJsonExcess(text, { maxValues: values - 1, maxDepth: endless }), 'values', text);
        assert.ok(canExceedValues(text, values - 1), text);
        assert.equal(findJsonExcess(text, { maxValues: endless, maxDepth: depth - 1 }) ?? 'depth', 'depth', text);
      }),
      { numRuns: 500 },
    );
  });

  test('brackets, commas and escaped quotes inside strings are not counted', () => {
    for (const text of ['"[[[,,,{{{"', '"\\",,,[["', '"\\\\"', '{"[,\\"[,":"\\\\\\"[,"}'])
      assert.equal(findJsonExcess(text, { maxValues: 2, maxDepth: 1 }), undefined, text);
  });

  test('the scan stops at the first value or level too many', () => {
    let read = 0;
    const text = {
      length: 3_000_000,
      charCodeAt: (at: number) => {
        read = Math.max(read, at);
        return at === 0 ? 91 : at % 2 === 1 ? 49 : 44;
      },
    };
    assert.equal(findJsonExcess(text as string, { maxValues: 10, maxDepth: 10 }), 'values');
    assert.ok(read < 30, `read ${read} characters`);
  });

  test('malformed text ends the scan without an error', () => {
    for (const text of ['', '"', '"\\', '[', ']]]]', '{{', '[ ', '{"a', 'nul'])
      findJsonExcess(text, { maxValues: 100, maxDepth: 100 });
  });
});

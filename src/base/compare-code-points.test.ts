import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { compareCodePoints } from './compare-code-points.ts';

describe('order by code points', () => {
  test('texts sort as their UTF-8 bytes do', () => {
    const text = fc.string({
      unit: fc.constantFrom('', 'a', 'b', '\u00e9', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '😀'),
    });
    fc.assert(
      fc.property(text, text, (left, right) => {
        const expected = Buffer.compare(Buffer.from(left), Buffer.from(right));
        assert.equal(Math.sign(compareCodePoints(left, right)), expected);
      }),
    );
  });

  test('a character beyond the basic plane sorts after U+FFFF, unlike in the default order', () => {
    assert.deepEqual(['\u{10000}', '\uffff'].sort(), ['\u{10000}', '\uffff']);
    assert.deepEqual(['\u{10000}', '\uffff'].sort(compareCodePoints), ['\uffff', '\u{10000}']);
  });
});

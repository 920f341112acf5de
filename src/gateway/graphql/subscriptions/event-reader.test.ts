import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createEventParser } from './event-reader.ts';

describe('server-sent events', () => {
  const text =
    ': comment\r\nevent: next\r\ndata: {"a":\r\ndata: 1}\r\n\r\ndata:x\n\nid: 7\n\nevent: complete\rdata\r\r';
  const expected = [
    { name: 'next', data: '{"a":\n1}' },
    { name: '', data: 'x' },
    { name: 'complete', data: '' },
  ];
  for (const size of [1, 2, 3, 7, 1000])
    test(`events are the same in chunks of ${size}`, () => {
      const parse = createEventParser(100);
      const chunks = text.match(new RegExp(`[^]{1,${size}}`, 'g'))!;
      assert.deepEqual(
        chunks.flatMap(chunk => parse(chunk)),
        expected,
      );
    });

  test('an event beyond the bound is refused, in one line or in many', () => {
    assert.throws(() => createEventParser(10)('data: 123456789'), RangeError);
    assert.throws(() => createEventParser(10)('data: 1\ndata: 2\n'), RangeError);
    assert.equal(createEventParser(10)('data: 1\n\n'.repeat(100)).length, 100);
  });
});

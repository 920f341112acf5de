import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeQueryText, percentDecodeLoosely } from './percent-decode.ts';

describe('percent-decoding', () => {
  test('encoded text is decoded once, and a plus sign is a space in a query alone', () => {
    assert.equal(percentDecodeLoosely('a%2Fb+%25'), 'a/b+%');
    assert.equal(decodeQueryText('a%2Fb+%25'), 'a/b %');
    assert.equal(percentDecodeLoosely('%C3%BC'), 'ü');
  });

  test('malformed encoding and invalid UTF-8 stay as they are', () => {
    for (const text of ['100%', '%zz+', '%C3', '%2F%'])
      assert.deepEqual([percentDecodeLoosely(text), decodeQueryText(text)], [text, text]);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { CborError, decodeCbor } from './cbor.ts';

const decode = (hex: string) => decodeCbor(Buffer.from(hex, 'hex'));

describe('CBOR', () => {
  test('values are those of RFC 8949, appendix A', () => {
    const vectors: [string, unknown][] = [
      ['00', 0],
      ['17', 23],
      ['1818', 24],
      ['1903e8', 1000],
      ['1a000f4240', 1_000_000],
      ['1b000000e8d4a51000', 1_000_000_000_000],
      ['20', -1],
      ['3903e7', -1000],
      ['f4', false],
      ['f5', true],
      ['f6', null],
      ['4401020304', Buffer.from([1, 2, 3, 4])],
      ['6449455446', 'IETF'],
      ['8301820203820405', [1, [2, 3], [4, 5]]],
      [
        'a201020304',
        new Map([
          [1, 2],
          [3, 4],
        ]),
      ],
      [
        'a26161016162820203',
        new Map<string, unknown>([
          ['a', 1],
          ['b', [2, 3]],
        ]),
      ],
    ];
    for (const [hex, value] of vectors) assert.deepEqual(decode(hex), { value, end: hex.length / 2 });
  });

  test('decoding starts at the given offset and reports the end', () => {
    assert.deepEqual(decodeCbor(Buffer.from([0xff, 0x61, 0x61, 0x01]), 1), { value: 'a', end: 3 });
  });

  test('other encodings are rejected with a reason', () => {
    const faults: [string, RegExp][] = [
      ['', /truncated/],
      ['4401', /truncated/],
      ['9bffffffffffffffff', /too large/],
      ['9a00ffffff', /truncated/],
      ['5f', /indefinite/],
      ['f97e00', /unsupported type/],
      ['c001', /tag/],
      ['61ff', /UTF-8/],
      ['a201010102', /twice/],
      ['a18001', /map key/],
      [`${'81'.repeat(10)}01`, /nested too deeply/],
    ];
    for (const [hex, reason] of faults)
      assert.throws(
        () => decode(hex),
        (error: unknown) => error instanceof CborError && reason.test(error.message),
        hex,
      );
  });

  test('any bytes are decoded or rejected', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), bytes => {
        try {
          assert.ok(decodeCbor(Buffer.from(bytes)).end <= bytes.length);
        } catch (error) {
          assert.ok(error instanceof CborError);
        }
      }),
    );
  });
});

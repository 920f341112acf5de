import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { createQrCode } from './qr-code.ts';
import { appendRemainder, encodeFormat } from './qr-matrix.ts';
import { computeCorrection } from './reed-solomon.ts';

const toLines = (rows: readonly (readonly boolean[])[] | undefined) =>
  rows?.map(row => row.map(isDark => (isDark ? '1' : '0')).join(''));
const toBytes = (hex: string) => Uint8Array.fromHex(hex.replaceAll(' ', ''));

/** Output of qrencode 4.1.1 (`qrencode -8 -l M -m 0 a`), which chose mask 4. */
const symbolOfA = `
111111101010101111111
100000100011001000001
101110100110101011101
101110101110101011101
101110101000101011101
100000101011001000001
111111101010101111111
000000001011100000000
100010111111011111001
110100010011100101011
101000100101001111100
110010011110011010110
110011111010111000111
000000001100111000110
111111101100110000010
100000100111100101010
101110101011001111111
101110100101100101011
101110100101001111100
100000100100011010100
111111101110111000101`.trim();

/** Modules in a line, and SHA-256 of the lines of qrencode 4.1.1 at level M. */
const largeSymbols: readonly (readonly [text: string, size: number, digest: string])[] = [
  [
    'otpauth://totp/Gatewright:ann@example.org?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Gatewright&algorithm=SHA1&digits=6&period=30',
    49,
    '3f6621ad67e8981def471727c2ab4034b960d9a80d8d3587d9c48774d5cdd46a',
  ],
  ['x'.repeat(300), 69, 'a6c4c99a50e77d18b6ddfdcbd85fffbd3b4da81e4eabc96b030a3f559d2b7fbb'],
  ['é'.repeat(333), 97, 'ff1411bbaee01f724ef768180a4e4d03482c1197f6795207618bf061573279eb'],
];

describe('QR code', () => {
  test('error correction codewords equal those of the example of ISO/IEC 18004, annex I', () => {
    const data = toBytes('10 20 0C 56 61 80 EC 11 EC 11 EC 11 EC 11 EC 11');
    assert.deepEqual(computeCorrection(data, 10), toBytes('A5 24 D4 C1 ED 36 C7 87 2C 55'));
  });

  test('format and version information equal the examples of ISO/IEC 18004, annexes C and D', () => {
    assert.equal(encodeFormat(0b101).toString(2), '100000011001110');
    assert.equal(appendRemainder(7, 0x1f25, 12).toString(2).padStart(18, '0'), '000111110010010100');
  });

  test('a symbol equals that of another encoder, module by module', () => {
    assert.deepEqual(toLines(createQrCode('a', 4)), symbolOfA.split('\n'));
    for (const [text, size, digest] of largeSymbols) {
      const lines = toLines(createQrCode(text)) ?? [];
      assert.equal(lines.length, size);
      assert.equal(createHash('sha256').update(lines.join('\n')).digest('hex'), digest, text);
    }
  });

  test('a text beyond the largest version has no symbol', () => {
    assert.equal(createQrCode('x'.repeat(666))?.length, 97);
    assert.equal(createQrCode('x'.repeat(667)), undefined);
  });
});

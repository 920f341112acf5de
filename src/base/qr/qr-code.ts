import { buildDataCodewords, findQrVersion, interleaveCodewords } from './qr-codewords.ts';
import { applyMask, createMatrix, drawCodewords, listMasks } from './qr-matrix.ts';
import { computePenalty } from './qr-penalty.ts';

/**
 * QR code of a text (ISO/IEC 18004): byte mode, error correction level M, smallest version. Rows of modules, true is
 * dark, without the quiet zone. Undefined for a text of more than 666 bytes in UTF-8.
 */
export function createQrCode(text: string, mask?: number): readonly (readonly boolean[])[] | undefined {
  const bytes = new TextEncoder().encode(text);
  const version = findQrVersion(bytes.length);
  if (version === undefined) return undefined;
  const matrix = createMatrix(version);
  drawCodewords(matrix, interleaveCodewords(buildDataCodewords(bytes, version), version));
  const candidates = mask === undefined ? listMasks() : [mask];
  const masked = candidates.map(it => applyMask(matrix, it).modules);
  const penalties = masked.map(computePenalty);
  return masked[penalties.indexOf(Math.min(...penalties))];
}

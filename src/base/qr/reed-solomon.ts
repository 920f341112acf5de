/** Reed-Solomon error correction of QR codes (ISO/IEC 18004, section 7.5.2): GF(256) with the polynomial 0x11d. */
const fieldPolynomial = 0x11d;

export function multiplyInField(x: number, y: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >>> 7) * fieldPolynomial);
    product ^= ((y >>> bit) & 1) * x;
  }
  return product;
}

/** Coefficients of the generator polynomial, highest power first, without the leading 1. */
function createGenerator(degree: number): Uint8Array {
  const generator = new Uint8Array(degree);
  generator[degree - 1] = 1;
  let root = 1;
  for (let power = 0; power < degree; power++) {
    for (let at = 0; at < degree; at++)
      generator[at] = multiplyInField(generator[at]!, root) ^ (generator[at + 1] ?? 0);
    root = multiplyInField(root, 2);
  }
  return generator;
}

/** Error correction codewords of one block: the remainder of its division by the generator polynomial. */
export function computeCorrection(data: Uint8Array, count: number): Uint8Array {
  const generator = createGenerator(count);
  const remainder = new Uint8Array(count);
  for (const byte of data) {
    const factor = byte ^ remainder[0]!;
    remainder.copyWithin(0, 1);
    remainder[count - 1] = 0;
    for (let at = 0; at < count; at++) remainder[at]! ^= multiplyInField(generator[at]!, factor);
  }
  return remainder;
}

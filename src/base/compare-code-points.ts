/**
 * Order of texts by code points, which is also that of their UTF-8 bytes. `<` and `sort()` compare UTF-16 units, which put
 * surrogates before U+E000 to U+FFFF.
 */
export function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const leftUnit = left.charCodeAt(at);
    const rightUnit = right.charCodeAt(at);
    if (leftUnit !== rightUnit) return toRank(leftUnit) - toRank(rightUnit);
  }
  return left.length - right.length;
}

/** Surrogates sort above all other code units. */
const toRank = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

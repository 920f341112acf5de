/** Modules of a QR code: function patterns, codewords, masks (ISO/IEC 18004, sections 6 and 7). */
export interface QrMatrix {
  readonly size: number;
  /** Rows of modules; true is dark. */
  readonly modules: boolean[][];
  /** Modules of function patterns, which neither data nor masks change. */
  readonly isFunction: boolean[][];
}

const maskCount = 8;
const masks: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_x, y) => y % 2 === 0,
  x => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

export const listMasks = (): readonly number[] => Array.from({ length: maskCount }, (_, mask) => mask);

export function createMatrix(version: number): QrMatrix {
  const size = version * 4 + 17;
  const rows = () => Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  const matrix: QrMatrix = { size, modules: rows(), isFunction: rows() };
  drawTiming(matrix);
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    drawFinder(matrix, x, y);
  drawAlignments(matrix, version);
  drawVersion(matrix, version);
  drawFormat(matrix, 0);
  return matrix;
}

function setFunction({ modules, isFunction }: QrMatrix, x: number, y: number, isDark: boolean): void {
  modules[y]![x] = isDark;
  isFunction[y]![x] = true;
}

function drawTiming(matrix: QrMatrix): void {
  for (let at = 0; at < matrix.size; at++) {
    setFunction(matrix, 6, at, at % 2 === 0);
    setFunction(matrix, at, 6, at % 2 === 0);
  }
}

/** Finder pattern with its separator; what is outside of the symbol is left out. */
function drawFinder(matrix: QrMatrix, centreX: number, centreY: number): void {
  for (let y = centreY - 4; y <= centreY + 4; y++)
    for (let x = centreX - 4; x <= centreX + 4; x++) {
      if (x < 0 || y < 0 || x >= matrix.size || y >= matrix.size) continue;
      const distance = Math.max(Math.abs(x - centreX), Math.abs(y - centreY));
      setFunction(matrix, x, y, distance !== 2 && distance !== 4);
    }
}

/** Centres of alignment patterns in each direction (annex E). */
function listAlignments(version: number): readonly number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const last = version * 4 + 10;
  const step = Math.ceil((last - 6) / (count - 1) / 2) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_, index) => last - step * (count - 2 - index))];
}

function drawAlignments(matrix: QrMatrix, version: number): void {
  const centres = listAlignments(version);
  const last = centres.length - 1;
  for (const [i, centreY] of centres.entries())
    for (const [j, centreX] of centres.entries()) {
      const isAtFinder = (i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0);
      if (isAtFinder) continue;
      for (let dy = -2; dy <= 2; dy++)
        for (let dx = -2; dx <= 2; dx++)
          setFunction(matrix, centreX + dx, centreY + dy, Math.max(Math.abs(dx), Math.abs(dy)) !== 1);
    }
}

/** Bits with the remainder of their division by a generator polynomial (BCH code, annexes C and D). */
export function appendRemainder(value: number, generator: number, count: number): number {
  let remainder = value;
  for (let at = 0; at < count; at++) remainder = (remainder << 1) ^ ((remainder >>> (count - 1)) * generator);
  return (value << count) | remainder;
}

function drawVersion(matrix: QrMatrix, version: number): void {
  if (version < 7) return;
  const bits = appendRemainder(version, 0x1f25, 12);
  for (let at = 0; at < 18; at++) {
    const isDark = ((bits >>> at) & 1) === 1;
    const [near, far] = [Math.floor(at / 3), matrix.size - 11 + (at % 3)];
    setFunction(matrix, far, near, isDark);
    setFunction(matrix, near, far, isDark);
  }
}

/** Format information of level M (indicator 00) and a mask, with the fixed mask of the standard. */
export const encodeFormat = (mask: number): number => appendRemainder(mask, 0x537, 10) ^ 0x5412;

export function drawFormat(matrix: QrMatrix, mask: number): void {
  const { size } = matrix;
  const bits = encodeFormat(mask);
  const isDark = (at: number) => ((bits >>> at) & 1) === 1;
  const skipTiming = (at: number) => (at < 6 ? at : at + 1);
  for (let at = 0; at < 8; at++) {
    setFunction(matrix, 8, skipTiming(at), isDark(at));
    setFunction(matrix, size - 1 - at, 8, isDark(at));
  }
  for (let at = 8; at < 15; at++) {
    setFunction(matrix, at === 8 ? 7 : 14 - at, 8, isDark(at));
    setFunction(matrix, 8, size - 15 + at, isDark(at));
  }
  setFunction(matrix, 8, size - 8, true);
}

/** Codewords in columns of two modules from the right, upwards and downwards in turn (section 7.7.3). */
export function drawCodewords({ size, modules, isFunction }: QrMatrix, codewords: Uint8Array): void {
  let at = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    const isUpward = ((right + 1) & 2) === 0;
    for (let step = 0; step < size; step++) {
      const y = isUpward ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (isFunction[y]![x] || at >= codewords.length * 8) continue;
        modules[y]![x] = ((codewords[at >>> 3]! >>> (7 - (at & 7))) & 1) === 1;
        at++;
      }
    }
  }
}

/** Copy with a mask applied and named in its format information. */
export function applyMask({ size, modules, isFunction }: QrMatrix, mask: number): QrMatrix {
  const isMasked = masks[mask]!;
  const next = {
    size,
    isFunction,
    modules: modules.map((row, y) => row.map((it, x) => (!isFunction[y]![x] && isMasked(x, y) ? !it : it))),
  };
  drawFormat(next, mask);
  return next;
}

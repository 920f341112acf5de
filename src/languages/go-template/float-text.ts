/**
 * Floating-point formatting of Go's strconv: rounds the exact binary value, ties to even. `toFixed` and `toPrecision`
 * round ties up.
 */
interface Digits {
  /** Without zeros at either end; empty for zero. */
  readonly digits: string;
  /** Position of the decimal point: 12.5 has the digits 125 and the point 2. */
  readonly point: number;
}

const bits = new DataView(new ArrayBuffer(8));
const mantissaBits = 52n;
/** The most decimals a double can have. */
const maxDecimals = 1074;

function exactDigits(value: number): Digits {
  bits.setFloat64(0, Math.abs(value));
  const raw = bits.getBigUint64(0);
  const biased = Number(raw >> mantissaBits);
  const fraction = raw & ((1n << mantissaBits) - 1n);
  const mantissa = biased === 0 ? fraction : fraction | (1n << mantissaBits);
  const exponent = (biased === 0 ? 1 : biased) - 1075;
  if (exponent >= 0) return trimDigits(String(mantissa << BigInt(exponent)), 0);
  // m / 2^k is m * 5^k / 10^k.
  return trimDigits(String(mantissa * 5n ** BigInt(-exponent)), exponent);
}

/** Shortest digits that round-trip. */
function shortestDigits(value: number): Digits {
  const [digits, exponent] = Math.abs(value).toExponential().replace('.', '').split('e') as [string, string];
  return trimDigits(digits, Number(exponent) - digits.length + 1);
}

function trimDigits(written: string, exponent: number): Digits {
  const whole = written.replace(/^0+/, '');
  const digits = whole.replace(/0+$/, '');
  return { digits, point: digits === '' ? 0 : whole.length + exponent };
}

function roundDigits({ digits, point }: Digits, count: number): Digits {
  if (count >= digits.length) return { digits, point };
  if (count < 0) return { digits: '', point: 0 };
  const kept = digits.slice(0, count);
  const isTie = digits[count] === '5' && count + 1 === digits.length;
  const isUp = isTie ? Number(kept.at(-1) ?? 0) % 2 === 1 : digits[count]! >= '5';
  if (!isUp) return trimDigits(kept, point - count);
  return trimDigits(String(BigInt(kept || '0') + 1n), point - count);
}

function writeFixed({ digits, point }: Digits, decimals: number): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  if (decimals === 0) return whole;
  const behind = point >= 0 ? digits.slice(point) : '0'.repeat(Math.min(-point, decimals)) + digits;
  return `${whole}.${behind.slice(0, decimals).padEnd(decimals, '0')}`;
}

function writeExponent({ digits, point }: Digits, decimals: number): string {
  const exponent = digits === '' ? 0 : point - 1;
  const behind = decimals > 0 ? `.${digits.slice(1).padEnd(decimals, '0')}` : '';
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `${digits[0] ?? '0'}${behind}e${exponent < 0 ? '-' : '+'}${size}`;
}

function writeGeneral(value: number, precision: number | undefined): string {
  const most = precision === 0 ? 1 : precision;
  const found = most === undefined ? shortestDigits(value) : roundDigits(exactDigits(value), most);
  const { digits, point } = found;
  const count = digits.length;
  const limit = most === undefined ? 6 : most > count && count >= point ? count : most;
  if (digits !== '' && (point - 1 < -4 || point - 1 >= limit)) return writeExponent(found, count - 1);
  return writeFixed(found, Math.max(0, count - point));
}

/** Absolute value of a finite number under `%e`, `%f` or `%g`; without precision `%g` writes the shortest form. */
export function formatFloat(verb: 'e' | 'f' | 'g', value: number, precision: number | undefined): string {
  if (verb === 'g') return writeGeneral(value, precision);
  const decimals = precision ?? 6;
  const exact = exactDigits(value);
  if (verb === 'e') return writeExponent(roundDigits(exact, decimals + 1), decimals);
  return writeFixed(roundDigits(exact, exact.point + Math.min(decimals, maxDecimals)), decimals);
}

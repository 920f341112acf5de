import type { Plain, PlainTable } from '../builtins-table.ts';
import { raise } from '../error.ts';
import { isNumber, kindOf, shown } from '../values.ts';

const number = (value: unknown): number => (isNumber(value) ? Number(value) : raise(`${shown(value)} number required`));

const one =
  (compute: (value: number) => number): Plain =>
  (_machine, value) =>
    compute(number(value));
const two =
  (compute: (left: number, right: number) => number): Plain =>
  (_machine, _value, left, right) =>
    compute(number(left), number(right));

/** Those the engine has under the same name. */
const same =
  'floor sqrt ceil trunc exp log log10 log2 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh cbrt expm1 log1p'.split(
    ' ',
  ) as readonly ('floor' | 'sqrt')[];

/** Away from zero where it is between two. */
const rounded = (value: number) => Math.sign(value) * Math.round(Math.abs(value));
const smallestNormal = 2 ** -1022;
const roundToEven = (value: number) => (Math.abs(value % 1) === 0.5 ? 2 * Math.round(value / 2) : Math.round(value));

/** A test of numbers; no other value passes it. */
const is =
  (test: (value: number) => boolean): Plain =>
  (_machine, value) =>
    isNumber(value) && test(Number(value));

/** Zero and what is not finite have no exponent. */
const isWhole = (value: number) => value === 0 || !Number.isFinite(value);

/** The binary exponent, exact also where the logarithm is rounded. */
function exponentOf(value: number): number {
  if (!Number.isFinite(value)) return Math.abs(value);
  const size = Math.abs(value);
  let exponent = Math.floor(Math.log2(size));
  if (size < 2 ** exponent) exponent--;
  else if (size >= 2 ** (exponent + 1)) exponent++;
  return exponent;
}

/** In two steps, because the power itself may be out of range where the result is not. */
function scale(value: number, exponent: number): number {
  const half = Math.trunc(exponent / 2);
  return value * 2 ** half * 2 ** (Math.trunc(exponent) - half);
}

function split(value: number): [mantissa: number, exponent: number] {
  if (isWhole(value)) return [value, 0];
  const exponent = exponentOf(value) + 1;
  return [scale(value, -exponent), exponent];
}

function fraction(value: number): [part: number, whole: number] {
  const whole = Math.trunc(value);
  return [Number.isFinite(value) ? value - whole : value === whole ? 0 : value, whole];
}

/** The IEEE remainder: of the nearest whole quotient, not of the truncated one. */
function remainder(left: number, right: number): number {
  const rest = left % right;
  const size = Math.abs(right);
  if (Math.abs(rest) * 2 > size) return rest - Math.sign(rest) * size;
  const isOdd = Math.abs(rest) * 2 === size && Math.abs(Math.trunc(left / right)) % 2 === 1;
  return isOdd ? rest - Math.sign(rest) * size : rest;
}

const float = new Float64Array(1);
const bits = new BigInt64Array(float.buffer);

/** The next number that can be told apart, in the direction of another. */
function nextAfter(from: number, toward: number): number {
  if (Number.isNaN(from) || Number.isNaN(toward)) return Number.NaN;
  if (from === toward) return toward;
  if (from === 0) return toward > 0 ? Number.MIN_VALUE : -Number.MIN_VALUE;
  float[0] = from;
  bits[0] = bits[0]! + (toward > from === from > 0 ? 1n : -1n);
  return float[0];
}

export const numbers: PlainTable = {
  ...Object.fromEntries(same.map(name => [`${name}/0`, one(Math[name])])),
  'round/0': one(rounded),
  'rint/0': one(roundToEven),
  'fabs/0': one(Math.abs),
  'abs/0': one(Math.abs),
  'exp2/0': one(value => 2 ** value),
  'exp10/0': one(value => 10 ** value),
  'pow/2': two((base, power) => base ** power),
  'atan2/2': two(Math.atan2),
  'fmin/2': two(Math.min),
  'fmax/2': two(Math.max),
  'fmod/2': two((left, right) => left % right),
  'infinite/0': () => Number.POSITIVE_INFINITY,
  'nan/0': () => Number.NaN,
  'isnan/0': is(Number.isNaN),
  'isinfinite/0': is(value => Math.abs(value) === Number.POSITIVE_INFINITY),
  'isfinite/0': is(Number.isFinite),
  'isnormal/0': is(value => Number.isFinite(value) && Math.abs(value) >= smallestNormal),
  'nearbyint/0': one(roundToEven),
  'logb/0': one(value => (value === 0 ? Number.NEGATIVE_INFINITY : exponentOf(value))),
  'significand/0': one(value => (isWhole(value) ? value : value / 2 ** exponentOf(value))),
  'frexp/0': (_machine, value) => split(number(value)),
  'modf/0': (_machine, value) => fraction(number(value)),
  'ldexp/2': two(scale),
  'scalb/2': two(scale),
  'scalbln/2': two(scale),
  'hypot/2': two(Math.hypot),
  'copysign/2': two((size, sign) => (sign < 0 || Object.is(sign, -0) ? -Math.abs(size) : Math.abs(size))),
  'drem/2': two(remainder),
  'remainder/2': two(remainder),
  'fdim/2': two((left, right) => Math.max(left - right, 0)),
  'nextafter/2': two(nextAfter),
  'nexttoward/2': two(nextAfter),
  'fma/3': (_machine, _value, left, right, plus) => number(left) * number(right) + number(plus),
  'tonumber/0'({ budget }, value) {
    if (isNumber(value)) return value;
    if (typeof value !== 'string') return raise(`${shown(value)} cannot be parsed as a number`);
    budget.read(value.length);
    const text = value.trim();
    return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)
      ? Number(text)
      : raise(`${shown(value)} cannot be parsed as a number`);
  },
  'not/0': (_machine, value) => value === null || value === undefined || value === false,
  'type/0': (_machine, value) => kindOf(value),
};

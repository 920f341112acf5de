import type { Builtin, BuiltinTable } from '../builtin.ts';
import { raise } from '../error.ts';
import { describeValue, isJqNumber, jqTypeOf } from '../values.ts';

const requireNumber = (value: unknown): number =>
  isJqNumber(value) ? Number(value) : raise(`${describeValue(value)} number required`);

const createUnary =
  (compute: (value: number) => number): Builtin =>
  (_machine, value) =>
    compute(requireNumber(value));
const createBinary =
  (compute: (left: number, right: number) => number): Builtin =>
  (_machine, _value, left, right) =>
    compute(requireNumber(left), requireNumber(right));

/** Functions that `Math` has under the same name. */
const sharedWithMath =
  'floor sqrt ceil trunc exp log log10 log2 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh cbrt expm1 log1p'.split(
    ' ',
  ) as readonly ('floor' | 'sqrt')[];

/** Rounds half away from zero. */
const roundHalfAway = (value: number) => Math.sign(value) * Math.round(Math.abs(value));
const smallestNormal = 2 ** -1022;
const roundToEven = (value: number) => (Math.abs(value % 1) === 0.5 ? 2 * Math.round(value / 2) : Math.round(value));

/** A predicate of numbers; false for other values. */
const createPredicate =
  (test: (value: number) => boolean): Builtin =>
  (_machine, value) =>
    isJqNumber(value) && test(Number(value));

/** Zero and values that are not finite have no exponent. */
const hasNoExponent = (value: number) => value === 0 || !Number.isFinite(value);

/** Binary exponent, corrected where the logarithm is rounded. */
function exponentOf(value: number): number {
  if (!Number.isFinite(value)) return Math.abs(value);
  const size = Math.abs(value);
  let exponent = Math.floor(Math.log2(size));
  if (size < 2 ** exponent) exponent--;
  else if (size >= 2 ** (exponent + 1)) exponent++;
  return exponent;
}

/** Scales in two steps: the power may be out of range where the result is not. */
function scale(value: number, exponent: number): number {
  const half = Math.trunc(exponent / 2);
  return value * 2 ** half * 2 ** (Math.trunc(exponent) - half);
}

function splitMantissa(value: number): [mantissa: number, exponent: number] {
  if (hasNoExponent(value)) return [value, 0];
  const exponent = exponentOf(value) + 1;
  return [scale(value, -exponent), exponent];
}

function splitFraction(value: number): [part: number, whole: number] {
  const whole = Math.trunc(value);
  return [Number.isFinite(value) ? value - whole : value === whole ? 0 : value, whole];
}

/** IEEE 754 remainder: of the nearest integer quotient, not the truncated one. */
function remainder(left: number, right: number): number {
  const rest = left % right;
  const size = Math.abs(right);
  if (Math.abs(rest) * 2 > size) return rest - Math.sign(rest) * size;
  const isOdd = Math.abs(rest) * 2 === size && Math.abs(Math.trunc(left / right)) % 2 === 1;
  return isOdd ? rest - Math.sign(rest) * size : rest;
}

const float = new Float64Array(1);
const bits = new BigInt64Array(float.buffer);

/** Next representable number toward another. */
function nextAfter(from: number, toward: number): number {
  if (Number.isNaN(from) || Number.isNaN(toward)) return Number.NaN;
  if (from === toward) return toward;
  if (from === 0) return toward > 0 ? Number.MIN_VALUE : -Number.MIN_VALUE;
  float[0] = from;
  bits[0] = bits[0]! + (toward > from === from > 0 ? 1n : -1n);
  return float[0];
}

export const numberBuiltins: BuiltinTable = {
  ...Object.fromEntries(sharedWithMath.map(name => [`${name}/0`, createUnary(Math[name])])),
  'round/0': createUnary(roundHalfAway),
  'rint/0': createUnary(roundToEven),
  'fabs/0': createUnary(Math.abs),
  'abs/0': createUnary(Math.abs),
  'exp2/0': createUnary(value => 2 ** value),
  'exp10/0': createUnary(value => 10 ** value),
  'pow/2': createBinary((base, power) => base ** power),
  'atan2/2': createBinary(Math.atan2),
  'fmin/2': createBinary(Math.min),
  'fmax/2': createBinary(Math.max),
  'fmod/2': createBinary((left, right) => left % right),
  'infinite/0': () => Number.POSITIVE_INFINITY,
  'nan/0': () => Number.NaN,
  'isnan/0': createPredicate(Number.isNaN),
  'isinfinite/0': createPredicate(value => Math.abs(value) === Number.POSITIVE_INFINITY),
  'isfinite/0': createPredicate(Number.isFinite),
  'isnormal/0': createPredicate(value => Number.isFinite(value) && Math.abs(value) >= smallestNormal),
  'nearbyint/0': createUnary(roundToEven),
  'logb/0': createUnary(value => (value === 0 ? Number.NEGATIVE_INFINITY : exponentOf(value))),
  'significand/0': createUnary(value => (hasNoExponent(value) ? value : value / 2 ** exponentOf(value))),
  'frexp/0': (_machine, value) => splitMantissa(requireNumber(value)),
  'modf/0': (_machine, value) => splitFraction(requireNumber(value)),
  'ldexp/2': createBinary(scale),
  'scalb/2': createBinary(scale),
  'scalbln/2': createBinary(scale),
  'hypot/2': createBinary(Math.hypot),
  'copysign/2': createBinary((size, sign) => (sign < 0 || Object.is(sign, -0) ? -Math.abs(size) : Math.abs(size))),
  'drem/2': createBinary(remainder),
  'remainder/2': createBinary(remainder),
  'fdim/2': createBinary((left, right) => Math.max(left - right, 0)),
  'nextafter/2': createBinary(nextAfter),
  'nexttoward/2': createBinary(nextAfter),
  'fma/3': (_machine, _value, left, right, plus) => requireNumber(left) * requireNumber(right) + requireNumber(plus),
  'tonumber/0'({ budget }, value) {
    if (isJqNumber(value)) return value;
    if (typeof value !== 'string') return raise(`${describeValue(value)} cannot be parsed as a number`);
    budget.chargeText(value.length);
    const text = value.trim();
    return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)
      ? Number(text)
      : raise(`${describeValue(value)} cannot be parsed as a number`);
  },
  'not/0': (_machine, value) => value === null || value === undefined || value === false,
  'type/0': (_machine, value) => jqTypeOf(value),
};

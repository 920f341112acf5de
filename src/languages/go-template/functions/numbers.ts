import type { TemplateBudget } from '../budget.ts';
import { TemplateError } from '../error.ts';
import { isNil, isNumber } from '../values.ts';
import { computeDecimal, decimalOperations } from './decimal.ts';
import { type FunctionTable, type TemplateFunction, withArity, withArityRange, withMinArity } from './fn.ts';

/** Bounds `until`, `untilStep` and `seq`. */
const maxRangeItems = 100_000;
/** Longer text does not count as a number. */
const maxNumberLength = 400;
/** Integers have 64 bits, as in Go. */
const maxInteger = 2n ** 63n - 1n;

const decimalNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const infinite = /^([+-]?)inf(?:inity)?$/i;
/** Integer literals of Go: a leading zero is octal. */
const wholeNumber = /^([+-]?)(0[xX][\da-fA-F]+|0[bB][01]+|0[oO]?[0-7]*|[1-9]\d*)$/;

/** Converts to a float; anything that is no number is zero. */
function toFloat(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string' || value.length > maxNumberLength) return 0;
  if (decimalNumber.test(value)) return Number(value);
  const sign = infinite.exec(value)?.[1];
  return sign === undefined ? 0 : sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

type Whole = number | bigint;

/** Narrows to a number where that is exact. */
function toWhole(value: bigint): Whole {
  if (value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  if (value > maxInteger || value < -maxInteger - 1n) throw new TemplateError('integer overflow');
  return value;
}

function parseWhole(written: string): Whole {
  if (written.length > maxNumberLength) return 0;
  const [, sign, digits] = wholeNumber.exec(written.replace(/\.0*$/, '')) ?? [];
  if (digits === undefined) return 0;
  const size = BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits}` : digits);
  const value = sign === '-' ? -size : size;
  return value > maxInteger || value < -maxInteger - 1n ? 0 : toWhole(value);
}

/** Converts to an integer, truncating; anything that is no number is zero. */
function toInteger(value: unknown): Whole {
  if (typeof value === 'bigint') return toWhole(value);
  if (typeof value === 'string') return parseWhole(value);
  const number = Math.trunc(toFloat(value));
  if (Number.isSafeInteger(number)) return number + 0;
  return Number.isFinite(number) ? toWhole(BigInt(number)) : 0;
}

export const toIntegerNumber = (value: unknown): number => Number(toInteger(value));

interface WholeOperation {
  (left: number, right: number): number;
  (left: bigint, right: bigint): bigint;
}

/** Integer arithmetic, exact beyond 2⁵³; overflow of 64 bits is an error. */
function computeWhole(left: Whole, right: Whole, operation: WholeOperation): Whole {
  if (typeof left === 'number' && typeof right === 'number') {
    const result = operation(left, right);
    if (Number.isSafeInteger(result)) return result + 0;
  }
  return toWhole(operation(BigInt(left), BigInt(right)));
}

/** The operators work on numbers and bigints; the types name one. */
const add = ((left: number, right: number) => left + right) as WholeOperation;
const subtract = ((left: number, right: number) => left - right) as WholeOperation;
const multiply = ((left: number, right: number) => left * right) as WholeOperation;
const remainder = ((left: number, right: number) => left % right) as WholeOperation;

const foldWhole = (operation: WholeOperation, minArgs: number): TemplateFunction =>
  withMinArity(minArgs, args =>
    args.length === 0 ? 0 : args.map(toInteger).reduce((left, right) => computeWhole(left, right, operation)),
  );
const pickWhole = (isBetter: (one: Whole, other: Whole) => boolean): TemplateFunction =>
  withMinArity(1, args => args.map(toInteger).reduce((best, it) => (isBetter(it, best) ? it : best)));
const foldReal = (by: (left: number, right: number) => number): TemplateFunction =>
  withMinArity(1, args => args.map(toFloat).reduce((left, right) => by(left, right)));
const foldDecimal = (operation: keyof typeof decimalOperations, minArgs: number): TemplateFunction =>
  withMinArity(minArgs, (args, budget) => computeDecimal(args.map(toFloat), decimalOperations[operation], budget));
const createUnary = (by: (value: number) => number): TemplateFunction => withArity(1, ([value]) => by(toFloat(value)));

function divideWhole(left: Whole, right: Whole): Whole {
  if (Number(right) === 0) throw new TemplateError('integer divide by zero');
  return toWhole(BigInt(left) / BigInt(right));
}

function moduloWhole(left: Whole, right: Whole): Whole {
  if (Number(right) === 0) throw new TemplateError('integer divide by zero');
  return computeWhole(left, right, remainder);
}

/** Rounds up from the fraction `cut` on, 0.5 by default. */
function roundFrom([value, places, cut]: readonly unknown[]): number {
  const scale = 10 ** Math.min(Math.max(toIntegerNumber(places), -20), 20);
  const scaled = toFloat(value) * scale;
  const size = Math.abs(scaled);
  const up = size - Math.floor(size) >= (isNil(cut) ? 0.5 : toFloat(cut)) ? Math.floor(size) + 1 : Math.floor(size);
  return (Math.sign(scaled) * up) / scale;
}

function listRange(start: number, stop: number, step: number, budget: TemplateBudget): number[] {
  const count = step === 0 ? 0 : Math.max(0, Math.ceil((stop - start) / step));
  if (count > maxRangeItems) throw new TemplateError(`more than ${maxRangeItems} numbers`, 0, true);
  budget.spend(count);
  return Array.from({ length: count }, (_, at) => start + at * step);
}

/** `seq`, as the shell command: an inclusive range as one text. */
function formatSequence(args: readonly unknown[], budget: TemplateBudget): string {
  if (args.length === 0 || args.length > 3) return '';
  const numbers = args.map(toIntegerNumber);
  const [start, step, end] =
    numbers.length === 1
      ? [1, undefined, numbers[0]!]
      : [numbers[0]!, numbers.length === 3 ? numbers[1] : undefined, numbers.at(-1)!];
  const by = step ?? (end < start ? -1 : 1);
  return listRange(start, end + Math.sign(by), by, budget).join(' ');
}

const listUntil = (end: number, budget: TemplateBudget) => listRange(0, end, end < 0 ? -1 : 1, budget);

function parseOctal(value: unknown): Whole {
  const written = typeof value === 'string' || isNumber(value) ? String(value) : '';
  const [, sign, digits] = written.length <= maxNumberLength ? (/^([+-]?)([0-7]+)$/.exec(written) ?? []) : [];
  return digits === undefined ? 0 : parseWhole(`${sign}0o${digits}`);
}

/** `atoi`: decimal digits only, leading zeros allowed; values other than text are converted. */
const parseDecimalInteger = (value: unknown): Whole => {
  if (typeof value !== 'string') return toInteger(value);
  return /^[+-]?\d+$/.test(value) ? parseWhole(value.replace(/^([+-]?)0+(?=\d)/, '$1')) : 0;
};

export const numberFunctions: FunctionTable = {
  int: withArity(1, ([value]) => toInteger(value)),
  int64: withArity(1, ([value]) => toInteger(value)),
  float64: createUnary(value => value),
  atoi: withArity(1, ([value]) => parseDecimalInteger(value)),
  toDecimal: withArity(1, ([value]) => parseOctal(value)),
  add: foldWhole(add, 0),
  add1: withArity(1, ([value]) => computeWhole(toInteger(value), 1, add)),
  sub: withArity(2, ([left, right]) => computeWhole(toInteger(left), toInteger(right), subtract)),
  mul: foldWhole(multiply, 1),
  div: withArity(2, ([left, right]) => divideWhole(toInteger(left), toInteger(right))),
  mod: withArity(2, ([left, right]) => moduloWhole(toInteger(left), toInteger(right))),
  max: pickWhole((it, best) => it > best),
  biggest: pickWhole((it, best) => it > best),
  min: pickWhole((it, best) => it < best),
  addf: foldDecimal('add', 0),
  add1f: withArity(1, ([value], budget) => computeDecimal([toFloat(value), 1], decimalOperations.add, budget)),
  subf: foldDecimal('subtract', 1),
  mulf: foldDecimal('multiply', 1),
  divf: foldDecimal('divide', 1),
  maxf: foldReal(Math.max),
  minf: foldReal(Math.min),
  ceil: createUnary(Math.ceil),
  floor: createUnary(Math.floor),
  round: withArityRange(2, 3, roundFrom),
  until: withArity(1, ([end], budget) => listUntil(toIntegerNumber(end), budget)),
  untilStep: withArity(3, ([start, end, step], budget) =>
    listRange(toIntegerNumber(start), toIntegerNumber(end), toIntegerNumber(step), budget),
  ),
  seq: formatSequence,
};

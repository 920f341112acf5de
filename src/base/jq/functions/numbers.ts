import { raise } from '../fault.ts';
import type { Plain, PlainTable } from '../plains-table.ts';
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

export const numbers: PlainTable = {
  ...Object.fromEntries(same.map(name => [`${name}/0`, one(Math[name])])),
  'round/0': one(rounded),
  'rint/0': one(value => (Math.abs(value % 1) === 0.5 ? 2 * Math.round(value / 2) : Math.round(value))),
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
  'isnan/0': (_machine, value) => Number.isNaN(number(value)),
  'isinfinite/0': (_machine, value) => Math.abs(number(value)) === Number.POSITIVE_INFINITY,
  'isnormal/0': (_machine, value) => Number.isFinite(number(value)) && Math.abs(number(value)) >= smallestNormal,
  'tonumber/0'({ budget }, value) {
    if (isNumber(value)) return value;
    if (typeof value !== 'string') return raise(`${shown(value)} cannot be parsed as a number`);
    budget.read(value.length);
    const text = value.trim();
    return /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)
      ? Number(text)
      : raise(`${shown(value)} cannot be parsed as a number`);
  },
  'not/0': (_machine, value) => value === null || value === undefined || value === false,
  'type/0': (_machine, value) => kindOf(value),
};

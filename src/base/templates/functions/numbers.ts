import type { Budget } from '../budget.ts';
import { TemplateFault } from '../fault.ts';
import { isNothing, isNumber } from '../values.ts';
import { atLeast, between, type Fn, type FunctionTable, fixed } from './fn.ts';

/** Longer lists of numbers are asked for by mistake. */
const longest = 100_000;

/** What can be read as a number; anything else is zero. */
export function real(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string' || value.trim() === '') return 0;
  const number = Number(value.trim());
  return Number.isNaN(number) ? 0 : number;
}

export const integer = (value: unknown): number => {
  const number = Math.trunc(real(value));
  return Number.isFinite(number) ? number + 0 : 0;
};

const folded = (of: (value: unknown) => number, by: (left: number, right: number) => number): Fn =>
  atLeast(1, args => args.map(of).reduce((left, right) => by(left, right)));
const one = (by: (value: number) => number): Fn => fixed(1, ([value]) => by(real(value)));

function divided(left: number, right: number): number {
  if (right === 0) throw new TemplateFault('integer divide by zero');
  return Math.trunc(left / right);
}

function remainder(left: number, right: number): number {
  if (right === 0) throw new TemplateFault('integer divide by zero');
  return (left % right) + 0;
}

/** Half is rounded up from `cut` on, 0.5 where nothing is said. */
function rounded([value, places, cut]: readonly unknown[]): number {
  const scale = 10 ** Math.min(Math.max(integer(places), -20), 20);
  const scaled = real(value) * scale;
  const size = Math.abs(scaled);
  const up = size - Math.floor(size) >= (isNothing(cut) ? 0.5 : real(cut)) ? Math.floor(size) + 1 : Math.floor(size);
  return (Math.sign(scaled) * up) / scale;
}

function counted(start: number, stop: number, step: number, budget: Budget): number[] {
  const count = step === 0 ? 0 : Math.max(0, Math.ceil((stop - start) / step));
  if (count > longest) throw new TemplateFault(`more than ${longest} numbers`, 0, true);
  budget.spend(count);
  return Array.from({ length: count }, (_, at) => start + at * step);
}

/** As the command of the same name: to the last one, including it, as one text. */
function sequence(args: readonly unknown[], budget: Budget): string {
  const numbers = args.map(integer);
  const [start, step, end] =
    numbers.length === 1
      ? [1, undefined, numbers[0]!]
      : [numbers[0]!, numbers.length === 3 ? numbers[1] : undefined, numbers.at(-1)!];
  const by = step ?? (end < start ? -1 : 1);
  return counted(start, end + Math.sign(by), by, budget).join(' ');
}

const until = (end: number, budget: Budget) => counted(0, end, end < 0 ? -1 : 1, budget);

function octal(value: unknown): number {
  const number = Number.parseInt(typeof value === 'string' || isNumber(value) ? String(value) : '', 8);
  return Number.isNaN(number) ? 0 : number;
}

export const numbers: FunctionTable = {
  int: fixed(1, ([value]) => integer(value)),
  int64: fixed(1, ([value]) => integer(value)),
  float64: one(value => value),
  atoi: fixed(1, ([value]) => (typeof value === 'string' && !/^[+-]?\d+$/.test(value) ? 0 : integer(value))),
  toDecimal: fixed(1, ([value]) => octal(value)),
  add: folded(integer, (left, right) => left + right),
  add1: fixed(1, ([value]) => integer(value) + 1),
  sub: fixed(2, ([left, right]) => integer(left) - integer(right)),
  mul: folded(integer, (left, right) => left * right),
  div: fixed(2, ([left, right]) => divided(integer(left), integer(right))),
  mod: fixed(2, ([left, right]) => remainder(integer(left), integer(right))),
  max: folded(integer, Math.max),
  biggest: folded(integer, Math.max),
  min: folded(integer, Math.min),
  addf: folded(real, (left, right) => left + right),
  add1f: one(value => value + 1),
  subf: folded(real, (left, right) => left - right),
  mulf: folded(real, (left, right) => left * right),
  divf: folded(real, (left, right) => left / right),
  maxf: folded(real, Math.max),
  minf: folded(real, Math.min),
  ceil: one(Math.ceil),
  floor: one(Math.floor),
  round: between(2, 3, rounded),
  until: fixed(1, ([end], budget) => until(integer(end), budget)),
  untilStep: fixed(3, ([start, end, step], budget) => counted(integer(start), integer(end), integer(step), budget)),
  seq: between(1, 3, sequence),
};

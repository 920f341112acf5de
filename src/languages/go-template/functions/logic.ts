import type { Budget } from '../budget.ts';
import { TemplateFault } from '../error.ts';
import { compareTexts, isMap, isNothing, isNumber, isTrue, memberOf, typeName } from '../values.ts';
import { atLeast, between, type Fn, type FunctionTable, fixed } from './fn.ts';

/** The evaluator itself decides these two, since they do not look at all of their arguments. */
export const and: Fn = args => args.find(it => !isTrue(it)) ?? args.at(-1);
export const or: Fn = args => args.find(isTrue) ?? args.at(-1);

const incompatible = () => new TemplateFault('incompatible types for comparison');

function sameBasic(left: unknown, right: unknown): boolean {
  if (isNothing(left) || isNothing(right)) return isNothing(left) && isNothing(right);
  if (isNumber(left) && isNumber(right)) return compared(left, right) === 0;
  if (left instanceof Date && right instanceof Date) return left.getTime() === right.getTime();
  if (typeof left === 'object' || typeof right === 'object')
    throw new TemplateFault(`non-comparable type ${typeName(typeof left === 'object' ? left : right)}`);
  if (typeof left !== typeof right) throw incompatible();
  return left === right;
}

/** Numbers of either kind, exactly. */
const compared = (left: number | bigint, right: number | bigint): number => (left < right ? -1 : left > right ? 1 : 0);

function ordered(left: unknown, right: unknown): number {
  if (isNumber(left) && isNumber(right)) return compared(left, right);
  if (typeof left === 'string' && typeof right === 'string') return compareTexts(left, right);
  for (const it of [left, right])
    if (!isNumber(it) && typeof it !== 'string') throw new TemplateFault('invalid type for comparison');
  throw incompatible();
}

function indexed(value: unknown, key: unknown): unknown {
  if (isNothing(value)) throw new TemplateFault('index of untyped nil');
  if (isMap(value)) {
    if (typeof key !== 'string') throw new TemplateFault(`value has type ${typeName(key)}; should be string`);
    return memberOf(value, key) ?? null;
  }
  if (!Array.isArray(value) && typeof value !== 'string')
    throw new TemplateFault(`can't index item of type ${typeName(value)}`);
  const items = typeof value === 'string' ? Buffer.from(value) : value;
  if (typeof key !== 'number' || !Number.isInteger(key))
    throw new TemplateFault(`cannot index slice/array with type ${typeName(key)}`);
  if (key < 0 || key >= items.length) throw new TemplateFault(`index out of range: ${key}`);
  return items[key];
}

/** How long text is in bytes, and how many members lists and maps have. */
export function lengthOf(value: unknown, budget: Budget): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (Array.isArray(value)) return value.length;
  if (!isMap(value)) throw new TemplateFault(`len of type ${typeName(value)}`);
  const { length } = Object.keys(value);
  budget.spend(length >> 4);
  return length;
}

function sliced([value, ...places]: readonly unknown[]): unknown {
  if (typeof value !== 'string' && !Array.isArray(value))
    throw new TemplateFault(`can't slice item of type ${typeName(value)}`);
  const items = typeof value === 'string' ? Buffer.from(value) : value;
  const [from = 0, to = items.length] = places;
  for (const it of [from, to])
    if (typeof it !== 'number' || !Number.isInteger(it) || it < 0 || it > items.length)
      throw new TemplateFault(`index out of range: ${typeof it === 'number' ? it : typeName(it)}`);
  if ((from as number) > (to as number)) throw new TemplateFault(`invalid slice index: ${from} > ${to}`);
  const part = items.slice(from as number, to as number);
  return Array.isArray(part) ? part : part.toString();
}

const comparing = (holds: (order: number) => boolean): Fn => fixed(2, ([left, right]) => holds(ordered(left, right)));

/** What the language itself brings to decide, measure and reach into things. */
export const logic: FunctionTable = {
  and,
  or,
  not: fixed(1, ([value]) => !isTrue(value)),
  eq: atLeast(2, ([first, ...others]) => others.some(it => sameBasic(first, it))),
  ne: fixed(2, ([left, right]) => !sameBasic(left, right)),
  lt: comparing(order => order < 0),
  le: comparing(order => order <= 0),
  gt: comparing(order => order > 0),
  ge: comparing(order => order >= 0),
  len: fixed(1, ([value], budget) => lengthOf(value, budget)),
  index: atLeast(1, ([value, ...keys]) => keys.reduce(indexed, value)),
  slice: between(1, 3, sliced),
  mustSlice: between(1, 3, sliced),
  call: atLeast(0, () => {
    throw new TemplateFault('there are no functions to call in the data');
  }),
};

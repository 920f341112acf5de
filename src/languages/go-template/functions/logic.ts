import { compareCodePoints } from '#base/compare-code-points.ts';
import type { TemplateBudget } from '../budget.ts';
import { TemplateError } from '../error.ts';
import { getOwnMember, isMap, isNil, isNumber, isTrue, typeName } from '../values.ts';
import { type FunctionTable, type TemplateFunction, withArity, withArityRange, withMinArity } from './fn.ts';

/** Fallback of `and` and `or`: the evaluator short-circuits both itself. */
export const and: TemplateFunction = args => args.find(it => !isTrue(it)) ?? args.at(-1);
export const or: TemplateFunction = args => args.find(isTrue) ?? args.at(-1);

const createIncompatibleError = () => new TemplateError('incompatible types for comparison');

function areEqual(left: unknown, right: unknown): boolean {
  if (isNil(left) || isNil(right)) return isNil(left) && isNil(right);
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right) === 0;
  if (left instanceof Date && right instanceof Date) return left.getTime() === right.getTime();
  if (typeof left === 'object' || typeof right === 'object')
    throw new TemplateError(`non-comparable type ${typeName(typeof left === 'object' ? left : right)}`);
  if (typeof left !== typeof right) throw createIncompatibleError();
  return left === right;
}

/** Compares numbers and bigints exactly. */
const compareNumbers = (left: number | bigint, right: number | bigint): number =>
  left < right ? -1 : left > right ? 1 : 0;

function compareOrdered(left: unknown, right: unknown): number {
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right);
  if (typeof left === 'string' && typeof right === 'string') return compareCodePoints(left, right);
  for (const it of [left, right])
    if (!isNumber(it) && typeof it !== 'string') throw new TemplateError('invalid type for comparison');
  throw createIncompatibleError();
}

function indexValue(value: unknown, key: unknown): unknown {
  if (isNil(value)) throw new TemplateError('index of untyped nil');
  if (isMap(value)) {
    if (typeof key !== 'string') throw new TemplateError(`value has type ${typeName(key)}; should be string`);
    return getOwnMember(value, key) ?? null;
  }
  if (!Array.isArray(value) && typeof value !== 'string')
    throw new TemplateError(`can't index item of type ${typeName(value)}`);
  const items = typeof value === 'string' ? Buffer.from(value) : value;
  if (typeof key !== 'number' || !Number.isInteger(key))
    throw new TemplateError(`cannot index slice/array with type ${typeName(key)}`);
  if (key < 0 || key >= items.length) throw new TemplateError(`index out of range: ${key}`);
  return items[key];
}

/** Length of text in bytes, of lists and maps in members. */
function lengthOf(value: unknown, budget: TemplateBudget): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (Array.isArray(value)) return value.length;
  if (!isMap(value)) throw new TemplateError(`len of type ${typeName(value)}`);
  const { length } = Object.keys(value);
  budget.spend(length >> 4);
  return length;
}

function sliceValue([value, ...places]: readonly unknown[]): unknown {
  if (typeof value !== 'string' && !Array.isArray(value))
    throw new TemplateError(`can't slice item of type ${typeName(value)}`);
  const items = typeof value === 'string' ? Buffer.from(value) : value;
  const [from = 0, to = items.length] = places;
  for (const it of [from, to])
    if (typeof it !== 'number' || !Number.isInteger(it) || it < 0 || it > items.length)
      throw new TemplateError(`index out of range: ${typeof it === 'number' ? it : typeName(it)}`);
  if ((from as number) > (to as number)) throw new TemplateError(`invalid slice index: ${from} > ${to}`);
  const part = items.slice(from as number, to as number);
  return Array.isArray(part) ? part : part.toString();
}

const createComparison = (holds: (order: number) => boolean): TemplateFunction =>
  withArity(2, ([left, right]) => holds(compareOrdered(left, right)));

/** Built-in functions of text/template for logic, comparison and indexing. */
export const logicFunctions: FunctionTable = {
  and,
  or,
  not: withArity(1, ([value]) => !isTrue(value)),
  eq: withMinArity(2, ([first, ...others]) => others.some(it => areEqual(first, it))),
  ne: withArity(2, ([left, right]) => !areEqual(left, right)),
  lt: createComparison(order => order < 0),
  le: createComparison(order => order <= 0),
  gt: createComparison(order => order > 0),
  ge: createComparison(order => order >= 0),
  len: withArity(1, ([value], budget) => lengthOf(value, budget)),
  index: withMinArity(1, ([value, ...keys]) => keys.reduce(indexValue, value)),
  slice: withArityRange(1, 3, sliceValue),
  mustSlice: withArityRange(1, 3, sliceValue),
  call: withMinArity(0, () => {
    throw new TemplateError('there are no functions to call in the data');
  }),
};

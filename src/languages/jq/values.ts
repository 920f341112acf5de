import { compareCodePoints } from '#base/compare-code-points.ts';
import { includesText } from '../text-search.ts';
import type { JqBudget } from './budget.ts';
import { raise } from './error.ts';

/** Values of filters: JSON, with bigint for integers beyond 2⁵³, which mostly are ids. */
export type JqObject = Record<string, unknown>;
export type JqType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

export const isJqNumber = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';
export const isJqObject = (value: unknown): value is JqObject => jqTypeOf(value) === 'object';
export const isTruthy = (value: unknown) => value !== null && value !== undefined && value !== false;
/** Object without a prototype: any member name is ordinary. */
export const createJqObject = (): JqObject => Object.create(null) as JqObject;
export const getMember = (of: JqObject, name: string): unknown => (Object.hasOwn(of, name) ? (of[name] ?? null) : null);

export function jqTypeOf(value: unknown): JqType {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  if (type === 'bigint') return 'number';
  return type === 'boolean' || type === 'number' || type === 'string' ? type : 'object';
}

/** Characters of a value in error messages. */
const maxExcerptCharacters = 11;

/** Type and JSON excerpt of a value, for error messages. */
export const describeValue = (value: unknown): string => `${jqTypeOf(value)} (${excerptOf(value)})`;

/** Start of a value's JSON; the rest is not visited. */
export function excerptOf(value: unknown): string {
  const text = writeExcerpt(value, 0);
  return text.length <= maxExcerptCharacters + 3 ? text : `${text.slice(0, maxExcerptCharacters)}...`;
}

/**
 * JSON of a value up to the bound, so that large values cost no more than small ones. Members of objects are left out:
 * V8 lists all names before the first can be read.
 */
function writeExcerpt(value: unknown, used: number): string {
  const room = maxExcerptCharacters + 4 - used;
  if (room <= 0) return '';
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room));
  if (isJqObject(value)) return '{...}';
  if (!Array.isArray(value)) return formatJsonNumber(value ?? null);
  let text = '[';
  for (let at = 0; at < value.length; at++) {
    if (text.length > room) return text;
    text += `${at > 0 ? ',' : ''}${writeExcerpt(value[at], used + text.length)}`;
  }
  return `${text}]`;
}

/** Number as jq prints it: infinities become the largest double, NaN becomes null. */
export function formatJsonNumber(value: unknown): string {
  if (typeof value !== 'number' || Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'null';
  return value > 0 ? '1.7976931348623157e+308' : '-1.7976931348623157e+308';
}

export const sortKeys = (of: JqObject, budget: JqBudget): string[] => {
  const names = Object.keys(of);
  budget.chargeCopy(names.length * 2);
  return names.sort(compareCodePoints);
};

const ranks: Readonly<Record<JqType, number>> = { null: 0, boolean: 1, number: 3, string: 4, array: 5, object: 6 };
const rankOf = (value: unknown) => (value === true ? 2 : ranks[jqTypeOf(value)]);

/** Total order of jq: null, false, true, numbers, strings, arrays, objects. */
export function compareValues(left: unknown, right: unknown, budget: JqBudget, depth = 0): number {
  budget.visit(depth);
  const apart = rankOf(left) - rankOf(right);
  if (apart !== 0) return apart;
  if (isJqNumber(left)) return compareNumbers(left, right as number | bigint);
  if (typeof left === 'string') {
    budget.chargeText(Math.min(left.length, (right as string).length));
    return left === right ? 0 : compareCodePoints(left, right as string);
  }
  if (Array.isArray(left)) return compareLists(left, right as unknown[], budget, depth);
  return isJqObject(left) ? compareMembers(left, right as JqObject, budget, depth) : 0;
}

function compareNumbers(left: number | bigint, right: number | bigint): number {
  if (Number.isNaN(left)) return -1;
  if (Number.isNaN(right)) return 1;
  return left < right ? -1 : left > right ? 1 : 0;
}

function compareLists(left: readonly unknown[], right: readonly unknown[], budget: JqBudget, depth: number): number {
  const most = Math.min(left.length, right.length);
  for (let at = 0; at < most; at++) {
    const apart = compareValues(left[at], right[at], budget, depth + 1);
    if (apart !== 0) return apart;
  }
  return left.length - right.length;
}

function compareMembers(left: JqObject, right: JqObject, budget: JqBudget, depth: number): number {
  const names = sortKeys(left, budget);
  const apart = compareLists(names, sortKeys(right, budget), budget, depth);
  if (apart !== 0) return apart;
  for (const name of names) {
    const inner = compareValues(left[name], right[name], budget, depth + 1);
    if (inner !== 0) return inner;
  }
  return 0;
}

export const isEqual = (left: unknown, right: unknown, budget: JqBudget) => compareValues(left, right, budget) === 0;

/** `contains`: substrings, and recursively items and members. */
export function containsValue(whole: unknown, part: unknown, budget: JqBudget, depth = 0): boolean {
  budget.visit(depth);
  if (jqTypeOf(whole) !== jqTypeOf(part))
    return raise(`${describeValue(whole)} and ${describeValue(part)} cannot have their containment checked`);
  if (typeof whole === 'string') return includesText(part as string, whole, budget);
  const holds = (a: unknown, b: unknown) => jqTypeOf(a) === jqTypeOf(b) && containsValue(a, b, budget, depth + 1);
  if (Array.isArray(whole)) return (part as unknown[]).every(b => whole.some(a => holds(a, b)));
  if (isJqObject(whole))
    return Object.entries(part as JqObject).every(([name, b]) => Object.hasOwn(whole, name) && holds(whole[name], b));
  return isEqual(whole, part, budget);
}

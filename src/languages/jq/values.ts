import type { Budget } from './budget.ts';
import { raise } from './error.ts';

/** What a filter works on: JSON, and whole numbers too long for the language's own, which mostly are ids. */
export type Members = Record<string, unknown>;
export type Kind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

export const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';
export const isMembers = (value: unknown): value is Members => kindOf(value) === 'object';
export const isTrue = (value: unknown) => value !== null && value !== undefined && value !== false;
/** Names of members may be any: nothing is inherited. */
export const noMembers = (): Members => Object.create(null) as Members;
export const member = (of: Members, name: string): unknown => (Object.hasOwn(of, name) ? (of[name] ?? null) : null);

export function kindOf(value: unknown): Kind {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  if (type === 'bigint') return 'number';
  return type === 'boolean' || type === 'number' || type === 'string' ? type : 'object';
}

/** Error messages show so many characters of a value. */
const maxShown = 11;

/** A value as error messages name it: its kind and the beginning of its JSON. */
export const shown = (value: unknown): string => `${kindOf(value)} (${shortText(value)})`;

/** The beginning of a value's JSON; what is behind it is not visited. */
export function shortText(value: unknown): string {
  const text = startOf(value, 0);
  return text.length <= maxShown + 3 ? text : `${text.slice(0, maxShown)}...`;
}

/**
 * JSON of a value at least up to the bound, so that a large one costs no more than a small one. Members of objects are
 * left out: the engine lists all names before the first can be read.
 */
function startOf(value: unknown, used: number): string {
  const room = maxShown + 4 - used;
  if (room <= 0) return '';
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room));
  if (isMembers(value)) return '{...}';
  if (!Array.isArray(value)) return numberText(value ?? null);
  let text = '[';
  for (let at = 0; at < value.length; at++) {
    if (text.length > room) return text;
    text += `${at > 0 ? ',' : ''}${startOf(value[at], used + text.length)}`;
  }
  return `${text}]`;
}

/** Numbers as JSON has them: what has no end is the largest there is, what is none is nothing. */
export function numberText(value: unknown): string {
  if (typeof value !== 'number' || Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'null';
  return value > 0 ? '1.7976931348623157e+308' : '-1.7976931348623157e+308';
}

export const sortedNames = (of: Members, budget: Budget): string[] => {
  const names = Object.keys(of);
  budget.copy(names.length * 2);
  return names.sort(compareTexts);
};

/** By code points: halves of one that stands above the others come after what is below them. */
export function compareTexts(left: string, right: string): number {
  const most = Math.min(left.length, right.length);
  for (let at = 0; at < most; at++) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
}

const rank = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

const ranks: Readonly<Record<Kind, number>> = { null: 0, boolean: 1, number: 3, string: 4, array: 5, object: 6 };
const rankOf = (value: unknown) => (value === true ? 2 : ranks[kindOf(value)]);

/** The order of all values: nothing, false, true, numbers, texts, lists, objects. */
export function compare(left: unknown, right: unknown, budget: Budget, depth = 0): number {
  budget.visit(depth);
  const apart = rankOf(left) - rankOf(right);
  if (apart !== 0) return apart;
  if (isNumber(left)) return compareNumbers(left, right as number | bigint);
  if (typeof left === 'string') {
    budget.read(Math.min(left.length, (right as string).length));
    return left === right ? 0 : compareTexts(left, right as string);
  }
  if (Array.isArray(left)) return compareLists(left, right as unknown[], budget, depth);
  return isMembers(left) ? compareMembers(left, right as Members, budget, depth) : 0;
}

function compareNumbers(left: number | bigint, right: number | bigint): number {
  if (Number.isNaN(left)) return -1;
  if (Number.isNaN(right)) return 1;
  return left < right ? -1 : left > right ? 1 : 0;
}

function compareLists(left: readonly unknown[], right: readonly unknown[], budget: Budget, depth: number): number {
  const most = Math.min(left.length, right.length);
  for (let at = 0; at < most; at++) {
    const apart = compare(left[at], right[at], budget, depth + 1);
    if (apart !== 0) return apart;
  }
  return left.length - right.length;
}

function compareMembers(left: Members, right: Members, budget: Budget, depth: number): number {
  const names = sortedNames(left, budget);
  const apart = compareLists(names, sortedNames(right, budget), budget, depth);
  if (apart !== 0) return apart;
  for (const name of names) {
    const inner = compare(left[name], right[name], budget, depth + 1);
    if (inner !== 0) return inner;
  }
  return 0;
}

export const isEqual = (left: unknown, right: unknown, budget: Budget) => compare(left, right, budget) === 0;

/** Texts contain what is part of them, lists and objects what is contained in one of theirs. */
export function contains(whole: unknown, part: unknown, budget: Budget, depth = 0): boolean {
  budget.visit(depth);
  if (kindOf(whole) !== kindOf(part))
    return raise(`${shown(whole)} and ${shown(part)} cannot have their containment checked`);
  if (typeof whole === 'string') {
    budget.read(whole.length);
    return whole.includes(part as string);
  }
  const holds = (a: unknown, b: unknown) => kindOf(a) === kindOf(b) && contains(a, b, budget, depth + 1);
  if (Array.isArray(whole)) return (part as unknown[]).every(b => whole.some(a => holds(a, b)));
  if (isMembers(whole))
    return Object.entries(part as Members).every(([name, b]) => Object.hasOwn(whole, name) && holds(whole[name], b));
  return isEqual(whole, part, budget);
}

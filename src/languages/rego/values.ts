import { compareCodePoints } from '#base/compare-code-points.ts';
import type { RegoBudget } from './budget.ts';

/** JSON, and sets: a map from the canonical text of each member to the member. */
export type RegoValue =
  | null
  | boolean
  | number
  | string
  | readonly RegoValue[]
  | RegoSet
  | { readonly [name: string]: RegoValue };
export type RegoSet = ReadonlyMap<string, RegoValue>;

export const isRegoSet = (value: RegoValue): value is RegoSet => value instanceof Map;
export const isRegoObject = (value: RegoValue): value is { readonly [name: string]: RegoValue } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Map);

/** Canonical text: equal for equal values only. */
export function toRegoKey(value: RegoValue, budget: RegoBudget, depth = 0): string {
  budget.spend(1);
  if (typeof value === 'string') budget.chargeText(value.length);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  budget.checkDepth(depth / 4);
  const key = joinKeys(value, budget, depth);
  budget.chargeText(key.length);
  return key;
}

function joinKeys(value: RegoValue & object, budget: RegoBudget, depth: number): string {
  const below = (item: RegoValue) => toRegoKey(item, budget, depth + 1);
  if (Array.isArray(value)) return `[${value.map(below).join()}]`;
  if (isRegoSet(value)) {
    budget.spend(value.size);
    return `<${[...value.keys()].sort(compareCodePoints).join()}>`;
  }
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${below(member)}`);
  return `{${members.sort(compareCodePoints).join()}}`;
}

export function toRegoSet(members: Iterable<RegoValue>, budget: RegoBudget): RegoSet {
  const set = new Map<string, RegoValue>();
  for (const member of members) set.set(toRegoKey(member, budget), member);
  return set;
}

const typeOrder = ['null', 'boolean', 'number', 'string', 'array', 'object', 'set'];

export function typeOfRego(value: RegoValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return isRegoSet(value) ? 'set' : typeof value;
}

/** Total order of Rego: by type, then by value. */
export function compareRego(left: RegoValue, right: RegoValue, budget: RegoBudget): number {
  const [leftType, rightType] = [typeOfRego(left), typeOfRego(right)];
  budget.spend(1);
  if (leftType !== rightType) return typeOrder.indexOf(leftType) - typeOrder.indexOf(rightType);
  if (leftType === 'number' || leftType === 'boolean') return Number(left) - Number(right);
  if (leftType === 'string') {
    budget.chargeText(Math.min(String(left).length, String(right).length));
    return compareCodePoints(String(left), String(right));
  }
  if (toRegoKey(left, budget) === toRegoKey(right, budget)) return 0;
  return compareLists(toSortedList(left, budget), toSortedList(right, budget), budget);
}

/** Objects compare by their sorted keys, then values; sets by their sorted members. */
function toSortedList(value: RegoValue, budget: RegoBudget): RegoValue[] {
  if (Array.isArray(value)) return value as RegoValue[];
  if (isRegoObject(value)) {
    const names = Object.keys(value).sort(compareCodePoints);
    return [names, names.map(name => value[name]!)];
  }
  return isRegoSet(value) ? [...value.values()].sort((left, right) => compareRego(left, right, budget)) : [];
}

function compareLists(left: readonly RegoValue[], right: readonly RegoValue[], budget: RegoBudget): number {
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const order = compareRego(left[index]!, right[index]!, budget);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Member of a collection: undefined where there is none. A set holds its members by themselves. */
export function lookUp(collection: RegoValue, key: RegoValue, budget: RegoBudget): RegoValue | undefined {
  if (Array.isArray(collection)) return typeof key === 'number' ? collection[key] : undefined;
  if (isRegoSet(collection)) return collection.get(toRegoKey(key, budget));
  if (!isRegoObject(collection) || typeof key !== 'string') return undefined;
  return Object.hasOwn(collection, key) ? collection[key] : undefined;
}

/** Keys and values; none for a scalar. */
export function listEntries(collection: RegoValue, budget: RegoBudget): (readonly [RegoValue, RegoValue])[] {
  const entries = toEntries(collection);
  budget.spend(entries.length);
  return entries;
}

function toEntries(collection: RegoValue): (readonly [RegoValue, RegoValue])[] {
  if (Array.isArray(collection)) return [...collection.entries()];
  if (isRegoSet(collection)) return [...collection.values()].map(member => [member, member] as const);
  return isRegoObject(collection) ? Object.entries(collection) : [];
}

/** JSON of a result: a set is an array in the order of its canonical texts. */
export function toJson(value: RegoValue): unknown {
  if (isRegoSet(value))
    return [...value].sort(([left], [right]) => compareCodePoints(left, right)).map(([, member]) => toJson(member));
  if (Array.isArray(value)) return value.map(toJson);
  if (!isRegoObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toJson(member)]));
}

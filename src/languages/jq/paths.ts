import type { JqBudget } from './budget.ts';
import { JqRuntimeError, raise } from './error.ts';
import { createJqObject, getMember, isEqual, isJqNumber, isJqObject, type JqObject, jqTypeOf } from './values.ts';

/** Largest array index that can be set; the items up to it are charged. */
const maxIndex = 536_870_911;

/** Value at a member name, an array index or a slice. */
export function getIndex(value: unknown, key: unknown, budget: JqBudget): unknown {
  const kind = jqTypeOf(value);
  if (typeof key === 'string') {
    if (kind === 'object') return getMember(value as JqObject, key);
    if (kind === 'null') return null;
    return raise(`Cannot index ${kind} with string "${key.slice(0, 50)}"`);
  }
  if (isJqNumber(key)) {
    if (kind === 'array') return Number.isInteger(Number(key)) ? getItem(value as unknown[], Number(key)) : null;
    if (kind === 'null') return null;
    return raise(`Cannot index ${kind} with number`);
  }
  if (isJqObject(key)) return sliceValue(value, key, budget);
  if (kind === 'array' && Array.isArray(key)) return indicesOf(value as unknown[], key, budget);
  return raise(`Cannot index ${kind} with ${jqTypeOf(key)}`);
}

const getItem = (list: readonly unknown[], key: number): unknown => list[toIndex(key, list.length)] ?? null;

const toIndex = (key: number, length: number): number => {
  const whole = Math.floor(key);
  return whole < 0 ? whole + length : whole;
};

/** Indexes at which an array occurs in another. */
export function indicesOf(value: readonly unknown[], part: readonly unknown[], budget: JqBudget): unknown {
  if (part.length === 0) return [];
  const found: number[] = [];
  for (let at = 0; at + part.length <= value.length; at++)
    if (part.every((it, offset) => isEqual(value[at + offset], it, budget))) found.push(at);
  return found;
}

/** Start and end of a slice, clamped to the length. */
function sliceBounds(range: JqObject, length: number): [from: number, to: number] {
  const toBound = (given: unknown, otherwise: number, round: (value: number) => number): number => {
    if (given === null || given === undefined) return otherwise;
    if (!isJqNumber(given)) throw new JqRuntimeError('Start and end indices of an array slice must be numbers');
    const whole = round(Number(given));
    if (Number.isNaN(whole)) return otherwise;
    return Math.min(Math.max(whole < 0 ? whole + length : whole, 0), length);
  };
  const from = toBound(getMember(range, 'start'), 0, Math.floor);
  return [from, Math.max(from, toBound(getMember(range, 'end'), length, Math.ceil))];
}

function sliceValue(value: unknown, range: JqObject, budget: JqBudget): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') {
    budget.chargeText(value.length * 4);
    const points = [...value];
    return points.slice(...sliceBounds(range, points.length)).join('');
  }
  if (!Array.isArray(value)) return raise(`Cannot index ${jqTypeOf(value)} with object`);
  const [from, to] = sliceBounds(range, value.length);
  budget.chargeCopy(to - from);
  return value.slice(from, to);
}

/** Containers copied during this update: nothing else refers to them, so they are changed in place. */
export type Owned = Set<unknown>;

/** Copy with one index set. */
function setIndex(value: unknown, key: unknown, inner: unknown, budget: JqBudget, owned: Owned): unknown {
  if (typeof key === 'string') {
    if (value !== null && !isJqObject(value))
      return raise(`Cannot index ${jqTypeOf(value)} with string "${key.slice(0, 50)}"`);
    const copy = owned.has(value) ? (value as JqObject) : copyObject(value, budget);
    owned.add(copy);
    copy[key] = inner;
    return copy;
  }
  if (value !== null && !Array.isArray(value)) return raise(`Cannot index ${jqTypeOf(value)} with ${jqTypeOf(key)}`);
  const list = value ?? [];
  if (isJqNumber(key)) return setItem(list, Number(key), inner, budget, owned);
  if (!isJqObject(key)) return raise(`Cannot update field at ${jqTypeOf(key)} index of array`);
  if (!Array.isArray(inner)) return raise('A slice of an array can only be assigned another array');
  const [from, to] = sliceBounds(key, list.length);
  budget.chargeCopy(list.length + inner.length);
  return [...list.slice(0, from), ...inner, ...list.slice(to)];
}

function setItem(list: unknown[], key: number, inner: unknown, budget: JqBudget, owned: Owned): unknown[] {
  const at = toIndex(key, list.length);
  if (at < 0) return raise('Out of bounds negative array index');
  if (!(at <= maxIndex)) return raise('Array index too large');
  const isOwned = owned.has(list);
  budget.chargeCopy(isOwned ? Math.max(1, at - list.length) : Math.max(list.length, at));
  const copy = isOwned ? list : [...list];
  owned.add(copy);
  while (copy.length < at) copy.push(null);
  copy[at] = inner;
  return copy;
}

export function copyObject(value: unknown, budget: JqBudget): JqObject {
  const copy = createJqObject();
  if (!isJqObject(value)) return copy;
  const names = Object.keys(value);
  budget.chargeCopy(names.length * 2);
  for (const name of names) copy[name] = value[name];
  return copy;
}

export function getPath(value: unknown, path: readonly unknown[], budget: JqBudget): unknown {
  let found = value;
  for (const key of path) {
    if (found === null || found === undefined) return null;
    found = getIndex(found, key, budget);
  }
  return found ?? null;
}

/** Copy on write along a path: containers in `owned` are changed in place, others are copied. */
export function updatePath(
  value: unknown,
  path: readonly unknown[],
  change: (old: unknown) => unknown,
  budget: JqBudget,
  owned: Owned = new Set(),
  at = 0,
): unknown {
  if (at === path.length) {
    // `change` may retain the value: it is no longer exclusively owned.
    if (owned.has(value)) owned.clear();
    return change(value ?? null);
  }
  budget.visit(at);
  const key = path[at];
  const inner = value === null || value === undefined ? null : getIndex(value, key, budget);
  return setIndex(value ?? null, key, updatePath(inner, path, change, budget, owned, at + 1), budget, owned);
}

/** Copy without the values at these paths. */
export function deletePaths(value: unknown, paths: readonly unknown[], budget: JqBudget): unknown {
  budget.chargeCopy(paths.length);
  for (const path of paths)
    if (!Array.isArray(path)) return raise(`Path must be specified as array, not ${jqTypeOf(path)}`);
  return deleteFrom(value, paths as unknown[][], budget, 0);
}

/** Deletes all paths in one pass: one after the other, deletions would shift later indexes. */
function deleteFrom(value: unknown, paths: readonly unknown[][], budget: JqBudget, at: number): unknown {
  if (paths.length === 0 || value === null || value === undefined) return value ?? null;
  if (paths.some(({ length }) => length === at)) return null;
  budget.visit(at);
  budget.chargeCopy(paths.length);
  if (isJqObject(value)) return deleteMembers(value, paths, budget, at);
  if (Array.isArray(value)) return deleteItems(value, paths, budget, at);
  return raise(`Cannot delete field at ${jqTypeOf(paths[0]![at])} index of ${jqTypeOf(value)}`);
}

function deleteMembers(value: JqObject, paths: readonly unknown[][], budget: JqBudget, at: number): unknown {
  const copy = copyObject(value, budget);
  for (const [name, inner] of Map.groupBy(paths, path => path[at])) {
    if (typeof name !== 'string') return raise(`Cannot delete field at ${jqTypeOf(name)} index of object`);
    if (!Object.hasOwn(copy, name)) continue;
    if (inner.some(({ length }) => length === at + 1)) delete copy[name];
    else copy[name] = deleteFrom(copy[name], inner, budget, at + 1);
  }
  return copy;
}

function deleteItems(value: readonly unknown[], paths: readonly unknown[][], budget: JqBudget, at: number): unknown {
  budget.chargeCopy(value.length);
  let copy = [...value];
  const deleted = new Set<number>();
  const grouped = Map.groupBy(paths, path => {
    const key = path[at];
    return isJqNumber(key) ? toIndex(Number(key), value.length) : key;
  });
  for (const [key, inner] of grouped) {
    const ends = inner.some(({ length }) => length === at + 1);
    if (typeof key === 'number') {
      if (ends) deleted.add(key);
      else if (key >= 0 && key < copy.length) copy[key] = deleteFrom(copy[key], inner, budget, at + 1);
    } else if (isJqObject(key)) {
      const [from, to] = sliceBounds(key, value.length);
      budget.chargeCopy(to - from);
      if (ends) for (let index = from; index < to; index++) deleted.add(index);
      else
        copy = [
          ...copy.slice(0, from),
          ...(deleteFrom(copy.slice(from, to), inner, budget, at + 1) as unknown[]),
        ].concat(copy.slice(to));
    } else return raise(`Cannot delete ${jqTypeOf(key)} element of array`);
  }
  return deleted.size === 0 ? copy : copy.filter((_item, index) => !deleted.has(index));
}

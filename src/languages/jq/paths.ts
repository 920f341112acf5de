import type { Budget } from './budget.ts';
import { Raised, raise } from './error.ts';
import { isEqual, isMembers, isNumber, kindOf, type Members, member, noMembers } from './values.ts';

/** The largest place in a list that can be set; what leads there is paid for all the same. */
const largestIndex = 536_870_911;

/** What stands at a place: a name, a number, or a range of a list. */
export function indexed(value: unknown, key: unknown, budget: Budget): unknown {
  const kind = kindOf(value);
  if (typeof key === 'string') {
    if (kind === 'object') return member(value as Members, key);
    if (kind === 'null') return null;
    return raise(`Cannot index ${kind} with string "${key.slice(0, 50)}"`);
  }
  if (isNumber(key)) {
    if (kind === 'array') return Number.isInteger(Number(key)) ? itemAt(value as unknown[], Number(key)) : null;
    if (kind === 'null') return null;
    return raise(`Cannot index ${kind} with number`);
  }
  if (isMembers(key)) return sliced(value, key, budget);
  if (kind === 'array' && Array.isArray(key)) return placesOf(value as unknown[], key, budget);
  return raise(`Cannot index ${kind} with ${kindOf(key)}`);
}

const itemAt = (list: readonly unknown[], key: number): unknown => list[place(key, list.length)] ?? null;

const place = (key: number, length: number): number => {
  const whole = Math.floor(key);
  return whole < 0 ? whole + length : whole;
};

/** Where a list stands in another. */
export function placesOf(value: readonly unknown[], part: readonly unknown[], budget: Budget): unknown {
  if (part.length === 0) return [];
  const found: number[] = [];
  for (let at = 0; at + part.length <= value.length; at++)
    if (part.every((it, offset) => isEqual(value[at + offset], it, budget))) found.push(at);
  return found;
}

/** From where to where a range reaches in so many members. */
export function rangeOf(range: Members, length: number): [from: number, to: number] {
  const bound = (given: unknown, otherwise: number, round: (value: number) => number): number => {
    if (given === null || given === undefined) return otherwise;
    if (!isNumber(given)) throw new Raised('Start and end indices of an array slice must be numbers');
    const whole = round(Number(given));
    if (Number.isNaN(whole)) return otherwise;
    return Math.min(Math.max(whole < 0 ? whole + length : whole, 0), length);
  };
  const from = bound(member(range, 'start'), 0, Math.floor);
  return [from, Math.max(from, bound(member(range, 'end'), length, Math.ceil))];
}

function sliced(value: unknown, range: Members, budget: Budget): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') {
    budget.read(value.length * 4);
    const points = [...value];
    return points.slice(...rangeOf(range, points.length)).join('');
  }
  if (!Array.isArray(value)) return raise(`Cannot index ${kindOf(value)} with object`);
  const [from, to] = rangeOf(range, value.length);
  budget.copy(to - from);
  return value.slice(from, to);
}

/** Containers that were copied for the change at hand: nobody else has them, so they need no other copy. */
export type Owned = Set<unknown>;

/** A copy with something else at one place. */
function placed(value: unknown, key: unknown, inner: unknown, budget: Budget, owned: Owned): unknown {
  if (typeof key === 'string') {
    if (value !== null && !isMembers(value))
      return raise(`Cannot index ${kindOf(value)} with string "${key.slice(0, 50)}"`);
    const copy = owned.has(value) ? (value as Members) : copied(value, budget);
    owned.add(copy);
    copy[key] = inner;
    return copy;
  }
  if (value !== null && !Array.isArray(value)) return raise(`Cannot index ${kindOf(value)} with ${kindOf(key)}`);
  const list = value ?? [];
  if (isNumber(key)) return listPlaced(list, Number(key), inner, budget, owned);
  if (!isMembers(key)) return raise(`Cannot update field at ${kindOf(key)} index of array`);
  if (!Array.isArray(inner)) return raise('A slice of an array can only be assigned another array');
  const [from, to] = rangeOf(key, list.length);
  budget.copy(list.length + inner.length);
  return [...list.slice(0, from), ...inner, ...list.slice(to)];
}

function listPlaced(list: unknown[], key: number, inner: unknown, budget: Budget, owned: Owned): unknown[] {
  const at = place(key, list.length);
  if (at < 0) return raise('Out of bounds negative array index');
  if (!(at <= largestIndex)) return raise('Array index too large');
  const isOwned = owned.has(list);
  budget.copy(isOwned ? Math.max(1, at - list.length) : Math.max(list.length, at));
  const copy = isOwned ? list : [...list];
  owned.add(copy);
  while (copy.length < at) copy.push(null);
  copy[at] = inner;
  return copy;
}

export function copied(value: unknown, budget: Budget): Members {
  const copy = noMembers();
  if (!isMembers(value)) return copy;
  const names = Object.keys(value);
  budget.copy(names.length * 2);
  for (const name of names) copy[name] = value[name];
  return copy;
}

export function gotten(value: unknown, path: readonly unknown[], budget: Budget): unknown {
  let found = value;
  for (const key of path) {
    if (found === null || found === undefined) return null;
    found = indexed(found, key, budget);
  }
  return found ?? null;
}

/** With what stood at the end of a path changed. What `owned` holds is changed itself, everything else is copied. */
export function changed(
  value: unknown,
  path: readonly unknown[],
  change: (old: unknown) => unknown,
  budget: Budget,
  owned: Owned = new Set(),
  at = 0,
): unknown {
  if (at === path.length) {
    // Whoever sees it may keep it.
    if (owned.has(value)) owned.clear();
    return change(value ?? null);
  }
  budget.visit(at);
  const key = path[at];
  const inner = value === null || value === undefined ? null : indexed(value, key, budget);
  return placed(value ?? null, key, changed(inner, path, change, budget, owned, at + 1), budget, owned);
}

/** A copy without what stands at the ends of these paths. */
export function removed(value: unknown, paths: readonly unknown[], budget: Budget): unknown {
  budget.copy(paths.length);
  for (const path of paths)
    if (!Array.isArray(path)) return raise(`Path must be specified as array, not ${kindOf(path)}`);
  return without(value, paths as unknown[][], budget, 0);
}

/** All at once, so that what is taken away does not move what is to be. */
function without(value: unknown, paths: readonly unknown[][], budget: Budget, at: number): unknown {
  if (paths.length === 0 || value === null || value === undefined) return value ?? null;
  if (paths.some(({ length }) => length === at)) return null;
  budget.visit(at);
  budget.copy(paths.length);
  if (isMembers(value)) return withoutMembers(value, paths, budget, at);
  if (Array.isArray(value)) return withoutItems(value, paths, budget, at);
  return raise(`Cannot delete field at ${kindOf(paths[0]![at])} index of ${kindOf(value)}`);
}

function withoutMembers(value: Members, paths: readonly unknown[][], budget: Budget, at: number): unknown {
  const copy = copied(value, budget);
  for (const [name, inner] of Map.groupBy(paths, path => path[at])) {
    if (typeof name !== 'string') return raise(`Cannot delete field at ${kindOf(name)} index of object`);
    if (!Object.hasOwn(copy, name)) continue;
    if (inner.some(({ length }) => length === at + 1)) delete copy[name];
    else copy[name] = without(copy[name], inner, budget, at + 1);
  }
  return copy;
}

function withoutItems(value: readonly unknown[], paths: readonly unknown[][], budget: Budget, at: number): unknown {
  budget.copy(value.length);
  let copy = [...value];
  const gone = new Set<number>();
  const grouped = Map.groupBy(paths, path => {
    const key = path[at];
    return isNumber(key) ? place(Number(key), value.length) : key;
  });
  for (const [key, inner] of grouped) {
    const ends = inner.some(({ length }) => length === at + 1);
    if (typeof key === 'number') {
      if (ends) gone.add(key);
      else if (key >= 0 && key < copy.length) copy[key] = without(copy[key], inner, budget, at + 1);
    } else if (isMembers(key)) {
      const [from, to] = rangeOf(key, value.length);
      budget.copy(to - from);
      if (ends) for (let index = from; index < to; index++) gone.add(index);
      else
        copy = [...copy.slice(0, from), ...(without(copy.slice(from, to), inner, budget, at + 1) as unknown[])].concat(
          copy.slice(to),
        );
    } else return raise(`Cannot delete ${kindOf(key)} element of array`);
  }
  return gone.size === 0 ? copy : copy.filter((_item, index) => !gone.has(index));
}

import { binaryOperators } from '../arithmetic.ts';
import type { JqBudget } from '../budget.ts';
import type { Builtin, BuiltinTable } from '../builtin.ts';
import { raise } from '../error.ts';
import { copyObject, indicesOf } from '../paths.ts';
import {
  compareValues,
  containsValue,
  describeValue,
  isEqual,
  isJqNumber,
  isJqObject,
  type JqObject,
  jqTypeOf,
} from '../values.ts';

const requireArray = (value: unknown, what: string): unknown[] =>
  Array.isArray(value) ? value : raise(`${describeValue(value)} cannot be ${what}, as it is not an array`);

interface Keyed {
  readonly item: unknown;
  readonly key: unknown;
}

/** Stable sort of an array by an array of keys. */
function sortByKeys(value: unknown, keys: unknown, what: string, budget: JqBudget): Keyed[] {
  const items = requireArray(value, what);
  const by = requireArray(keys, what);
  budget.chargeCopy(items.length * 4);
  return items
    .map((item, at) => ({ item, key: by[at] ?? null }))
    .sort((left, right) => compareValues(left.key, right.key, budget));
}

/** Groups items with equal keys. */
function groupByKeys(value: unknown, keys: unknown, what: string, budget: JqBudget): unknown[][] {
  const found: unknown[][] = [];
  let last: Keyed | undefined;
  for (const next of sortByKeys(value, keys, what, budget)) {
    if (last && isEqual(last.key, next.key, budget)) found.at(-1)!.push(next.item);
    else found.push([next.item]);
    last = next;
  }
  return found;
}

/** Item with the least or the greatest key; of equal ones the first or the last. */
const createExtreme =
  (isBetter: (apart: number) => boolean, what: string): Builtin =>
  ({ budget }, value, keys) => {
    const items = requireArray(value, what);
    const by = requireArray(keys, what);
    let best = 0;
    for (let at = 1; at < items.length; at++) if (isBetter(compareValues(by[at], by[best], budget))) best = at;
    return items[best] ?? null;
  };

function addAll(value: unknown, budget: JqBudget): unknown {
  if (!Array.isArray(value) && !isJqObject(value)) return raise(`Cannot iterate over ${describeValue(value)}`);
  const all = (Array.isArray(value) ? value : Object.values(value)).filter(it => jqTypeOf(it) !== 'null');
  budget.chargeCopy(all.length);
  const sum = binaryOperators['+']!;
  if (all.length < 2) return all[0] ?? null;
  if (all.every(it => Array.isArray(it))) {
    budget.chargeCopy(all.reduce((length: number, it) => length + (it as unknown[]).length, 0));
    return all.flat();
  }
  if (all.every(it => typeof it === 'string')) {
    budget.reserveText(all.reduce((length: number, it) => length + (it as string).length, 0));
    return all.join('');
  }
  if (all.every(isJqObject)) {
    const made = copyObject(all[0], budget);
    for (const it of all.slice(1) as JqObject[]) {
      const names = Object.keys(it);
      budget.chargeCopy(names.length * 2);
      for (const name of names) made[name] = it[name];
    }
    return made;
  }
  return all.reduce((left, right) => sum(left, right, budget));
}

function flattenItems(items: readonly unknown[], depth: number, budget: JqBudget, level = 0): unknown[] {
  const flat: unknown[] = [];
  for (const item of items) {
    budget.visit(level);
    if (!Array.isArray(item) || depth <= 0) flat.push(item);
    else for (const inner of flattenItems(item, depth - 1, budget, level + 1)) flat.push(inner);
  }
  return flat;
}

const flatten: Builtin = ({ budget }, value, depth = Number.POSITIVE_INFINITY) => {
  if (!isJqNumber(depth) || Number(depth) < 0) return raise('flatten depth must not be negative');
  const items = isJqObject(value) ? Object.values(value) : value;
  return Array.isArray(items)
    ? flattenItems(items, Number(depth), budget)
    : raise(`Cannot iterate over ${describeValue(value)}`);
};

const keyByItself = (plain: Builtin): Builtin => {
  return (interpreter, value) => plain(interpreter, value, value);
};
const sortBy: Builtin = ({ budget }, value, keys) => sortByKeys(value, keys, 'sorted', budget).map(({ item }) => item);
const uniqueBy: Builtin = ({ budget }, value, keys) =>
  groupByKeys(value, keys, 'grouped', budget).map(([first]) => first);
const minBy = createExtreme(apart => apart < 0, 'compared');
const maxBy = createExtreme(apart => apart >= 0, 'compared');

export const arrayBuiltins: BuiltinTable = {
  'length/0'({ budget }, value) {
    if (typeof value === 'string') {
      budget.chargeText(value.length * 2);
      return [...value].length;
    }
    if (isJqNumber(value)) return Math.abs(Number(value));
    if (Array.isArray(value)) return value.length;
    if (isJqObject(value)) return Object.keys(value).length;
    return jqTypeOf(value) === 'null' ? 0 : raise(`${describeValue(value)} has no length`);
  },
  'add/0': ({ budget }, value) => addAll(value, budget),
  'reverse/0'({ budget }, value) {
    if (jqTypeOf(value) === 'null') return [];
    if (typeof value === 'string') {
      budget.chargeCopy(value.length);
      return value === '' ? [] : [...value].reverse().join('');
    }
    const items = requireArray(value, 'reversed');
    budget.chargeCopy(items.length);
    return items.toReversed();
  },
  'flatten/0': (interpreter, value) => flatten(interpreter, value),
  'flatten/1': flatten,
  'sort/0': keyByItself(sortBy),
  '_sort_by/1': sortBy,
  '_group_by/1': ({ budget }, value, keys) => groupByKeys(value, keys, 'grouped', budget),
  'unique/0': keyByItself(uniqueBy),
  '_unique_by/1': uniqueBy,
  'min/0': keyByItself(minBy),
  '_min_by/1': minBy,
  'max/0': keyByItself(maxBy),
  '_max_by/1': maxBy,
  'contains/1': ({ budget }, value, part) => containsValue(value, part, budget),
  'transpose/0'({ budget }, value) {
    const rows = requireArray(value, 'transposed').map(row => requireArray(row, 'transposed'));
    const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
    budget.chargeCopy(width * rows.length);
    return Array.from({ length: width }, (_none, at) => rows.map(row => row[at] ?? null));
  },
  'bsearch/1'({ budget }, value, wanted) {
    if (jqTypeOf(value) === 'null') return -1;
    const items = Array.isArray(value) ? value : raise(`Cannot index ${jqTypeOf(value)} with number`);
    let [low, high] = [0, items.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const apart = compareValues(items[middle], wanted, budget);
      if (apart === 0) return middle;
      if (apart < 0) low = middle + 1;
      else high = middle - 1;
    }
    return -1 - low;
  },
  '_array_indices/1': ({ budget }, value, part) =>
    indicesOf(requireArray(value, 'searched'), requireArray(part, 'searched'), budget),
};

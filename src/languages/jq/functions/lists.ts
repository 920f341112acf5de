import { binaries } from '../arithmetic.ts';
import type { Budget } from '../budget.ts';
import type { Plain, PlainTable } from '../builtins-table.ts';
import { raise } from '../error.ts';
import { copied, placesOf } from '../paths.ts';
import { compare, contains, isEqual, isMembers, isNumber, kindOf, type Members, shown } from '../values.ts';

const list = (value: unknown, what: string): unknown[] =>
  Array.isArray(value) ? value : raise(`${shown(value)} cannot be ${what}, as it is not an array`);

interface Keyed {
  readonly item: unknown;
  readonly key: unknown;
}

/** A list in order, each item with what it is ordered by; those that are alike stay as they stood. */
function sorted(value: unknown, keys: unknown, what: string, budget: Budget): Keyed[] {
  const items = list(value, what);
  const by = list(keys, what);
  budget.copy(items.length * 4);
  return items
    .map((item, at) => ({ item, key: by[at] ?? null }))
    .sort((left, right) => compare(left.key, right.key, budget));
}

/** Items with the same key together. */
function groups(value: unknown, keys: unknown, what: string, budget: Budget): unknown[][] {
  const found: unknown[][] = [];
  let last: Keyed | undefined;
  for (const next of sorted(value, keys, what, budget)) {
    if (last && isEqual(last.key, next.key, budget)) found.at(-1)!.push(next.item);
    else found.push([next.item]);
    last = next;
  }
  return found;
}

/** The item with the least or the greatest key; of several the first or the last. */
const extreme =
  (isBetter: (apart: number) => boolean, what: string): Plain =>
  ({ budget }, value, keys) => {
    const items = list(value, what);
    const by = list(keys, what);
    let best = 0;
    for (let at = 1; at < items.length; at++) if (isBetter(compare(by[at], by[best], budget))) best = at;
    return items[best] ?? null;
  };

function added(value: unknown, budget: Budget): unknown {
  if (!Array.isArray(value) && !isMembers(value)) return raise(`Cannot iterate over ${shown(value)}`);
  const all = (Array.isArray(value) ? value : Object.values(value)).filter(it => kindOf(it) !== 'null');
  budget.copy(all.length);
  const sum = binaries['+']!;
  if (all.length < 2) return all[0] ?? null;
  if (all.every(it => Array.isArray(it))) {
    budget.copy(all.reduce((length: number, it) => length + (it as unknown[]).length, 0));
    return all.flat();
  }
  if (all.every(it => typeof it === 'string')) {
    budget.make(all.reduce((length: number, it) => length + (it as string).length, 0));
    return all.join('');
  }
  if (all.every(isMembers)) {
    const made = copied(all[0], budget);
    for (const it of all.slice(1) as Members[]) {
      const names = Object.keys(it);
      budget.copy(names.length * 2);
      for (const name of names) made[name] = it[name];
    }
    return made;
  }
  return all.reduce((left, right) => sum(left, right, budget));
}

function flattened(items: readonly unknown[], depth: number, budget: Budget, level = 0): unknown[] {
  const flat: unknown[] = [];
  for (const item of items) {
    budget.visit(level);
    if (!Array.isArray(item) || depth <= 0) flat.push(item);
    else for (const inner of flattened(item, depth - 1, budget, level + 1)) flat.push(inner);
  }
  return flat;
}

const flatten: Plain = ({ budget }, value, depth = Number.POSITIVE_INFINITY) => {
  if (!isNumber(depth) || Number(depth) < 0) return raise('flatten depth must not be negative');
  const items = isMembers(value) ? Object.values(value) : value;
  return Array.isArray(items) ? flattened(items, Number(depth), budget) : raise(`Cannot iterate over ${shown(value)}`);
};

const itself = (plain: Plain): Plain => {
  return (machine, value) => plain(machine, value, value);
};
const sortBy: Plain = ({ budget }, value, keys) => sorted(value, keys, 'sorted', budget).map(({ item }) => item);
const uniqueBy: Plain = ({ budget }, value, keys) => groups(value, keys, 'grouped', budget).map(([first]) => first);
const least = extreme(apart => apart < 0, 'compared');
const greatest = extreme(apart => apart >= 0, 'compared');

export const lists: PlainTable = {
  'length/0'({ budget }, value) {
    if (typeof value === 'string') {
      budget.read(value.length * 2);
      return [...value].length;
    }
    if (isNumber(value)) return Math.abs(Number(value));
    if (Array.isArray(value)) return value.length;
    if (isMembers(value)) return Object.keys(value).length;
    return kindOf(value) === 'null' ? 0 : raise(`${shown(value)} has no length`);
  },
  'add/0': ({ budget }, value) => added(value, budget),
  'reverse/0'({ budget }, value) {
    if (kindOf(value) === 'null') return [];
    if (typeof value === 'string') {
      budget.copy(value.length);
      return value === '' ? [] : [...value].reverse().join('');
    }
    const items = list(value, 'reversed');
    budget.copy(items.length);
    return items.toReversed();
  },
  'flatten/0': (machine, value) => flatten(machine, value),
  'flatten/1': flatten,
  'sort/0': itself(sortBy),
  '_sort_by/1': sortBy,
  '_group_by/1': ({ budget }, value, keys) => groups(value, keys, 'grouped', budget),
  'unique/0': itself(uniqueBy),
  '_unique_by/1': uniqueBy,
  'min/0': itself(least),
  '_min_by/1': least,
  'max/0': itself(greatest),
  '_max_by/1': greatest,
  'contains/1': ({ budget }, value, part) => contains(value, part, budget),
  'transpose/0'({ budget }, value) {
    const rows = list(value, 'transposed').map(row => list(row, 'transposed'));
    const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
    budget.copy(width * rows.length);
    return Array.from({ length: width }, (_none, at) => rows.map(row => row[at] ?? null));
  },
  'bsearch/1'({ budget }, value, wanted) {
    if (kindOf(value) === 'null') return -1;
    const items = Array.isArray(value) ? value : raise(`Cannot index ${kindOf(value)} with number`);
    let [low, high] = [0, items.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const apart = compare(items[middle], wanted, budget);
      if (apart === 0) return middle;
      if (apart < 0) low = middle + 1;
      else high = middle - 1;
    }
    return -1 - low;
  },
  '_items_at/1': ({ budget }, value, part) => placesOf(list(value, 'searched'), list(part, 'searched'), budget),
};

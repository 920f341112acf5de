import type { Budget } from '../budget.ts';
import { type Dictionary, isMap, isNothing, isTrue, memberOf, printed, sortedNames } from '../values.ts';
import { copiedDeeply } from './equality.ts';
import { atLeast, type FunctionTable, fixed, map, newMap, put, text } from './fn.ts';

function dictionary(args: readonly unknown[], budget: Budget): Dictionary {
  const made = newMap();
  for (let at = 0; at < args.length; at += 2)
    put(made, printed(args[at], budget), at + 1 < args.length ? (args[at + 1] ?? null) : '');
  return made;
}

/** `merge` keeps what is there, `mergeOverwrite` what comes later; both go into maps inside. */
function mergeInto(into: Dictionary, from: Dictionary, overwrites: boolean, budget: Budget, depth = 0): void {
  for (const name of Object.keys(from)) {
    budget.visit(depth);
    const [old, fresh] = [memberOf(into, name), from[name]];
    if (isMap(old) && isMap(fresh)) mergeInto(old, fresh, overwrites, budget, depth + 1);
    else if (overwrites || !isTrue(old)) put(into, name, fresh);
  }
}

/** What is missing is an empty map. */
const mapOrNew = (value: unknown): Dictionary => (isNothing(value) ? newMap() : map(value));

const merging = (overwrites: boolean) =>
  atLeast(1, ([first, ...others], budget) => {
    const into = mapOrNew(first);
    for (const other of others) if (!isNothing(other)) mergeInto(into, map(other), overwrites, budget);
    return into;
  });

function selectNames(of: Dictionary, named: ReadonlySet<unknown>, keeps: boolean, budget: Budget): Dictionary {
  const names = Object.keys(of);
  budget.spend(names.length);
  const made = newMap();
  for (const name of names) if (named.has(name) === keeps) put(made, name, of[name]);
  return made;
}

/** Names, what stands for nothing, and the map: the value at the end of the path. */
function dug(args: readonly unknown[]): unknown {
  const [of, otherwise, ...path] = args.toReversed();
  let at: unknown = of;
  for (const name of path.reverse()) {
    if (!isMap(at)) return otherwise;
    at = memberOf(at, text(name));
    if (at === undefined) return otherwise;
  }
  return at;
}

/** Empty text where there is no such member; one that is nothing is nothing. */
function getMember(of: Dictionary, name: string): unknown {
  const value = memberOf(of, name);
  return value === undefined ? '' : value;
}

export const maps: FunctionTable = {
  dict: dictionary,
  get: fixed(2, ([of, name]) => getMember(mapOrNew(of), text(name))),
  set: fixed(3, ([of, name, value]) => {
    put(map(of), text(name), value);
    return of;
  }),
  unset: fixed(2, ([of, name]) => {
    delete map(of)[text(name)];
    return of;
  }),
  hasKey: fixed(2, ([of, name]) => Object.hasOwn(mapOrNew(of), text(name))),
  pluck: atLeast(1, ([name, ...maps]) =>
    maps.filter(it => Object.hasOwn(map(it), text(name))).map(it => memberOf(map(it), text(name))),
  ),
  keys: (args, budget) => args.flatMap(it => sortedNames(map(it), budget)),
  values: fixed(1, ([of], budget) => sortedNames(map(of), budget).map(name => map(of)[name])),
  pick: atLeast(1, ([of, ...names], budget) => selectNames(map(of), new Set(names), true, budget)),
  omit: atLeast(1, ([of, ...names], budget) => selectNames(map(of), new Set(names), false, budget)),
  merge: merging(false),
  mustMerge: merging(false),
  mergeOverwrite: merging(true),
  mustMergeOverwrite: merging(true),
  dig: atLeast(3, dug),
  deepCopy: fixed(1, ([value], budget) => copiedDeeply(value, budget)),
  mustDeepCopy: fixed(1, ([value], budget) => copiedDeeply(value, budget)),
};

/** What changes a map it is given. */
export const changing: ReadonlySet<string> = new Set([
  'set',
  'unset',
  'merge',
  'mustMerge',
  'mergeOverwrite',
  'mustMergeOverwrite',
]);

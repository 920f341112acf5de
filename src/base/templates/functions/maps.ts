import type { Budget } from '../budget.ts';
import { type Dictionary, isMap, isNothing, isTrue, memberOf, printed } from '../values.ts';
import { atLeast, type FunctionTable, fixed, map, newMap, put, text } from './fn.ts';
import { copiedDeeply } from './sameness.ts';

function dictionary(args: readonly unknown[], budget: Budget): Dictionary {
  const made = newMap();
  for (let at = 0; at < args.length; at += 2) put(made, printed(args[at], budget), args[at + 1] ?? '');
  return made;
}

/** `merge` keeps what is there, `mergeOverwrite` what comes later; both go into maps inside. */
function mergeInto(into: Dictionary, from: Dictionary, overwrites: boolean, budget: Budget, depth = 0): void {
  for (const name of Object.keys(from)) {
    budget.visit(depth);
    const [old, fresh] = [memberOf(into, name), from[name]];
    if (isMap(old) && isMap(fresh)) mergeInto(old, fresh, overwrites, budget, depth + 1);
    else if (overwrites ? isTrue(fresh) : !isTrue(old)) put(into, name, fresh);
  }
}

const merging = (overwrites: boolean) =>
  atLeast(1, ([first, ...others], budget) => {
    const into = map(first);
    for (const other of others) mergeInto(into, map(other), overwrites, budget);
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
    if (isNothing(at)) return otherwise;
  }
  return at;
}

function paid<T>(items: T[], budget: Budget): T[] {
  budget.spend(items.length);
  return items;
}

export const maps: FunctionTable = {
  dict: dictionary,
  get: fixed(2, ([of, name]) => memberOf(map(of), text(name)) ?? ''),
  set: fixed(3, ([of, name, value]) => {
    put(map(of), text(name), value);
    return of;
  }),
  unset: fixed(2, ([of, name]) => {
    delete map(of)[text(name)];
    return of;
  }),
  hasKey: fixed(2, ([of, name]) => Object.hasOwn(map(of), text(name))),
  pluck: atLeast(1, ([name, ...maps]) =>
    maps.filter(it => Object.hasOwn(map(it), text(name))).map(it => memberOf(map(it), text(name))),
  ),
  keys: (args, budget) => args.flatMap(it => paid(Object.keys(map(it)).sort(), budget)),
  values: fixed(1, ([of], budget) =>
    paid(
      Object.keys(map(of))
        .sort()
        .map(name => map(of)[name]),
      budget,
    ),
  ),
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

import type { TemplateBudget } from '../budget.ts';
import { type Dictionary, getOwnMember, isMap, isNil, isTrue, printValue, sortNames } from '../values.ts';
import { deepCopy } from './equality.ts';
import { createMap, type FunctionTable, requireMap, requireText, setMember, withArity, withMinArity } from './fn.ts';

function createDictionary(args: readonly unknown[], budget: TemplateBudget): Dictionary {
  const made = createMap();
  for (let at = 0; at < args.length; at += 2)
    setMember(made, printValue(args[at], budget), at + 1 < args.length ? (args[at + 1] ?? null) : '');
  return made;
}

/** Deep merge: `merge` keeps existing members, `mergeOverwrite` replaces them. */
function mergeInto(into: Dictionary, from: Dictionary, overwrites: boolean, budget: TemplateBudget, depth = 0): void {
  for (const name of Object.keys(from)) {
    budget.visit(depth);
    const [old, fresh] = [getOwnMember(into, name), from[name]];
    if (isMap(old) && isMap(fresh)) mergeInto(old, fresh, overwrites, budget, depth + 1);
    else if (overwrites || !isTrue(old)) setMember(into, name, fresh);
  }
}

/** Map argument; nil is an empty map. */
const mapOrEmpty = (value: unknown): Dictionary => (isNil(value) ? createMap() : requireMap(value));

const createMerge = (overwrites: boolean) =>
  withMinArity(1, ([first, ...others], budget) => {
    const into = mapOrEmpty(first);
    for (const other of others) if (!isNil(other)) mergeInto(into, requireMap(other), overwrites, budget);
    return into;
  });

function selectNames(of: Dictionary, named: ReadonlySet<unknown>, keeps: boolean, budget: TemplateBudget): Dictionary {
  const names = Object.keys(of);
  budget.spend(names.length);
  const made = createMap();
  for (const name of names) if (named.has(name) === keeps) setMember(made, name, of[name]);
  return made;
}

/** `dig`: member names, a default and the map; the value at the end of the path. */
function dig(args: readonly unknown[]): unknown {
  const [of, otherwise, ...path] = args.toReversed();
  let at: unknown = of;
  for (const name of path.reverse()) {
    if (!isMap(at)) return otherwise;
    at = getOwnMember(at, requireText(name));
    if (at === undefined) return otherwise;
  }
  return at;
}

/** Empty text for a missing member; an explicit null stays null. */
function getMember(of: Dictionary, name: string): unknown {
  const value = getOwnMember(of, name);
  return value === undefined ? '' : value;
}

export const mapFunctions: FunctionTable = {
  dict: createDictionary,
  get: withArity(2, ([of, name]) => getMember(mapOrEmpty(of), requireText(name))),
  set: withArity(3, ([of, name, value]) => {
    setMember(requireMap(of), requireText(name), value);
    return of;
  }),
  unset: withArity(2, ([of, name]) => {
    delete requireMap(of)[requireText(name)];
    return of;
  }),
  hasKey: withArity(2, ([of, name]) => Object.hasOwn(mapOrEmpty(of), requireText(name))),
  pluck: withMinArity(1, ([name, ...maps]) =>
    maps
      .filter(it => Object.hasOwn(requireMap(it), requireText(name)))
      .map(it => getOwnMember(requireMap(it), requireText(name))),
  ),
  keys: (args, budget) => args.flatMap(it => sortNames(requireMap(it), budget)),
  values: withArity(1, ([of], budget) => sortNames(requireMap(of), budget).map(name => requireMap(of)[name])),
  pick: withMinArity(1, ([of, ...names], budget) => selectNames(requireMap(of), new Set(names), true, budget)),
  omit: withMinArity(1, ([of, ...names], budget) => selectNames(requireMap(of), new Set(names), false, budget)),
  merge: createMerge(false),
  mustMerge: createMerge(false),
  mergeOverwrite: createMerge(true),
  mustMergeOverwrite: createMerge(true),
  dig: withMinArity(3, dig),
  deepCopy: withArity(1, ([value], budget) => deepCopy(value, budget)),
  mustDeepCopy: withArity(1, ([value], budget) => deepCopy(value, budget)),
};

/** Functions that mutate their argument. */
export const mutatingFunctions: ReadonlySet<string> = new Set([
  'set',
  'unset',
  'merge',
  'mustMerge',
  'mergeOverwrite',
  'mustMergeOverwrite',
]);

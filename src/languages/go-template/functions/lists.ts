import type { TemplateBudget } from '../budget.ts';
import { TemplateError } from '../error.ts';
import { isNil, isTrue } from '../values.ts';
import { deepEqual } from './equality.ts';
import {
  type FunctionTable,
  requireInteger,
  requireList,
  type TemplateFunction,
  withArity,
  withMinArity,
} from './fn.ts';

/** Adds the `must…` variant of each function; here both raise errors. */
const withMustVariants = (table: FunctionTable): FunctionTable =>
  Object.fromEntries(
    Object.entries(table).flatMap(([name, fn]) => [
      [name, fn],
      [`must${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, fn],
    ]),
  );

const createListFunction = (body: (items: readonly unknown[], budget: TemplateBudget) => unknown): TemplateFunction =>
  withArity(1, ([items], budget) => {
    budget.spend(requireList(items).length);
    return body(requireList(items), budget);
  });

const includesEqual = (items: readonly unknown[], wanted: unknown, budget: TemplateBudget) =>
  items.some(it => deepEqual(it, wanted, budget));

function removeDuplicates(items: readonly unknown[], budget: TemplateBudget): unknown[] {
  const found: unknown[] = [];
  for (const it of items) if (!includesEqual(found, it, budget)) found.push(it);
  return found;
}

function splitIntoChunks(size: number, items: readonly unknown[]): unknown[][] {
  if (size < 1) throw new TemplateError('a chunk holds at least one item');
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}

const ends = withMustVariants({
  first: createListFunction(items => items[0]),
  last: createListFunction(items => items.at(-1)),
  rest: createListFunction(items => items.slice(1)),
  initial: createListFunction(items => items.slice(0, -1)),
  reverse: createListFunction(items => items.toReversed()),
  compact: createListFunction(items => items.filter(isTrue)),
  uniq: createListFunction(removeDuplicates),
  append: withArity(2, ([items, it], budget) => chargeList([...requireList(items), it], budget)),
  push: withArity(2, ([items, it], budget) => chargeList([...requireList(items), it], budget)),
  prepend: withArity(2, ([items, it], budget) => chargeList([it, ...requireList(items)], budget)),
  has: withArity(2, ([wanted, items], budget) => !isNil(items) && includesEqual(requireList(items), wanted, budget)),
  without: withMinArity(1, ([items, ...unwanted], budget) =>
    requireList(items).filter(it => !includesEqual(unwanted, it, budget)),
  ),
  chunk: withArity(2, ([size, items]) => splitIntoChunks(requireInteger(size), requireList(items))),
});

function chargeList(items: unknown[], budget: TemplateBudget): unknown[] {
  budget.spend(items.length >> 2);
  return items;
}

export const listFunctions: FunctionTable = {
  list: args => [...args],
  tuple: args => [...args],
  ...ends,
  concat: (args, budget) =>
    chargeList(
      args.flatMap(it => requireList(it)),
      budget,
    ),
};

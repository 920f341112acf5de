import type { Budget } from '../budget.ts';
import { TemplateFault } from '../error.ts';
import { isNothing, isTrue } from '../values.ts';
import { sameDeeply } from './equality.ts';
import { atLeast, type Fn, type FunctionTable, fixed, list, whole } from './fn.ts';

/** Each under its own name and under that of the variant that must succeed: here both say when they cannot. */
const both = (table: FunctionTable): FunctionTable =>
  Object.fromEntries(
    Object.entries(table).flatMap(([name, fn]) => [
      [name, fn],
      [`must${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, fn],
    ]),
  );

const of = (body: (items: readonly unknown[], budget: Budget) => unknown): Fn =>
  fixed(1, ([items], budget) => {
    budget.spend(list(items).length);
    return body(list(items), budget);
  });

const holds = (items: readonly unknown[], wanted: unknown, budget: Budget) =>
  items.some(it => sameDeeply(it, wanted, budget));

function unique(items: readonly unknown[], budget: Budget): unknown[] {
  const found: unknown[] = [];
  for (const it of items) if (!holds(found, it, budget)) found.push(it);
  return found;
}

function chunks(size: number, items: readonly unknown[]): unknown[][] {
  if (size < 1) throw new TemplateFault('a chunk holds at least one item');
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}

/** The text of a list is reversed by character, as lists are by item. */
const ends = both({
  first: of(items => items[0]),
  last: of(items => items.at(-1)),
  rest: of(items => items.slice(1)),
  initial: of(items => items.slice(0, -1)),
  reverse: of(items => items.toReversed()),
  compact: of(items => items.filter(isTrue)),
  uniq: of(unique),
  append: fixed(2, ([items, it], budget) => longer([...list(items), it], budget)),
  push: fixed(2, ([items, it], budget) => longer([...list(items), it], budget)),
  prepend: fixed(2, ([items, it], budget) => longer([it, ...list(items)], budget)),
  has: fixed(2, ([wanted, items], budget) => !isNothing(items) && holds(list(items), wanted, budget)),
  without: atLeast(1, ([items, ...unwanted], budget) => list(items).filter(it => !holds(unwanted, it, budget))),
  chunk: fixed(2, ([size, items]) => chunks(whole(size), list(items))),
});

function longer(items: unknown[], budget: Budget): unknown[] {
  budget.spend(items.length >> 2);
  return items;
}

export const lists: FunctionTable = {
  list: args => [...args],
  tuple: args => [...args],
  ...ends,
  concat: (args, budget) =>
    longer(
      args.flatMap(it => list(it)),
      budget,
    ),
};

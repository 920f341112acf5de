import { times } from './functions/dates.ts';
import { lists } from './functions/lists.ts';
import { numbers } from './functions/numbers.ts';
import { objects } from './functions/objects.ts';
import { texts } from './functions/strings.ts';
import type { Machine } from './interpreter.ts';

/** A function of values: of what comes in and its arguments, each of which is run for every combination. */
export type Plain = (machine: Machine, value: unknown, ...args: unknown[]) => unknown;
export type PlainTable = Readonly<Record<string, Plain>>;

export const plains: PlainTable = {
  __proto__: null as never,
  ...lists,
  ...numbers,
  ...objects,
  ...texts,
  ...times,
};

import { dateBuiltins } from './functions/dates.ts';
import { arrayBuiltins } from './functions/lists.ts';
import { numberBuiltins } from './functions/numbers.ts';
import { objectBuiltins } from './functions/objects.ts';
import { stringBuiltins } from './functions/strings.ts';
import type { Interpreter } from './interpreter.ts';

/** A function of values: of what comes in and its arguments, each of which is run for every combination. */
export type Builtin = (interpreter: Interpreter, value: unknown, ...args: unknown[]) => unknown;
export type BuiltinTable = Readonly<Record<string, Builtin>>;

export const builtins: BuiltinTable = {
  __proto__: null as never,
  ...arrayBuiltins,
  ...numberBuiltins,
  ...objectBuiltins,
  ...stringBuiltins,
  ...dateBuiltins,
};

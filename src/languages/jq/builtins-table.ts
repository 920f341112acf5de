import { dateBuiltins } from './functions/dates.ts';
import { arrayBuiltins } from './functions/lists.ts';
import { numberBuiltins } from './functions/numbers.ts';
import { objectBuiltins } from './functions/objects.ts';
import { stringBuiltins } from './functions/strings.ts';
import type { Interpreter } from './interpreter.ts';

/** A builtin of the input and its evaluated arguments; it runs for every combination of their results. */
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

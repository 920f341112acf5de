import type { BuiltinTable } from './builtin.ts';
import { dateBuiltins } from './functions/dates.ts';
import { arrayBuiltins } from './functions/lists.ts';
import { numberBuiltins } from './functions/numbers.ts';
import { objectBuiltins } from './functions/objects.ts';
import { stringBuiltins } from './functions/strings.ts';

export const builtins: BuiltinTable = {
  __proto__: null as never,
  ...arrayBuiltins,
  ...numberBuiltins,
  ...objectBuiltins,
  ...stringBuiltins,
  ...dateBuiltins,
};

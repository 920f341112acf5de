import type { Json } from '#base/json.ts';
import { isObject } from '#base/json-tree.ts';
import { compilerOf } from './compile.ts';
import { dialectOf } from './dialects.ts';
import { type Check, Exhausted, type Fault, Run } from './run.ts';

/** Nothing where a value fits; else all that is wrong with it. */
export type Validate = (value: unknown) => readonly Fault[];

/** A JSON Schema that stands by itself. Throws `Unreadable` when it means nothing. */
export function schemaOf(schema: Json): Validate {
  const dialect = dialectOf(isObject(schema) ? schema.$schema : undefined);
  return validating(compilerOf(schema, dialect).at(schema));
}

const validating =
  (check: Check): Validate =>
  value => {
    const run = new Run();
    try {
      check(value, run, undefined);
    } catch (error) {
      if (error instanceof Exhausted) return [{ path: [], message: error.message }];
      throw error;
    }
    return run.faults;
  };

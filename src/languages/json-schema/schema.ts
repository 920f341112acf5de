import type { Json } from '#base/json.ts';
import { isObject } from '#base/json-tree.ts';
import { createSchemaCompiler } from './compile.ts';
import { detectDialect } from './dialects.ts';
import { BudgetExceeded, type SchemaCheck, type SchemaViolation, ValidationRun } from './run.ts';

/** Validates a value; empty where it is valid. */
export type Validate = (value: unknown) => readonly SchemaViolation[];

/** Compiles a standalone JSON Schema. Throws `InvalidSchema`. */
export function compileJsonSchema(schema: Json): Validate {
  const dialect = detectDialect(isObject(schema) ? schema.$schema : undefined);
  return createValidator(createSchemaCompiler(schema, dialect).compile(schema));
}

const createValidator =
  (check: SchemaCheck): Validate =>
  value => {
    const run = new ValidationRun();
    try {
      check(value, run, undefined);
    } catch (error) {
      if (error instanceof BudgetExceeded) return [{ path: [], message: error.message }];
      throw error;
    }
    return run.violations;
  };

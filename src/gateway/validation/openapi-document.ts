import { isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { createSchemaCompiler, type SchemaCompiler } from '#languages/json-schema/compile.ts';
import { openApiDialect } from '#languages/json-schema/dialects.ts';
import { InvalidSchema } from '#languages/json-schema/invalid-schema.ts';
import { documentBase } from '#languages/json-schema/references.ts';
import type { SchemaCheck } from '#languages/json-schema/run.ts';
import { ApiCompileError } from '../pipeline/step.ts';

/** The OpenAPI part of a definition with local references. External references are never fetched. */
export interface OpenApiDocument {
  readonly root: Readonly<JsonObject>;
  /** The object itself, or the target of its `$ref`. */
  dereference(value: unknown): JsonObject;
  compileSchema(schema: unknown): SchemaCheck;
}

const maxReferenceHops = 20;

export function compileOpenApiDocument(root: Readonly<JsonObject>): OpenApiDocument {
  const compiler: SchemaCompiler = createSchemaCompiler(root, openApiDialect(root.openapi));
  return {
    root,
    compileSchema: compiler.compile,
    dereference(value) {
      let target = value;
      for (let hops = 0; isObject(target) && typeof target.$ref === 'string'; hops++) {
        if (hops >= maxReferenceHops) throw new InvalidSchema(`${JSON.stringify(target.$ref)} refers to itself`);
        target = compiler.references.find(target.$ref, documentBase).schema;
      }
      return objectOrEmpty(target);
    },
  };
}

/** An API with an invalid document is unavailable: requests would pass without validation. */
export function rejectUnreadable<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof InvalidSchema) throw new ApiCompileError(`the OpenAPI document is invalid: ${error.message}`);
    throw error;
  }
}

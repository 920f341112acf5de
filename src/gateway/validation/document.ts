import { isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { type Compiler, compilerOf } from '#languages/json-schema/compile.ts';
import { openApiDialect } from '#languages/json-schema/dialects.ts';
import { Unreadable } from '#languages/json-schema/invalid-schema.ts';
import { documentBase } from '#languages/json-schema/references.ts';
import type { Check } from '#languages/json-schema/run.ts';
import { ApiCompileError } from '../pipeline/step.ts';

/** The OpenAPI part of a definition, with references inside it followed. Nothing outside it is ever read. */
export interface OpenApiDocument {
  readonly root: Readonly<JsonObject>;
  /** The object a value is or refers to. */
  dereference(value: unknown): JsonObject;
  compileSchema(schema: unknown): Check;
}

const maxReferenceHops = 20;

export function compileOpenApiDocument(root: Readonly<JsonObject>): OpenApiDocument {
  const compiler: Compiler = compilerOf(root, openApiDialect(root.openapi));
  return {
    root,
    compileSchema: compiler.at,
    dereference(value) {
      let found = value;
      for (let hops = 0; isObject(found) && typeof found.$ref === 'string'; hops++) {
        if (hops >= maxReferenceHops) throw new Unreadable(`${JSON.stringify(found.$ref)} refers to itself`);
        found = compiler.references.find(found.$ref, documentBase).schema;
      }
      return objectOrEmpty(found);
    },
  };
}

/** An API whose document cannot be read is not served: its checks would not be made. */
export function rejectUnreadable<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof Unreadable) throw new ApiCompileError(`the OpenAPI document cannot be read: ${error.message}`);
    throw error;
  }
}

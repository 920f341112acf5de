import { arrayOrEmpty, type JsonObject, objectOrEmpty, textOrEmpty } from '#base/json-tree.ts';
import type { Settings } from '#base/settings.ts';
import type { CompiledSchema } from '#languages/graphql/schema.ts';
import { loadGraphqlLanguage } from '#languages/lazy-languages.ts';
import type { ValidationError } from '#operations/validation-error.ts';
import { readClientSchema } from '../graphql-schema/client-schema.ts';

/** Bounds the time of a check. */
const maxCheckedOperations = 100;
const maxNesting = 200;

/** A warning about a persisted operation, with the rule that reports it. */
export interface PersistedFault extends ValidationError {
  readonly rule: 'persisted_operation_invalid' | 'persisted_operations_unchecked';
}

interface PersistedOperation {
  readonly path: string;
  readonly operation: string;
}

/** Persisted operations of a classic definition, of all its versions. */
function listPersistedOperations(definition: JsonObject): readonly PersistedOperation[] {
  return Object.entries(objectOrEmpty(objectOrEmpty(definition.version_data).versions)).flatMap(([name, version]) => {
    const place = `version_data.versions.${name}.extended_paths.persist_graphql`;
    return arrayOrEmpty(objectOrEmpty(objectOrEmpty(version).extended_paths).persist_graphql).map((entry, index) => ({
      path: `${place}[${index}].operation`,
      operation: textOrEmpty(objectOrEmpty(entry).operation),
    }));
  });
}

/**
 * Persisted operations that the schema of the definition, or the syntax of GraphQL where it has none, does not allow.
 * They are no errors of a write: the upstream decides about its operations.
 */
export function findPersistedFaults(definition: JsonObject, settings: Settings): readonly PersistedFault[] {
  const operations = listPersistedOperations(definition);
  if (operations.length === 0) return [];
  const { checkGraphqlDocument, findSyntaxFault } = loadGraphqlLanguage();
  const schema = compileClientSchema(definition);
  const bounds = {
    maxTokens: settings['graphql.max_tokens'],
    maxNesting,
    maxFields: settings['graphql.max_fields'],
    maxAliases: settings['graphql.max_aliases'],
    maxDirectives: settings['graphql.max_directives'],
  };
  const findFault = (text: string): string | undefined => {
    if (!schema) return findSyntaxFault(text, bounds);
    const checked = checkGraphqlDocument(schema, text, bounds, false);
    return 'errors' in checked ? checked.errors[0]?.message : undefined;
  };
  const faults = operations.slice(0, maxCheckedOperations).flatMap(({ path, operation }): PersistedFault[] => {
    const message = findFault(operation);
    return message === undefined ? [] : [{ rule: 'persisted_operation_invalid', path, message }];
  });
  const further = operations[maxCheckedOperations];
  if (!further) return faults;
  const message = `only the first ${maxCheckedOperations} operations are checked`;
  return [...faults, { rule: 'persisted_operations_unchecked', path: further.path, message }];
}

function compileClientSchema(definition: JsonObject): CompiledSchema | undefined {
  const { compileGraphqlSchema, InvalidGraphqlSchema } = loadGraphqlLanguage();
  const sdl = readClientSchema(definition);
  try {
    return sdl.trim() === '' ? undefined : compileGraphqlSchema(sdl);
  } catch (error) {
    // A schema that is not enabled may be invalid.
    if (error instanceof InvalidGraphqlSchema) return undefined;
    throw error;
  }
}

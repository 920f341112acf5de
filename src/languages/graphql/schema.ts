import {
  buildASTSchema,
  GraphQLError,
  type GraphQLSchema,
  isAbstractType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  parse,
  validateSchema,
} from 'graphql';
import { Lru } from '#base/lru.ts';
import { truncateText } from '#base/problems.ts';
import { requireFiniteInputs } from './input-nesting.ts';
import { scanGraphqlText } from './scan.ts';
import { requireImplementedMembers, requireKnownNames } from './schema-names.ts';

/** Schema of an API, compiled from SDL. */
export interface CompiledSchema {
  readonly schema: GraphQLSchema;
  /** Unique in the thread: part of the keys of cached documents. */
  readonly id: number;
  /** Implementations of each interface and members of each union, by name. */
  readonly possibleTypes: ReadonlyMap<string, readonly string[]>;
  /**
   * Types whose rules hold for the fields of a type: the type, the object types that it can be, and all interfaces of
   * these. Listed when a type is first asked for: all lists of a schema can be large.
   */
  listRelatedTypes(type: string): ReadonlySet<string>;
  /** Numbers of types, of fields of all types, and of fields of the types of all fields: they bound introspection. */
  readonly population: readonly [types: number, fields: number, nestedFields: number];
}

/** The SDL cannot be compiled. */
export class InvalidGraphqlSchema extends Error {}

const maxSchemaTokens = 500_000;
const maxSchemaNesting = 100;
/** Errors quote the SDL. */
const maxReasonLength = 1000;
/** Versions of an API and reloads share a compiled schema. */
const maxCompiledSchemas = 64;
let lastSchemaId = 0;
const compiledSchemas = new Lru<string, CompiledSchema>(maxCompiledSchemas);

/** Compiles SDL; throws `InvalidGraphqlSchema` with its errors, as far as the length of a reason goes. */
export function compileGraphqlSchema(sdl: string): CompiledSchema {
  const known = compiledSchemas.get(sdl);
  if (known) return known;
  const schema = buildValidSchema(sdl);
  const types = Object.values(schema.getTypeMap());
  const compiled: CompiledSchema = {
    schema,
    id: ++lastSchemaId,
    possibleTypes: new Map(
      types.filter(isAbstractType).map(type => [type.name, schema.getPossibleTypes(type).map(({ name }) => name)]),
    ),
    listRelatedTypes: createRelations(schema),
    population: countPopulation(schema),
  };
  compiledSchemas.set(sdl, compiled);
  return compiled;
}

/** Checks SDL that nothing executes; throws `InvalidGraphqlSchema`. */
export const checkGraphqlSchema = (sdl: string): void => void buildValidSchema(sdl);

function buildValidSchema(sdl: string): GraphQLSchema {
  try {
    scanGraphqlText(sdl, { maxTokens: maxSchemaTokens, maxNesting: maxSchemaNesting });
    const document = parse(sdl, { noLocation: true });
    requireKnownNames(document);
    const schema = buildASTSchema(document);
    requireImplementedMembers(schema);
    requireFiniteInputs(schema);
    const errors = validateSchema(schema);
    if (errors.length > 0)
      throw new InvalidGraphqlSchema(formatReason(errors.map(({ message }) => message).join('; ')));
    return schema;
  } catch (error) {
    // The package reports several errors of SDL as one plain error.
    if (error instanceof GraphQLError || (error instanceof Error && error.constructor === Error))
      throw new InvalidGraphqlSchema(formatReason(error.message));
    throw error;
  }
}

const formatReason = (message: string): string => truncateText(message, maxReasonLength).replaceAll(/\s+/g, ' ');

export function createRelations(schema: GraphQLSchema): CompiledSchema['listRelatedTypes'] {
  const known = new Map<string, ReadonlySet<string>>();
  return name => {
    const found = known.get(name);
    if (found) return found;
    const related = new Set([name]);
    const type = schema.getType(name);
    const objects = isAbstractType(type) ? schema.getPossibleTypes(type) : isObjectType(type) ? [type] : [];
    for (const object of objects) {
      related.add(object.name);
      for (const it of object.getInterfaces()) related.add(it.name);
    }
    if (isInterfaceType(type)) for (const it of type.getInterfaces()) related.add(it.name);
    known.set(name, related);
    return related;
  };
}

function countPopulation(schema: GraphQLSchema): CompiledSchema['population'] {
  const types = Object.values(schema.getTypeMap());
  const fieldsOf = (type: unknown) =>
    isObjectType(type) || isInterfaceType(type) || isInputObjectType(type) ? Object.values(type.getFields()) : [];
  const sizes = new Map(types.map(type => [type.name, fieldsOf(type).length]));
  let fields = 0;
  let nestedFields = 0;
  for (const type of types)
    for (const field of fieldsOf(type)) {
      fields++;
      nestedFields += sizes.get(field.type.toString().replaceAll(/[[\]!]/g, '')) ?? 0;
    }
  return [types.length, fields, nestedFields];
}

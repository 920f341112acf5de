import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isSpecifiedScalarType,
  isUnionType,
} from 'graphql';
import type { CompiledSchema } from '../schema.ts';

/**
 * Compares a schema with the one that answers it: the first member that has no counterpart there. A schema that is part
 * of another one hides the rest of it from clients.
 */
export function findForeignPart({ schema: part }: CompiledSchema, { schema: whole }: CompiledSchema) {
  for (const type of Object.values(part.getTypeMap())) {
    if (type.name.startsWith('__') || isSpecifiedScalarType(type)) continue;
    const other = whole.getType(type.name);
    if (!other) return `the subgraphs have no type ${type.name}`;
    if (other.constructor.name !== type.constructor.name) return `${type.name} is of another kind in the subgraphs`;
    const foreign = compareTypes(type, other);
    if (foreign !== undefined) return foreign;
  }
  return undefined;
}

type Field = GraphQLField<unknown, unknown> | GraphQLInputField;

function compareTypes(type: GraphQLNamedType, other: GraphQLNamedType): string | undefined {
  if (isEnumType(type) && isEnumType(other)) {
    const missing = type.getValues().find(({ name }) => !other.getValue(name));
    return missing && `the enum ${type.name} of the subgraphs has no value ${missing.name}`;
  }
  if (isUnionType(type) && isUnionType(other)) {
    const missing = type.getTypes().find(({ name }) => !other.getTypes().some(it => it.name === name));
    return missing && `the union ${type.name} of the subgraphs has no member ${missing.name}`;
  }
  if (isInputObjectType(type) && isInputObjectType(other)) {
    const required = Object.values(other.getFields()).find(
      it => isRequiredInputField(it) && !type.getFields()[it.name],
    );
    if (required) return `the field ${type.name}.${required.name} is required by the subgraphs`;
    return compareFields(type.name, type.getFields(), other.getFields());
  }
  if (!(isObjectType(type) || isInterfaceType(type)) || !(isObjectType(other) || isInterfaceType(other)))
    return undefined;
  const missing = type.getInterfaces().find(({ name }) => !other.getInterfaces().some(it => it.name === name));
  if (missing) return `${type.name} does not implement ${missing.name} in the subgraphs`;
  return compareFields(type.name, type.getFields(), other.getFields());
}

function compareFields(
  type: string,
  fields: Readonly<Record<string, Field>>,
  others: Readonly<Record<string, Field>>,
): string | undefined {
  for (const field of Object.values(fields)) {
    const other = others[field.name];
    if (!other) return `the subgraphs have no field ${type}.${field.name}`;
    if (String(other.type) !== String(field.type))
      return `the field ${type}.${field.name} is ${other.type} in the subgraphs`;
    const foreign = compareArguments(`${type}.${field.name}`, listArguments(field), listArguments(other));
    if (foreign !== undefined) return foreign;
  }
  return undefined;
}

const listArguments = (field: Field): readonly GraphQLArgument[] => ('args' in field ? field.args : []);

function compareArguments(
  place: string,
  given: readonly GraphQLArgument[],
  others: readonly GraphQLArgument[],
): string | undefined {
  for (const { name, type } of given) {
    const other = others.find(it => it.name === name);
    if (!other) return `the field ${place} of the subgraphs has no argument ${name}`;
    if (String(other.type) !== String(type))
      return `the argument ${name} of ${place} is ${other.type} in the subgraphs`;
  }
  const required = others.find(it => isRequiredArgument(it) && !given.some(({ name }) => name === it.name));
  return required && `the argument ${required.name} of ${place} is required by the subgraphs`;
}

import { isObjectType } from 'graphql';
import { closestMatch } from '#base/closest-match.ts';
import type { CompiledSchema } from './schema.ts';

/** Facts of one field of an object type. */
export interface SchemaField {
  readonly argumentNames: readonly string[];
  /** Operation whose root type has the field; undefined for any other type. */
  readonly rootOf: 'query' | 'mutation' | 'subscription' | undefined;
}

/** Finds a field by the names of its type and of itself, or describes what is missing, with the nearest name. */
export function findSchemaField(
  { schema }: CompiledSchema,
  typeName: string,
  fieldName: string,
): SchemaField | { readonly missing: string } {
  const type = schema.getType(typeName);
  if (!type) {
    const objects = Object.values(schema.getTypeMap()).filter(isObjectType);
    const names = objects.map(({ name }) => name).filter(name => !name.startsWith('__'));
    return { missing: `the schema has no type ${JSON.stringify(typeName)}${suggest(typeName, names)}` };
  }
  if (!isObjectType(type)) return { missing: `${typeName} is no object type: name the types that implement it` };
  const field = type.getFields()[fieldName];
  if (!field) {
    const hint = suggest(fieldName, Object.keys(type.getFields()));
    return { missing: `the type ${typeName} has no field ${JSON.stringify(fieldName)}${hint}` };
  }
  const roots = [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
    ['subscription', schema.getSubscriptionType()],
  ] as const;
  return {
    argumentNames: field.args.map(({ name }) => name),
    rootOf: roots.find(([, root]) => root === type)?.[0],
  };
}

function suggest(name: string, known: readonly string[]): string {
  const meant = closestMatch(name, known);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

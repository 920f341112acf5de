import { buildSchema, isAbstractType } from 'graphql';

/** True where an object of the type `typeName` satisfies a condition: the type itself, or one that it implements. */
export type MatchType = (typeName: string, condition: string) => boolean;

/** Type conditions of the whole supergraph: plans also name types that clients do not see. */
export function createTypeMatcher(supergraphSdl: string): MatchType {
  const schema = buildSchema(supergraphSdl, { assumeValidSDL: true, noLocation: true });
  const possible = new Map(
    Object.values(schema.getTypeMap())
      .filter(isAbstractType)
      .map(type => [type.name, new Set(schema.getPossibleTypes(type).map(({ name }) => name))]),
  );
  return (typeName, condition) => typeName === condition || (possible.get(condition)?.has(typeName) ?? false);
}

import type { SupergraphTypes } from '#languages/graphql/federation/supergraph-types.ts';

/** True where an object of the type `typeName` satisfies a condition: the type itself, or one that it implements. */
export type MatchType = (typeName: string, condition: string) => boolean;

/** Type conditions of the whole supergraph: plans also name types that clients do not see. */
export const createTypeMatcher =
  ({ possibleTypes }: SupergraphTypes): MatchType =>
  (typeName, condition) =>
    typeName === condition || (possibleTypes.get(condition)?.has(typeName) ?? false);

import {
  GraphQLError,
  type GraphQLInputObjectType,
  type GraphQLSchema,
  isInputObjectType,
  isNonNullType,
} from 'graphql';

/** The package takes stack for each level. */
const maxInputNesting = 500;

/**
 * Required input objects inside input objects: throws `GraphQLError` at the first one inside itself, of which no value
 * can exist, and beyond the bound. The package reports each circle with all its fields.
 */
export function requireFiniteInputs(schema: GraphQLSchema): void {
  const finished = new Set<GraphQLInputObjectType>();
  for (const type of Object.values(schema.getTypeMap()))
    if (isInputObjectType(type) && !finished.has(type)) walkInputs(type, finished);
}

/** Depth-first search with its own stack. */
function walkInputs(start: GraphQLInputObjectType, finished: Set<GraphQLInputObjectType>): void {
  const open = new Set([start]);
  const waiting = [{ type: start, inner: listRequiredInputs(start) }];
  for (let last = waiting.at(-1); last; last = waiting.at(-1)) {
    const next = last.inner.pop();
    if (!next) {
      waiting.pop();
      open.delete(last.type);
      finished.add(last.type);
    } else if (open.has(next))
      throw new GraphQLError(`Cannot reference Input Object "${next.name}" within itself through non-null fields.`);
    else if (!finished.has(next)) {
      if (waiting.length >= maxInputNesting)
        throw new GraphQLError(`input objects require each other in more than ${maxInputNesting} levels`);
      open.add(next);
      waiting.push({ type: next, inner: listRequiredInputs(next) });
    }
  }
}

/** In reverse: the last is visited first, so that the order, and with it the depth, is that of the package. */
const listRequiredInputs = (type: GraphQLInputObjectType): GraphQLInputObjectType[] =>
  Object.values(type.getFields())
    .flatMap(field => (isNonNullType(field.type) && isInputObjectType(field.type.ofType) ? [field.type.ofType] : []))
    .reverse();

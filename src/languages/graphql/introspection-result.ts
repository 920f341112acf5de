import { buildClientSchema, GraphQLError, getIntrospectionQuery, type IntrospectionQuery, printSchema } from 'graphql';
import { scanGraphqlText } from './scan.ts';
import { compileGraphqlSchema, InvalidGraphqlSchema } from './schema.ts';

const defaultValueBounds = { maxTokens: 10_000, maxNesting: 100 };

/** The query whose result `printIntrospection` reads; one that servers of every version of the specification know. */
export const introspectionQuery: string = getIntrospectionQuery({ descriptions: true });

/** SDL of an introspection result, `{"__schema": …}`, alone or as `data` of a response. Throws `InvalidGraphqlSchema`. */
export function printIntrospection(result: unknown): string {
  const { data } = (result ?? {}) as { data?: unknown };
  const introspection = (data ?? result) as IntrospectionQuery | null;
  if (typeof introspection?.__schema !== 'object' || introspection.__schema === null)
    throw new InvalidGraphqlSchema('an introspection result has the member __schema');
  const sdl = printResult(introspection);
  compileGraphqlSchema(sdl);
  return sdl;
}

function printResult(introspection: IntrospectionQuery): string {
  try {
    scanDefaultValues(introspection);
    return printSchema(buildClientSchema(introspection));
  } catch (error) {
    if (error instanceof GraphQLError || error instanceof TypeError || (error as Error).constructor === Error)
      throw new InvalidGraphqlSchema(`the introspection result: ${(error as Error).message.slice(0, maxReasonLength)}`);
    throw error;
  }
}

const maxReasonLength = 300;

/** Default values are texts that the package parses: their nesting is bounded first. */
function scanDefaultValues(root: unknown): void {
  const waiting: unknown[] = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    const { defaultValue } = value as { defaultValue?: unknown };
    if (typeof defaultValue === 'string') scanGraphqlText(defaultValue, defaultValueBounds);
    for (const member of Object.values(value as object))
      if (typeof member === 'object' && member !== null) waiting.push(member);
  }
}

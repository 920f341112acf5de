import type { Model } from '#definition/model.ts';
import { composeDefinition } from '#definition/supergraph/supergraph.ts';
import type { FieldGuards } from '#languages/graphql/federation/field-guards.ts';
import type { SupergraphTypes } from '#languages/graphql/federation/supergraph-types.ts';
import type { CompiledSchema } from '#languages/graphql/schema.ts';
import { loadGraphqlLanguage } from '#languages/lazy-languages.ts';
import { formatValidationError } from '#operations/validation-error.ts';
import { ApiCompileError } from '../pipeline/step.ts';

/** Schema that requests to an API are validated against. */
export interface ApiSchema {
  readonly compiled: CompiledSchema;
  /** Of a supergraph; undefined where it has none. */
  readonly guards: FieldGuards | undefined;
  /** All types of a supergraph; undefined for any other API. */
  readonly supergraphTypes: SupergraphTypes | undefined;
}

/** Compiles the schema of an API by its execution mode. */
export function compileApiSchema(graphql: Model['graphql']): ApiSchema {
  if (graphql.executionMode === 'supergraph') return composeApiSchema(graphql);
  if (graphql.schema.trim() === '') throw new ApiCompileError('the GraphQL schema is missing');
  const { compileGraphqlSchema, compileSubgraphSchema, InvalidGraphqlSchema } = loadGraphqlLanguage();
  const isSubgraph = graphql.executionMode === 'subgraph';
  if (isSubgraph && graphql.subgraphSdl.trim() === '') throw new ApiCompileError('the SDL of the subgraph is missing');
  try {
    const compiled = isSubgraph
      ? compileSubgraphSchema(graphql.schema, graphql.subgraphSdl)
      : compileGraphqlSchema(graphql.schema);
    return { compiled, guards: undefined, supergraphTypes: undefined };
  } catch (error) {
    if (error instanceof InvalidGraphqlSchema)
      throw new ApiCompileError(`the GraphQL schema is invalid: ${error.message}`);
    throw error;
  }
}

function composeApiSchema(graphql: Model['graphql']): ApiSchema {
  if (graphql.subgraphs.length === 0) throw new ApiCompileError('the supergraph has no subgraphs');
  const supergraph = composeDefinition(graphql);
  if ('errors' in supergraph)
    throw new ApiCompileError(`the supergraph is invalid: ${formatValidationError(supergraph.errors[0]!)}`);
  const { compiled, composed } = supergraph;
  const guards = composed.guards.size > 0 ? composed.guards : undefined;
  return { compiled, guards, supergraphTypes: composed.readTypes() };
}

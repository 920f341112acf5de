import { type JsonObject, objectOrEmpty, textOrEmpty } from '#base/json-tree.ts';
import { composeDefinition } from '#definition/supergraph/supergraph.ts';
import { toModel } from '../api/rules.ts';
import type { DefinitionOfKind } from '../api/schema.ts';

/** Schema of a classic definition for clients: its own, or what its subgraphs compose to. */
export function readClientSchema(definition: JsonObject): string {
  const graphql = objectOrEmpty(definition.graphql);
  if (graphql.execution_mode !== 'supergraph') return textOrEmpty(graphql.schema);
  const written = [objectOrEmpty(graphql.supergraph).merged_sdl, graphql.schema].map(textOrEmpty);
  const own = written.find(sdl => sdl.trim() !== '');
  if (own !== undefined) return own;
  const block = toModel({ kind: 'classic', definition } as DefinitionOfKind).graphql;
  if (block.subgraphs.length === 0) return '';
  const composition = composeDefinition(block);
  return 'errors' in composition ? '' : composition.composed.apiSdl;
}

import { buildSchema, type GraphQLNamedType, getNamedType, isAbstractType, Kind } from 'graphql';
import { type CompiledSchema, createRelations } from '../schema.ts';

/** Types of a whole supergraph: plans also name types that clients do not see. */
export interface SupergraphTypes extends Pick<CompiledSchema, 'schema' | 'listRelatedTypes'> {
  /** Names of the object types of each interface and union. */
  readonly possibleTypes: ReadonlyMap<string, ReadonlySet<string>>;
  /** Interfaces and unions that several subgraphs have, or one of whose types they have: plans list their types. */
  readonly sharedTypes: ReadonlySet<string>;
  /** Name of the type of a field, without lists; undefined for an unknown field. */
  findFieldType(type: string, field: string): string | undefined;
}

/** Reads the types of a supergraph from its SDL, with the directives of the join specification. */
export function readSupergraphTypes(supergraphSdl: string): SupergraphTypes {
  const schema = buildSchema(supergraphSdl, { assumeValidSDL: true, noLocation: true });
  const abstractTypes = Object.values(schema.getTypeMap()).filter(isAbstractType);
  const possibleTypes = new Map(
    abstractTypes.map(type => [type.name, new Set(schema.getPossibleTypes(type).map(({ name }) => name))]),
  );
  const shared = abstractTypes.filter(type => [type, ...schema.getPossibleTypes(type)].some(isInSeveralSubgraphs));
  return {
    schema,
    listRelatedTypes: createRelations(schema),
    possibleTypes,
    sharedTypes: new Set(shared.map(({ name }) => name)),
    findFieldType(type, field) {
      const parent = schema.getType(type);
      return parent && 'getFields' in parent ? getNamedType(parent.getFields()[field]?.type)?.name : undefined;
    },
  };
}

/** `@join__type(graph:)` is repeated for each subgraph, and for each key in it. */
function isInSeveralSubgraphs({ astNode }: GraphQLNamedType): boolean {
  const graphs = (astNode?.directives ?? [])
    .filter(({ name }) => name.value === 'join__type')
    .map(({ arguments: given = [] }) => given.find(({ name }) => name.value === 'graph')?.value);
  return new Set(graphs.map(graph => (graph?.kind === Kind.ENUM ? graph.value : ''))).size > 1;
}

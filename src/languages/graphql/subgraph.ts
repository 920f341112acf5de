import { GraphQLError, isObjectType, Kind, parse } from 'graphql';
import { scanGraphqlText } from './scan.ts';
import { type CompiledSchema, compileGraphqlSchema, InvalidGraphqlSchema } from './schema.ts';

const maxSubgraphTokens = 500_000;
const maxSubgraphNesting = 100;

/**
 * Schema of a subgraph: what clients may request, and the fields by which a router fetches entities (Apollo Federation
 * subgraph specification). Types with `@key` in the SDL of the subgraph are entities.
 */
export function compileSubgraphSchema(sdl: string, subgraphSdl: string): CompiledSchema {
  const { schema } = compileGraphqlSchema(sdl);
  const entities = listEntities(subgraphSdl);
  const unknown = entities.find(name => !isObjectType(schema.getType(name)));
  if (unknown !== undefined) throw new InvalidGraphqlSchema(`the entity ${unknown} of the subgraph is no object type`);
  const fields = schema.getQueryType()?.getFields() ?? {};
  const hasType = (name: string) => schema.getType(name) !== undefined;
  const added = [
    ...(fields._service ? [] : ['_service: _Service!']),
    ...(fields._entities || entities.length === 0 ? [] : ['_entities(representations: [_Any!]!): [_Entity]!']),
  ];
  const types = [
    ...(hasType('_Service') ? [] : ['type _Service { sdl: String }']),
    ...(hasType('_Any') ? [] : ['scalar _Any']),
    ...(hasType('_Entity') || entities.length === 0 ? [] : [`union _Entity = ${entities.join(' | ')}`]),
    ...(added.length === 0 ? [] : [`extend type ${schema.getQueryType()?.name ?? 'Query'} { ${added.join(' ')} }`]),
  ];
  return types.length === 0 ? compileGraphqlSchema(sdl) : compileGraphqlSchema(`${sdl}\n${types.join('\n')}`);
}

/** Names of the object types with `@key`, defined or extended. */
function listEntities(subgraphSdl: string): string[] {
  try {
    scanGraphqlText(subgraphSdl, { maxTokens: maxSubgraphTokens, maxNesting: maxSubgraphNesting });
    const names = parse(subgraphSdl, { noLocation: true }).definitions.flatMap(it =>
      (it.kind === Kind.OBJECT_TYPE_DEFINITION || it.kind === Kind.OBJECT_TYPE_EXTENSION) &&
      it.directives?.some(({ name }) => name.value === 'key')
        ? [it.name.value]
        : [],
    );
    return [...new Set(names)];
  } catch (error) {
    if (error instanceof GraphQLError) throw new InvalidGraphqlSchema(`the SDL of the subgraph: ${error.message}`);
    throw error;
  }
}

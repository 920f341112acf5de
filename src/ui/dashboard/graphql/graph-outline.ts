import { textOrComment } from './graph-fields.ts';

/** GraphQL part of a definition in the classic format. */
export interface GraphOutline {
  readonly mode: string;
  readonly schema: string;
  readonly hasIntrospection: boolean;
  readonly sources: readonly GraphSource[];
}

export interface GraphSource {
  readonly name: string;
  readonly kind: string;
  readonly url: string;
  /** `Query.orders`. */
  readonly fields: readonly string[];
}

type Loose = Readonly<Record<string, unknown>>;
const asObject = (value: unknown): Loose => (typeof value === 'object' && value !== null ? (value as Loose) : {});
const asList = (value: unknown): readonly Loose[] => (Array.isArray(value) ? value.map(asObject) : []);

function toSource(source: Loose): GraphSource {
  const fields = asList(source.root_fields).flatMap(({ type, fields: names }) =>
    Array.isArray(names) ? names.map(name => `${String(type)}.${String(name)}`) : [],
  );
  return {
    name: String(source.name ?? ''),
    kind: String(source.kind ?? ''),
    url: String(asObject(source.config).url ?? ''),
    fields,
  };
}

/** A subgraph is a source of a supergraph; its fields are in its own schema. */
const toSubgraph = ({ name, url, api_id }: Loose): GraphSource => ({
  name: String(name || api_id || ''),
  kind: 'subgraph',
  url: String(url ?? ''),
  fields: [],
});

/** Undefined where the definition is not that of a GraphQL API. */
export function toGraphOutline(definition: unknown): GraphOutline | undefined {
  const graphql = asObject(asObject(definition).graphql);
  if (graphql.enabled !== true) return undefined;
  return {
    mode: String(graphql.execution_mode ?? ''),
    schema: String(graphql.schema ?? ''),
    hasIntrospection: asObject(graphql.introspection).disabled !== true,
    sources:
      graphql.execution_mode === 'supergraph'
        ? asList(asObject(graphql.supergraph).subgraphs).map(toSubgraph)
        : asList(asObject(graphql.engine).data_sources).map(toSource),
  };
}

const typeLine = /^\s*(?:extend\s+)?(type|interface|union|enum|input|scalar)\s+([_A-Za-z][_0-9A-Za-z]*)/gm;

/** Kind and name of each type of a schema, in its order. */
export const listTypes = (schema: string): readonly (readonly [kind: string, name: string])[] =>
  [...schema.replaceAll(textOrComment, ' ').matchAll(typeLine)].map(
    ([, kind = '', name = '']) => [kind, name] as const,
  );

import assert from 'node:assert/strict';
import {
  buildASTSchema,
  type ConstDirectiveNode,
  type DefinitionNode,
  type DocumentNode,
  type ExecutionResult,
  graphql,
  Kind,
  parse,
  visit,
} from 'graphql';
import { loadFederation, loadGraphqlLanguage } from '#languages/lazy-languages.ts';
import type { TestApp } from './app.ts';
import { openApi, publish } from './traffic.ts';
import { startUpstream, type Upstream } from './upstream.ts';

type Bag = Record<string, unknown>;

/** A subgraph: its SDL with the directives of federation, and the values it knows. */
export interface SubgraphFixture {
  readonly sdl: string;
  readonly root?: Bag;
  /** Entities by the name of their type, found by a representation. */
  readonly entities?: Readonly<Record<string, (representation: Bag) => unknown>>;
}

export const federation2 = (names: string): string =>
  `extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: [${names
    .split(' ')
    .map(name => `"@${name}"`)
    .join(', ')}])\n`;

export interface Federation {
  readonly url: string;
  readonly servers: Readonly<Record<string, Upstream>>;
  /** Entry of the definition for each subgraph. */
  readonly subgraphs: readonly Bag[];
  ask(query: string, variables?: Bag, headers?: Record<string, string>): Promise<Bag>;
  /** The body of the gateway is that of a single server with the composed schema, but for locations. */
  same(query: string, variables?: Bag): Promise<Bag>;
  /** Requests of all subgraphs since the last call, as `name` of the subgraph and its body. */
  takeRequests(): { name: string; query: string; variables: Bag }[];
  close(): Promise<void>;
}

/** Publishes a supergraph whose subgraphs are real GraphQL servers. `whole`: root values of the single server. */
export async function startFederation(
  app: TestApp,
  fixtures: Readonly<Record<string, SubgraphFixture>>,
  whole: Bag,
  more: Bag = {},
): Promise<Federation> {
  const servers: Record<string, Upstream> = {};
  const received: { name: string; query: string; variables: Bag }[] = [];
  for (const [name, fixture] of Object.entries(fixtures)) {
    servers[name] = await startUpstream();
    answerSubgraph(servers[name], fixture, (query, variables) => received.push({ name, query, variables }));
  }
  const subgraphs = Object.entries(fixtures).map(([name, { sdl }]) => ({ name, url: servers[name]!.url, sdl }));
  const { supergraph = {}, ...block } = more;
  const settings = { enabled: true, execution_mode: 'supergraph', version: '2', ...block };
  const definition = { graphql: { ...settings, supergraph: { subgraphs, ...(supergraph as Bag) } } };
  const close = async () => {
    for (const server of Object.values(servers)) await server.close();
  };
  const url = await publish(app, openApi({ url: 'http://127.0.0.1:1' }, definition)).catch(async error => {
    await close();
    throw error;
  });
  const ask: Federation['ask'] = async (query, variables = {}, headers = {}) => {
    const init = { 'content-type': 'application/json', ...headers };
    const response = await fetch(url, { method: 'POST', headers: init, body: JSON.stringify({ query, variables }) });
    return (await response.json()) as Bag;
  };
  return {
    url,
    servers,
    subgraphs,
    ask,
    async same(query, variables = {}) {
      const expected = await answerAsOne(fixtures, whole, query, variables);
      const given = await ask(query, variables);
      assert.deepEqual(given, expected);
      return given;
    },
    takeRequests: () => received.splice(0),
    close,
  };
}

async function answerAsOne(
  fixtures: Readonly<Record<string, SubgraphFixture>>,
  rootValue: Bag,
  source: string,
  variableValues: Bag,
): Promise<Bag> {
  const list = Object.entries(fixtures).map(([name, { sdl }]) => ({ name, sdl }));
  const composed = loadFederation().composeSupergraph(list);
  assert.ok(!('errors' in composed), JSON.stringify(composed));
  const { schema } = loadGraphqlLanguage().compileGraphqlSchema(composed.apiSdl);
  return withoutLocations(await graphql({ schema, source, rootValue, variableValues }));
}

const withoutLocations = (result: ExecutionResult): Bag =>
  JSON.parse(JSON.stringify({ ...result, errors: result.errors?.map(({ message, path }) => ({ message, path })) }));

/** A GraphQL server of a subgraph behind `upstream`, with `_service` and `_entities`. */
export function answerSubgraph(
  upstream: Upstream,
  { sdl, root = {}, entities = {} }: SubgraphFixture,
  onRequest: (query: string, variables: Bag) => void = () => undefined,
): void {
  const schema = buildASTSchema(toExecutable(parse(sdl)), { assumeValidSDL: true });
  const rootValue: Bag = {
    ...root,
    _service: { sdl },
    _entities: ({ representations }: { representations: Bag[] }) =>
      representations.map(it => {
        const entity = entities[it.__typename as string]?.(it);
        return entity && { __typename: it.__typename, ...entity };
      }),
  };
  upstream.answer = async (_request, response, body) => {
    const { query, variables = {} } = JSON.parse(body);
    onRequest(query, variables);
    const result = await graphql({ schema, source: query, rootValue, variableValues: variables });
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(withoutLocations(result)));
  };
}

const hasKey = ({ directives = [] }: { readonly directives?: readonly ConstDirectiveNode[] | undefined }) =>
  directives.some(({ name }) => name.value === 'key');

/** The schema that a subgraph executes: without directives of federation, extensions as definitions. */
function toExecutable(document: DocumentNode): DocumentNode {
  const names: string[] = [];
  const definitions = document.definitions.flatMap((it): DefinitionNode[] => {
    if (it.kind === Kind.SCHEMA_EXTENSION) return [];
    if (it.kind === Kind.OBJECT_TYPE_DEFINITION || it.kind === Kind.OBJECT_TYPE_EXTENSION) {
      if (hasKey(it)) names.push(it.name.value);
      return [{ ...it, kind: Kind.OBJECT_TYPE_DEFINITION }];
    }
    return [it];
  });
  const hasQuery = definitions.some(it => it.kind === Kind.OBJECT_TYPE_DEFINITION && it.name.value === 'Query');
  const fields = [
    '_service: _Service!',
    ...(names.length > 0 ? ['_entities(representations: [_Any!]!): [_Entity]!'] : []),
  ];
  const added = parse(`
    scalar _Any
    type _Service { sdl: String }
    ${names.length > 0 ? `union _Entity = ${names.join(' | ')}` : ''}
    ${hasQuery ? 'extend type' : 'type'} Query { ${fields.join(' ')} }
  `);
  return visit(
    { kind: Kind.DOCUMENT, definitions: mergeQuery([...definitions, ...added.definitions]) } as DocumentNode,
    {
      Directive: () => null,
    },
  );
}

function mergeQuery(definitions: readonly DefinitionNode[]): DefinitionNode[] {
  const extension = definitions.find(it => it.kind === Kind.OBJECT_TYPE_EXTENSION);
  return definitions
    .filter(it => it !== extension)
    .map(it =>
      extension && it.kind === Kind.OBJECT_TYPE_DEFINITION && it.name.value === 'Query'
        ? { ...it, fields: [...(it.fields ?? []), ...(extension.fields ?? [])] }
        : it,
    );
}

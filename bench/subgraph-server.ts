import { createServer } from 'node:http';
import { buildSchema, type DocumentNode, execute, parse } from 'graphql';

type Representation = Record<string, unknown>;

const titles: Readonly<Record<string, string>> = { p1: 'Chair', p2: 'Table' };
const reviews = () => ['p1', 'p2', 'p1'].map(upc => ({ body: 'good', product: { __typename: 'Product', upc } }));
const toEntities =
  (read: (representation: Representation) => object) => (args: { representations: Representation[] }) =>
    args.representations.map(it => ({ __typename: it.__typename, ...it, ...read(it) }));
const entities = 'scalar _Any union _Entity = ';

/** Subgraphs of the comparison by path: they execute what they are asked, because gateways ask differently. */
const subgraphs = {
  '/users': {
    schema: buildSchema(`${entities} User
      type User { id: ID! name: String } type Query { me: User _entities(representations: [_Any!]!): [_Entity]! }`),
    rootValue: { me: { __typename: 'User', id: '1', name: 'Ann' }, _entities: toEntities(() => ({ name: 'Ann' })) },
  },
  '/reviews': {
    schema: buildSchema(`${entities} User | Product
      type User { id: ID! reviews: [Review!] } type Review { body: String product: Product } type Product { upc: ID! }
      type Query { _entities(representations: [_Any!]!): [_Entity]! }`),
    rootValue: { _entities: toEntities(() => ({ reviews: reviews() })) },
  },
  '/products': {
    schema: buildSchema(`${entities} Product
      type Product { upc: ID! title: String price: Int } type Query { _entities(representations: [_Any!]!): [_Entity]! }`),
    rootValue: {
      _entities: toEntities(({ upc }) => ({ title: titles[String(upc)], price: upc === 'p1' ? 40 : 41 })),
    },
  },
};

/** Each gateway sends few documents: parsed once, so that the subgraphs are not the bottleneck. */
const documents = new Map<string, DocumentNode>();

/** `node subgraph-server.ts PORT` */
const [, , port] = process.argv;
createServer(async (request, response) => {
  const found = subgraphs[request.url as keyof typeof subgraphs];
  let body = '';
  for await (const chunk of request) body += chunk;
  const { query, variables } = JSON.parse(body);
  const document = documents.get(query) ?? parse(query);
  documents.set(query, document);
  const result = await execute({ ...found, document, variableValues: variables });
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result));
}).listen(Number(port), '127.0.0.1');

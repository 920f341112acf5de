import { confirmResult } from './data-graph.ts';

/** Subgraphs of the scenario: path, schema, and the static response to the fetch of the plan. */
const subgraphs = {
  users: {
    sdl: 'type User @key(fields: "id") { id: ID! name: String } type Query { me: User }',
    data: { me: { __typename: 'User', id: '1', name: 'Ann' } },
  },
  reviews: {
    sdl: `extend type User @key(fields: "id") { id: ID! @external reviews: [Review!] }
      type Review { body: String product: Product } extend type Product @key(fields: "upc") { upc: ID! @external }`,
    data: {
      _entities: [
        {
          __typename: 'User',
          reviews: ['p1', 'p2', 'p1'].map(upc => ({ body: 'good', product: { __typename: 'Product', upc } })),
        },
      ],
    },
  },
  products: {
    sdl: 'type Product @key(fields: "upc") { upc: ID! title: String price: Int }',
    data: { _entities: ['Chair', 'Table'].map((title, at) => ({ __typename: 'Product', title, price: 40 + at })) },
  },
};

/** Locations of nginx that are the subgraphs. */
export const subgraphLocations = (): string =>
  Object.entries(subgraphs)
    .map(([name, { data }]) => {
      const body = JSON.stringify({ data });
      return `location /subgraphs/${name} { default_type application/json; return 200 '${body}'; }`;
    })
    .join(' ');

/** Names and schemas of the subgraphs. */
export const supergraphSchemas = (): { name: string; sdl: string }[] =>
  Object.entries(subgraphs).map(([name, { sdl }]) => ({ name, sdl }));

/** A supergraph over three subgraphs: one query needs three requests, two of them for entities. */
export const benchSupergraph = (upstream: string, folder = '/subgraphs'): Record<string, unknown> => ({
  enabled: true,
  execution_mode: 'supergraph',
  version: '2',
  supergraph: {
    subgraphs: Object.entries(subgraphs).map(([name, { sdl }]) => ({
      name,
      url: `${upstream}${folder}/${name}`,
      sdl,
    })),
  },
});

const query = '{ me { name reviews { body product { title price } } } }';
const chair = { body: 'good', product: { title: 'Chair', price: 40 } };
const table = { body: 'good', product: { title: 'Table', price: 41 } };
const expected = JSON.stringify({ data: { me: { name: 'Ann', reviews: [chair, table, chair] } } });

/** Address of the query, once its result is whole. */
export const confirmSupergraph = (api: string): Promise<string> => confirmResult(api, query, expected);

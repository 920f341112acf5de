import { buildSchema } from 'graphql';
import { createHandler } from 'graphql-http';
import type { Upstream } from './upstream.ts';

export const usersSdl = `
  interface Node { id: ID! }
  type Account implements Node { id: ID! balance: Int owner: User }
  type User implements Node { id: ID! name: String secret: String friends(first: Int): [User] account: Account }
  type Query { node: Node user(id: ID): User users(first: Int): [User] fail: Int }
  type Mutation { rename(id: ID!, name: String!): User }
  type Subscription { renamed: User }
`;

const createUser = (id: string, name: string): Record<string, unknown> => ({
  __typename: 'User',
  id,
  name,
  secret: 'hidden',
  friends: () => [createUser('f', 'Bob')],
  account: () => ({ __typename: 'Account', id: 'a', balance: 7, owner: () => createUser(id, name) }),
});

const rootValue = {
  node: () => createUser('n', 'Node'),
  user: ({ id = '1' }: { id?: string }) => createUser(id, 'Ann'),
  users: () => [createUser('1', 'Ann')],
  rename: ({ id, name }: { id: string; name: string }) => createUser(id, name),
  fail() {
    throw new Error('connection to db-7.internal refused');
  },
};

/** A GraphQL server behind `upstream`: its answers are executed, not canned. */
export function answerGraphql(upstream: Upstream): void {
  const handle = createHandler({ schema: buildSchema(usersSdl), rootValue });
  upstream.answer = async ({ url = '/', method = 'GET', headers }, response, body) => {
    const [text, { status, statusText, headers: sent }] = await handle({
      url,
      method,
      headers: headers as Record<string, string>,
      body: body || null,
      raw: undefined,
      context: undefined,
    });
    response.writeHead(status, statusText, sent).end(text ?? undefined);
  };
}

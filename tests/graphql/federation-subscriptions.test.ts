import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { buildSchema } from 'graphql';
import { createClient } from 'graphql-ws';
import { startApp, type TestApp } from '../support/app.ts';
import { answerSubgraph } from '../support/federation.ts';
import { type SubscriptionServer, startSubscriptionServer } from '../support/subscription-server.ts';
import { eventually, openApi, publish } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const booksSdl = (key: string) => `
  type Book ${key} { id: ID! title: String }
  type Query { books: [Book!]! }
  type Subscription { added(genre: String): Book! }
`;
const ratingsSdl = 'extend type Book @key(fields: "id") { id: ID! @external stars: Int! }';

describe('subscriptions of a supergraph', () => {
  let app: TestApp;
  let books: SubscriptionServer;
  let ratings: Upstream;
  let url: string;
  before(async () => {
    [app, books, ratings] = await Promise.all([
      startApp('sqlite'),
      startSubscriptionServer({ schema: buildSchema(booksSdl('')) }),
      startUpstream(),
    ]);
    answerSubgraph(ratings, {
      sdl: ratingsSdl,
      entities: { Book: ({ id }) => (id === 'unrated' ? { id, stars: null } : { id, stars: Number(id) }) },
    });
    const subgraphs = [
      { name: 'books', url: books.url, sdl: booksSdl('@key(fields: "id")') },
      { name: 'ratings', url: ratings.url, sdl: ratingsSdl },
    ];
    const graphql = { enabled: true, execution_mode: 'supergraph', version: '2', supergraph: { subgraphs } };
    url = await publish(app, openApi({ url: 'http://127.0.0.1:1' }, { graphql }));
  });
  after(async () => {
    await app?.close();
    await books?.close();
    await ratings?.close();
  });

  async function subscribe(query: string, variables: Record<string, unknown> = {}) {
    const client = createClient({ url: url.replace('http', 'ws'), retryAttempts: 0 });
    const iterator = client.iterate({ query, variables });
    const close = async () => {
      await iterator.return!();
      await client.dispose();
      await eventually(() => assert.equal(books.feeds.size + books.sockets.size, 0));
    };
    const next = iterator.next();
    await eventually(() => assert.equal(books.feeds.size, 1));
    return { next, iterator, close };
  }

  test('an event of one subgraph has the fields of the others, which are fetched for each event', async () => {
    const { next, iterator, close } = await subscribe(
      'subscription S($genre: String, $on: Boolean!) { a: added(genre: $genre) { id: title stars @include(if: $on) kind: __typename } }',
      { genre: 'new', on: true },
    );
    const before = ratings.requests.length;
    books.emit({ id: '3', title: 'Emma' });
    assert.deepEqual((await next).value, { data: { a: { id: 'Emma', stars: 3, kind: 'Book' } } });
    assert.equal(ratings.requests.length, before + 1);
    assert.deepEqual(books.operations.at(-1)!.variables, { genre: 'new' });
    books.emit({ id: '5', title: 'Dune' });
    assert.deepEqual((await iterator.next()).value, { data: { a: { id: 'Dune', stars: 5, kind: 'Book' } } });
    await close();
  });

  test('an event whose entity fails is a result with an error; the next one is complete again', async () => {
    const { next, iterator, close } = await subscribe('subscription { added { title stars } }');
    books.emit({ id: 'unrated', title: 'Ulysses' });
    const { value } = await next;
    assert.equal(value!.data, null);
    assert.deepEqual(
      (value!.errors as { path: unknown }[]).map(it => it.path),
      [['added', 'stars']],
    );
    books.emit({ id: '1', title: 'Emma' });
    assert.deepEqual((await iterator.next()).value, { data: { added: { title: 'Emma', stars: 1 } } });
    await close();
  });

  test('a subscription of one subgraph alone calls no other', async () => {
    const before = ratings.requests.length;
    const { next, close } = await subscribe('subscription { added { title } }');
    books.emit({ id: '1', title: 'Emma' });
    assert.deepEqual((await next).value, { data: { added: { title: 'Emma' } } });
    assert.equal(ratings.requests.length, before);
    await close();
  });
});

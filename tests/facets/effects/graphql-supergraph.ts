import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json-tree.ts';
import { answerSubgraph } from '../../support/federation.ts';
import type { Upstream } from '../../support/upstream.ts';
import type { Effect, Ground, Served } from '../effect.ts';

/** Supergraph of two subgraphs: one has users, the other their posts. */
const usersSdl = 'type User @key(fields: "id") { id: ID! name: String secret: String } type Query { users: [User!]! }';
const subscribedSdl = `${usersSdl} type Subscription { joined: User }`;
const postsSdl = 'extend type User @key(fields: "id") { id: ID! @external posts: Int }';
const users = ['1', '2', '3'].map(id => ({ id, name: `user ${id}`, secret: 'hidden' }));

/** Requests to the subgraph of posts, by the server of users. */
const postRequests = new WeakMap<Upstream, Upstream['requests']>();

async function buildSubgraphs(at: Ground, more: JsonObject = {}): Promise<JsonObject[]> {
  answerSubgraph(at.upstream, {
    sdl: usersSdl,
    root: { users },
    entities: { User: ({ id }) => users.find(it => it.id === id) },
  });
  const posts = await at.another();
  answerSubgraph(posts, { sdl: postsSdl, entities: { User: ({ id }) => ({ id, posts: Number(id) * 10 }) } });
  postRequests.set(at.upstream, posts.requests);
  return [
    { name: 'users', url: at.upstream.url, sdl: usersSdl, ...more },
    { name: 'posts', url: `${posts.url}/posts`, sdl: postsSdl },
  ];
}

const supergraph = (subgraphs: readonly JsonObject[], more: JsonObject = {}, block: JsonObject = {}): JsonObject => ({
  graphql: { enabled: true, execution_mode: 'supergraph', version: '2', ...block, supergraph: { subgraphs, ...more } },
});

async function ask({ call }: Served, query: string) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query }) };
  return call('/', init);
}

const query = '{ users { name posts } }';
const expected = { users: users.map(({ id, name }) => ({ name, posts: Number(id) * 10 })) };

export const supergraphEffects: readonly Effect[] = [
  {
    rows: `graphql.subgraphs graphql.subgraphs[].name,subgraphs[].url,subgraphs[].sdl,subgraphs[].apiId`,
    promise: 'subgraphs are composed, and answer together; mistakes are refused by subgraph',
    classic: async at => supergraph(await buildSubgraphs(at, { api_id: '' })),
    async observe(at) {
      const { status, body } = await ask(at, query);
      assert.deepEqual([status, body], [200, { data: expected }]);
      const subgraphs = await buildSubgraphs(at);
      const change = (more: JsonObject) => at.change(supergraph([{ ...subgraphs[0]!, ...more }, subgraphs[1]!]));
      await assert.rejects(change({ name: 'posts' }), /subgraphs\[1\]\.name: is the name of another subgraph/);
      await assert.rejects(change({ name: '' }), /subgraphs\[0\]\.name: must be letters/);
      await assert.rejects(change({ url: 'ftp://x/' }), /subgraphs\[0\]\.url: must be an address/);
      await assert.rejects(change({ api_id: 'abc' }), /subgraphs\[0\]\.url: must be gw:\/\/abc/);
      await assert.rejects(change({ sdl: '' }), /subgraphs\[0\]\.sdl: is required/);
      await assert.rejects(change({ sdl: 'type Query {' }), /subgraphs\[0\]\.sdl: Syntax Error/);
      await assert.rejects(change({ sdl: 'type Query { a: Int }' }), /subgraphs/);
    },
  },
  {
    rows: 'graphql.supergraphHeaders',
    promise: 'every subgraph gets the headers of the supergraph',
    classic: async at => supergraph(await buildSubgraphs(at), { global_headers: { 'X-Team': 'blue' } }),
    async observe(at) {
      const send = async (served: Served) => {
        assert.equal((await ask(served, '{ users { name } }')).status, 200);
        return at.upstream.requests.at(-1)!.headers['x-team'];
      };
      assert.equal(await send(at), 'blue');
      const wrong = { graphql: { supergraph: { global_headers: { 'X Team': 'blue' } } } };
      await assert.rejects(at.change(wrong), /global_headers: .*X Team.* is not a header name/);
      assert.equal(await send(await at.plain()), undefined);
    },
  },
  {
    rows: 'graphql.subgraphs[].headers',
    promise: 'headers of a subgraph win over those of the supergraph',
    classic: async at =>
      supergraph(await buildSubgraphs(at, { headers: { 'X-Zone': 'users', 'X-Own': 'yes' } }), {
        global_headers: { 'x-zone': 'all' },
      }),
    async observe(at) {
      await ask(at, query);
      const { headers } = at.upstream.requests.at(-1)!;
      assert.deepEqual([headers['x-zone'], headers['x-own']], ['users', 'yes']);
      const { headers: others } = postRequests.get(at.upstream)!.at(-1)!;
      assert.deepEqual([others['x-zone'], others['x-own']], ['all', undefined]);
    },
  },
  {
    rows: 'graphql.subgraphs[].subscriptionType,subgraphs[].sseUsePost',
    promise: 'subscriptions of a subgraph have its protocol, and events the fields of other subgraphs',
    classic: async at =>
      supergraph(await buildSubgraphs(at, { sdl: subscribedSdl, subscription_type: 'sse', sse_use_post: true })),
    async observe(at) {
      const answer = at.upstream.answer!;
      at.upstream.answer = (request, response, body) => {
        if (request.headers.accept !== 'text/event-stream') return answer(request, response, body);
        const event = { data: { joined: { __typename: 'User', id: '2', name: 'user 2' } } };
        response.setHeader('content-type', 'text/event-stream');
        response.end(`event: next\ndata: ${JSON.stringify(event)}\n\nevent: complete\n\n`);
      };
      const subscribe = async ({ call }: Served) => {
        const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
        const body = JSON.stringify({ query: 'subscription { joined { name posts } }' });
        const { text } = await call('/', { method: 'POST', headers, body });
        return [text.split('\n')[1], at.upstream.requests.at(-1)!.method];
      };
      const event = 'data: {"data":{"joined":{"name":"user 2","posts":20}}}';
      assert.deepEqual(await subscribe(at), [event, 'POST']);
      const subgraphs = await buildSubgraphs(at, { sdl: subscribedSdl, subscription_type: 'sse' });
      at.upstream.answer = undefined;
      await at.change(supergraph(subgraphs));
      const [text, method] = await subscribe(at);
      assert.deepEqual([method, /no event stream/.test(text!)], ['GET', true], 'the echo is no event stream');
      await at.change(supergraph([{ ...subgraphs[0]!, subscription_type: '' }, subgraphs[1]!]));
      assert.match(
        (await subscribe(at))[0]!,
        /the data source users (?:is unavailable|responded)/,
        'no WebSocket there',
      );
    },
  },
  {
    rows: 'graphql.disableQueryBatching',
    promise: 'without batching each entity is a request of its own',
    classic: async at => supergraph(await buildSubgraphs(at), { disable_query_batching: true }),
    async observe(at) {
      const count = async (served: Served) => {
        const before = postRequests.get(served.upstream)!.length;
        assert.deepEqual((await ask(served, query)).body, { data: expected });
        return postRequests.get(served.upstream)!.length - before;
      };
      assert.equal(await count(at), users.length);
      assert.equal(await count(await at.plain()), 1);
    },
  },
  {
    rows: 'graphql.mergedSdl',
    promise: 'clients see the merged schema, which may leave out parts of the subgraphs',
    classic: async at =>
      supergraph(await buildSubgraphs(at), {
        merged_sdl: 'type User { id: ID! name: String posts: Int } type Query { users: [User!]! }',
      }),
    async observe(at) {
      assert.deepEqual((await ask(at, query)).body, { data: expected });
      const { status, body } = await ask(at, '{ users { secret } }');
      assert.deepEqual([status, body.errors[0].message], [400, 'field: secret not defined on type: User']);
      const foreign = {
        graphql: { supergraph: { merged_sdl: 'type Query { users: [User!]! } type User { age: Int }' } },
      };
      await assert.rejects(at.change(foreign), /merged_sdl: the subgraphs have no field User.age/);
    },
  },
];

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { JsonObject } from '#base/json-tree.ts';
import { lists, requireKeyClassic } from '../definitions.ts';
import type { Effect, Served } from '../effect.ts';

/** GraphQL proxy. The upstream echoes: an operation that reaches it gets 200. */
const schema = 'type User { name: String } type Query { user: User }';
const classic = (more: JsonObject = {}) => ({
  graphql: { enabled: true, execution_mode: 'proxyOnly', schema, ...more },
});
const post = ({ call }: Served, query: string, headers: Record<string, string> = {}) =>
  call('/', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query }),
  });

export const graphqlEffects: readonly Effect[] = [
  {
    rows: 'graphql.enabled,executionMode,schema',
    promise: 'operations are validated against the schema, and valid ones are proxied',
    classic: () => classic(),
    async observe(at) {
      assert.equal((await post(at, '{ user { name } }')).status, 200);
      assert.equal(at.upstream.requests.length, 1);
      const { status, body } = await post(at, '{ user { age } }');
      assert.deepEqual([status, body.errors[0].message], [400, 'field: age not defined on type: User']);
      await at.change({ graphql: { execution_mode: 'supergraph' } });
      assert.equal((await post(at, '{ user { name } }')).status, 503);
    },
  },
  {
    rows: 'graphql.introspectionDisabled',
    promise: 'introspection can be disabled',
    classic: () => classic({ introspection: { disabled: true } }),
    async observe(at) {
      const { status, body } = await post(at, '{ __schema { queryType { name } } }');
      assert.deepEqual([status, body], [403, { error: 'introspection is disabled' }]);
    },
  },
  {
    rows: 'graphql.requestHeaders,useImmutableHeaders',
    promise: 'headers are added to upstream requests, and an immutable one of the client is preserved',
    classic: () =>
      classic({
        proxy: { request_headers: { 'X-Team': 'blue', 'X-Zone': 'a' }, features: { use_immutable_headers: true } },
      }),
    async observe(at) {
      const send = async (headers: Record<string, string>) => {
        assert.equal((await post(at, '{ user { name } }', headers)).status, 200);
        const { headers: seen } = at.upstream.requests.at(-1)!;
        return [seen['x-team'], seen['x-zone']];
      };
      assert.deepEqual(await send({ 'x-team': 'red' }), ['red', 'a']);
      await at.change({ graphql: { proxy: { features: { use_immutable_headers: false } } } });
      assert.deepEqual(await send({ 'x-team': 'red' }), ['red, blue', 'a']);
    },
  },
  {
    rows: 'graphql.requestHeadersRewrite graphql.requestHeadersRewrite.*.value,requestHeadersRewrite.*.remove',
    promise: 'headers are set to a value, or removed where they have another one',
    classic: () =>
      classic({
        proxy: {
          request_headers_rewrite: {
            'X-Forced': { value: 'yes', remove: false },
            'X-Known': { value: 'good', remove: true },
          },
        },
      }),
    async observe(at) {
      for (const [sent, expected] of [
        ['good', 'good'],
        ['bad', undefined],
      ] as const) {
        await post(at, '{ user { name } }', { 'x-forced': 'no', 'x-known': sent });
        const { headers } = at.upstream.requests.at(-1)!;
        assert.deepEqual([headers['x-forced'], headers['x-known']], ['yes', expected]);
      }
    },
  },
  {
    rows: 'graphql.onErrorForwarding',
    promise: 'an error body of the upstream is in the extensions of the response',
    classic: () => classic({ proxy: { use_response_extensions: { on_error_forwarding: true } } }),
    ownControl: 'the body is compared',
    async observe(at) {
      at.upstream.answer = (_request, response) => response.writeHead(502).end('{"reason":"down"}');
      const { status, body } = await post(at, '{ user { name } }');
      assert.deepEqual([status, body.errors[0].extensions], [502, { reason: 'down' }]);
    },
  },
  {
    rows: 'graphql.maskErrors',
    promise: 'messages and extensions of upstream errors are masked',
    classic: () => classic({ mask_errors: true }),
    async observe(at) {
      const error = { message: 'db-7 refused', path: ['user'], extensions: { stack: 'db-7' } };
      at.upstream.answer = (_request, response) =>
        response.end(JSON.stringify({ data: { user: null }, errors: [error] }));
      const { body } = await post(at, '{ user { name } }');
      assert.deepEqual(body, { data: { user: null }, errors: [{ message: 'Internal server error', path: ['user'] }] });
      at.upstream.answer = (_request, response) => response.writeHead(500).end('<p>db-7');
      assert.deepEqual((await post(at, '{ user { name } }')).body, { errors: [{ message: 'Internal server error' }] });
      at.upstream.answer = (_request, response) => response.end('{"data":{"user":{"name":"Ann"}}}');
      assert.deepEqual((await post(at, '{ user { name } }')).body, { data: { user: { name: 'Ann' } } });
    },
  },
  {
    rows: 'graphql.maxQueryDepth,maxAliases,maxDirectives,maxCost,defaultListSize',
    promise: 'an API has limits of its own',
    classic: () =>
      classic({
        schema: 'type User { name: String friends(first: Int): [User] } type Query { user: User users: [User] }',
        limits: { max_query_depth: 3, max_aliases: 1, max_directives: 1, max_cost: 20, default_list_size: 8 },
      }),
    async observe(at) {
      const expectError = async (query: string, status: number, expected: RegExp) => {
        const { status: given, text } = await post(at, query);
        assert.equal(given, status, text);
        assert.match(text, expected);
      };
      assert.equal((await post(at, '{ user { name } }')).status, 200);
      await expectError('{ user { friends { friends { name } } } }', 403, /depth limit exceeded/);
      await expectError('{ a: user { b: name } }', 400, /more than 1 aliases/);
      await expectError('{ user @skip(if: false) { name @skip(if: false) } }', 400, /more than 1 directives/);
      assert.equal((await post(at, '{ users { name } }')).status, 200);
      await expectError('{ users { friends(first: 3) { name } } }', 400, /has the cost 33, the limit is 20/);
    },
  },
  {
    rows: 'graphql.trustedDocumentsMode,trustedDocuments',
    promise: 'trusted documents are executed by their hash, and can be the only ones',
    classic: () =>
      classic({
        trusted_documents: { mode: 'only', documents: { [hashOf('{ user { name } }')]: '{ user { name } }' } },
      }),
    async observe(at) {
      const send = (body: object) =>
        at.call('/', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
      const documentId = `sha256:${hashOf('{ user { name } }')}`;
      for (const body of [
        { documentId },
        { extensions: { persistedQuery: { version: 1, sha256Hash: hashOf('{ user { name } }') } } },
        { query: '{ user { name } }' },
      ]) {
        assert.equal((await send(body)).status, 200);
        assert.equal(JSON.parse(at.upstream.requests.at(-1)!.body).query, '{ user { name } }');
      }
      assert.equal((await at.call(`/?documentId=${documentId}`)).status, 200);
      assert.equal(JSON.parse(at.upstream.requests.at(-1)!.body).query, '{ user { name } }');
      const unknown = await send({ documentId: 'sha256:00' });
      assert.deepEqual([unknown.status, unknown.body.errors[0].message], [400, 'PersistedQueryNotFound']);
      const other = await send({ query: '{ user { name __typename } }' });
      assert.deepEqual([other.status, other.body], [403, { error: 'Only trusted documents are accepted' }]);
      await at.change({ graphql: { trusted_documents: { mode: 'accept' } } });
      assert.equal((await send({ query: '{ user { name __typename } }' })).status, 200);
    },
  },
  {
    rows: 'graphql.playgroundEnabled,playgroundPath',
    promise: 'a page to try operations is served without authentication, with a strict content security policy',
    classic: () => requireKeyClassic(classic({ playground: { enabled: true, path: '/try' } })),
    ownControl: 'the page is read',
    async observe(at) {
      const { status, text, headers } = await at.call('/try');
      assert.equal(status, 200);
      assert.match(headers.get('content-security-policy')!, /^default-src 'none'; script-src 'self'/);
      const [, script] = /<script src="\.\/(\S+)"/.exec(text)!;
      assert.match((await at.call(`/${script}`)).text, /fetch\(endpoint/);
      assert.equal((await post(at, '{ user { name } }')).status, 401);
      assert.equal(at.upstream.requests.length, 0);
    },
  },
  {
    rows: 'graphql.subscriptionType',
    promise: 'WebSockets have the subprotocol of the definition',
    classic: () => classic({ proxy: { subscription_type: 'graphql-ws' } }),
    async observe(at) {
      const upgrade = async (protocol: string) => {
        const { hostname, port } = new URL(at.url);
        const headers = {
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-version': '13',
          'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
          'sec-websocket-protocol': protocol,
        };
        const message = request({ hostname, port, path: at.listenPath, headers });
        message.end();
        const [response] = (await once(message, 'response')) as [IncomingMessage];
        response.resume();
        return response.statusCode;
      };
      assert.equal(await upgrade('graphql-transport-ws'), 400);
      // The upstream of the test responds without an upgrade, which is not passed on.
      assert.equal(await upgrade('graphql-ws'), 502);
      await at.change({ graphql: { proxy: { subscription_type: 'sse' } } });
      assert.equal(await upgrade('graphql-ws'), 422);
    },
  },
  {
    rows: 'graphql.sseUsePost',
    promise: 'subscriptions by server-sent events are sent with POST, without it with GET but for posted values',
    classic: () =>
      classic({
        schema: `${schema} type Subscription { renamed(id: ID): User }`,
        proxy: { subscription_type: 'sse', sse_use_post: true },
      }),
    async observe(at) {
      const query = 'subscription ($id: ID) { renamed(id: $id) { name } }';
      const parameters = { query, variables: { id: 'a&b' } };
      const inUrl = new URLSearchParams({ query, variables: JSON.stringify(parameters.variables), page: '1' });
      const sent = async (method: string, posted: object = parameters) => {
        const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
        const reply =
          method === 'GET'
            ? await at.call(`/?${inUrl}`, { headers: { accept: headers.accept } })
            : await at.call('/?page=1', { method, headers, body: JSON.stringify(posted) });
        assert.equal(reply.status, 200, reply.text);
        const { method: used, url, body, headers: seen } = at.upstream.requests.at(-1)!;
        const { searchParams } = new URL(url, 'http://upstream');
        assert.equal(searchParams.get('page'), '1');
        if (used !== 'GET') return [used, JSON.parse(body)];
        assert.deepEqual([body, seen['content-type']], ['', undefined]);
        return [used, { query: searchParams.get('query'), variables: JSON.parse(searchParams.get('variables')!) }];
      };
      for (const method of ['GET', 'POST']) assert.deepEqual(await sent(method), ['POST', parameters]);
      await at.change({ graphql: { proxy: { sse_use_post: false } } });
      assert.deepEqual(await sent('GET'), ['GET', parameters]);
      const short = { query, variables: {} };
      assert.deepEqual(await sent('POST', short), ['GET', short]);
      const long = { query: `${query} #${'a'.repeat(4096)}`, variables: {} };
      const extended = { query, extensions: { token: 'secret' } };
      for (const posted of [parameters, long, extended]) {
        assert.deepEqual(await sent('POST', posted), ['POST', posted]);
        assert.doesNotMatch(at.upstream.requests.at(-1)!.url, /query|variables|secret/);
      }
      assert.equal((await post(at, '{ user { name } }')).status, 200);
      assert.equal(at.upstream.requests.at(-1)!.method, 'POST');
    },
  },
  {
    rows: 'endpoints.persistGraphql.path,method,enabled,operation,variables',
    promise: 'an endpoint sends an operation of the definition to the upstream',
    classic: () =>
      lists({
        persist_graphql: [
          {
            disabled: false,
            path: '/users/{id}',
            method: 'GET',
            operation: 'query($id: ID, $n: Int) { user(id: $id, n: $n) { name } }',
            variables: { id: 'user-$path.id', n: '$gw_context.request_data_n', kind: ['x'] },
          },
        ],
      }),
    async observe(at) {
      await at.change({ enable_context_vars: true });
      assert.equal((await at.call('/users/a%20b?n=3')).status, 200);
      const { method, url, headers, body } = at.upstream.requests.at(-1)!;
      assert.deepEqual([method, url, headers['content-type']], ['POST', '/', 'application/json']);
      assert.deepEqual(JSON.parse(body).variables, { id: 'user-a b', n: 3, kind: ['x'] });
      await at.call('/thing');
      assert.equal(at.upstream.requests.at(-1)!.method, 'GET');
    },
  },
];

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

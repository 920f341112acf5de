import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { serverAudits } from 'graphql-http';
import { startApp, type TestApp } from './support/app.ts';
import { answerGraphql, usersSdl } from './support/graphql-upstream.ts';
import { eventually, findUnavailableReason, openApi, publish } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';
import { type Echo, startEcho } from './support/websocket-echo.ts';

const json = { 'content-type': 'application/json' };
const errorsOf = (...messages: string[]) => messages.map(message => ({ message }));

describe('GraphQL', () => {
  let app: TestApp;
  let upstream: Upstream;
  let open: string;
  before(async () => {
    [app, upstream] = await Promise.all([
      startApp('sqlite', { settings: { 'graphql.max_batch_operations': '2', 'graphql.max_query_depth': '8' } }),
      startUpstream(),
    ]);
    answerGraphql(upstream);
    open = await publishGraph();
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });
  const publishGraph = (graphql: object = {}, more: Record<string, unknown> = {}) =>
    publish(
      app,
      openApi(upstream, {
        graphql: { enabled: true, execution_mode: 'proxyOnly', version: '2', schema: usersSdl, ...graphql },
        ...more,
      }),
    );
  async function send(url: string, body: unknown, headers: Record<string, string> = {}) {
    upstream.requests.length = 0;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const reply = await fetch(url, { method: 'POST', headers: { ...json, ...headers }, body: text });
    const answer = await reply.text();
    return { status: reply.status, headers: reply.headers, text: answer, body: JSON.parse(answer) };
  }
  const query = (url: string, text: string, headers: Record<string, string> = {}) =>
    send(url, { query: text }, headers);

  test('a valid operation reaches the upstream unchanged, and its response the client', async () => {
    const text = JSON.stringify({ query: 'query A($n: Int) { users(first: $n) { name } }', variables: { n: 2 } });
    const { status, body } = await send(open, text);
    assert.deepEqual([status, body], [200, { data: { users: [{ name: 'Ann' }] } }]);
    assert.equal(upstream.requests[0]!.body, text);
  });

  test('an invalid document is refused without a request to the upstream', async () => {
    const { status, headers, body } = await query(open, '{ goodBye }');
    assert.deepEqual([status, headers.get('content-type')], [400, 'application/json']);
    const [error] = body.errors;
    assert.deepEqual([error.message, error.path], ['field: goodBye not defined on type: Query', ['query', 'goodBye']]);
    assert.equal((await send(open, { query: 'query A($n: Int!) { users(first: $n) { name } }' })).status, 400);
    assert.equal((await query(open, '{ users {')).status, 400);
    assert.equal(upstream.requests.length, 0);
  });

  test('a request that is not GraphQL is refused with the reason', async () => {
    for (const [body, headers, status, message] of [
      ['', {}, 400, /is invalid: the body is empty/],
      ['{"query"', {}, 400, /is invalid: it is not JSON/],
      ['{"query":"{a}","query":"{b}"}', {}, 400, /two members of one name/],
      ['{"query":1}', {}, 400, /query must be a document/],
      ['{ users { name } }', { 'content-type': 'text/plain' }, 415, /application\/json or application\/graphql/],
      ['--x--', { 'content-type': 'multipart/form-data; boundary=x' }, 415, /File uploads/],
      ['[{"query":"{__typename}"},{"query":"{__typename}"},{"query":"{__typename}"}]', {}, 400, /at most 2 operations/],
    ] as const) {
      const reply = await send(open, body, headers);
      assert.equal(reply.status, status, body);
      assert.match(reply.body.error, message);
    }
    const put = await fetch(open, { method: 'PUT', headers: json, body: '{}' });
    assert.deepEqual([put.status, put.headers.get('allow')], [405, 'GET, POST, OPTIONS']);
    assert.equal(upstream.requests.length, 0);
  });

  test('GET and application/graphql requests are accepted; a mutation needs POST', async () => {
    const get = await fetch(`${open}?query=${encodeURIComponent('{ users { name } }')}`);
    assert.deepEqual(await get.json(), { data: { users: [{ name: 'Ann' }] } });
    assert.equal(upstream.requests.at(-1)!.method, 'GET');
    const mutation = await fetch(`${open}?query=${encodeURIComponent('mutation { rename(id: 1, name: "x") { id } }')}`);
    assert.deepEqual([mutation.status, mutation.headers.get('allow')], [405, 'POST']);
    const twice = await fetch(`${open}?query=%7B__typename%7D&query=%7Busers%7Bsecret%7D%7D`);
    assert.equal(twice.status, 400);
    const variables = encodeURIComponent('{"n":1}');
    const { body } = await send(
      `${open}?variables=${variables}&trace=1`,
      'query($n: Int) { users(first: $n) { id } }',
      {
        'content-type': 'application/graphql',
      },
    );
    assert.deepEqual(body, { data: { users: [{ id: '1' }] } });
    const [received] = upstream.requests;
    assert.deepEqual([received!.url, received!.headers['content-type']], ['/?trace=1', 'application/json']);
    assert.deepEqual(JSON.parse(received!.body).variables, { n: 1 });
  });

  test('the upstream gets only what was checked', async () => {
    const hash = { persistedQuery: { version: 1, sha256Hash: 'x' } };
    await send(open, { query: '{ users { id } }', Query: '{ users { secret } }', extensions: { a: 1, ...hash } });
    assert.deepEqual(JSON.parse(upstream.requests[0]!.body), {
      query: '{ users { id } }',
      variables: {},
      extensions: { a: 1 },
    });
    const inBoth = await query(`${open}?query=%7Busers%7Bsecret%7D%7D`, '{ users { id } }');
    assert.deepEqual([inBoth.status, upstream.requests.length], [400, 0]);
    const coded = await fetch(open, {
      method: 'POST',
      headers: { ...json, 'content-encoding': 'gzip' },
      body: gzipSync('{"query":"{ users { missing } }"}'),
    });
    assert.equal(coded.status, 400);
    assert.equal(upstream.requests.length, 0);
  });

  const secret = encodeURIComponent('{ users { secret } }');
  const spellings = [
    `Query=${secret}`,
    `+query=${secret}`,
    `query%00=${secret}`,
    `query[]=${secret}`,
    `[query]=${secret}`,
    `a=1;query=${secret}`,
    `?query=${secret}`,
    `%71UERY=${secret}`,
    `%EF%BD%91uery=${secret}`,
    'OperationName=B',
    'VARIABLES=%7B%7D',
    'extens%C4%B1ons=%7B%7D',
    'DocumentId=x',
    'id=x',
    'ID=x',
  ];
  test('a URL with a GraphQL parameter in another spelling or place than the one read is refused', async () => {
    for (const parameter of spellings) {
      const post = await query(`${open}?${parameter}`, '{ users { id } }');
      assert.deepEqual([post.status, upstream.requests.length], [400, 0], `POST ${parameter}`);
      assert.match(post.body.error, /is invalid: the URL has the parameter /);
      const get = await fetch(`${open}?query=%7Busers%7Bid%7D%7D&${parameter}`);
      assert.deepEqual([get.status, upstream.requests.length], [400, 0], `GET ${parameter}`);
    }
    for (const more of ['documentId=x', 'variables=&variables=%7B%7D']) {
      const get = await fetch(`${open}?query=%7Busers%7Bid%7D%7D&${more}`);
      assert.deepEqual([get.status, upstream.requests.length], [400, 0], more);
    }
  });

  test('other parameters of the URL are forwarded as received', async () => {
    const others = 'queryId=1&user_id=2;b=3&identity=4&x=id&y=%3Bquery&=5&%';
    assert.equal((await query(`${open}?${others}`, '{ users { id } }')).status, 200);
    assert.equal(upstream.requests[0]!.url, `/?${others}`);
    const get = await fetch(`${open}?query=%7Busers%7Bid%7D%7D&operationName=&${others}`);
    assert.equal(get.status, 200);
    assert.equal(upstream.requests[1]!.url, `/?query=%7Busers%7Bid%7D%7D&operationName=&${others}`);
  });

  /** Status of a WebSocket upgrade. */
  async function upgrade(url: string): Promise<number | undefined> {
    upstream.requests.length = 0;
    const headers = {
      ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-protocol': 'graphql-transport-ws' },
      ...{ 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
    };
    const request = httpRequest(url, { headers }).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  }

  test('an upgrade whose URL has GraphQL parameters is refused', async () => {
    for (const parameter of [...spellings, `query=${secret}`, 'documentId=x', 'extensions=%7B%7D'])
      assert.deepEqual([await upgrade(`${open}?${parameter}`), upstream.requests.length], [400, 0], parameter);
  });

  test('a successful response of an upstream that ignores the upgrade is not passed on', async () => {
    const plain = await startUpstream();
    try {
      const url = await publish(app, openApi(plain, { graphql: { enabled: true, schema: usersSdl } }));
      assert.deepEqual([await upgrade(`${url}?room=1`), plain.requests[0]?.url], [502, '/?room=1']);
      plain.answer = (_request, response) => void response.writeHead(426).end();
      assert.equal(await upgrade(url), 426);
    } finally {
      await plain.close();
    }
  });

  test('every operation of a batch is checked', async () => {
    const fine = { query: '{ __typename }' };
    const { body } = await send(open, [fine, fine]);
    assert.deepEqual(body, [{ data: { __typename: 'Query' } }, { data: { __typename: 'Query' } }]);
    assert.equal((await send(open, [fine, { query: '{ missing }' }])).status, 400);
    assert.equal(upstream.requests.length, 0);
  });

  test('introspection is answered from the stored schema, and can be disabled for an API', async () => {
    const { body } = await query(open, '{ __schema { queryType { name } } }');
    assert.deepEqual(body, { data: { __schema: { queryType: { name: 'Query' } } } });
    const again = await query(open, '{ __schema { queryType { name } } }');
    assert.deepEqual(again.body, body);
    const closed = await publishGraph({ introspection: { disabled: true } });
    for (const text of ['{ __schema { queryType { name } } }', '{ users { id } __type(name: "User") { name } }']) {
      const refused = await query(closed, text);
      assert.deepEqual([refused.status, refused.body], [403, { error: 'introspection is disabled' }]);
    }
    assert.deepEqual((await query(closed, '{ __typename }')).body, { data: { __typename: 'Query' } });
    assert.equal(upstream.requests.length, 0);
  });

  test('a document deeper than graphql.max_query_depth is refused for every client', async () => {
    const deep = (levels: number) => `{ users ${'{ friends '.repeat(levels - 2)} { id } ${'}'.repeat(levels - 2)} }`;
    assert.equal((await query(open, deep(8))).status, 200);
    const { status, body } = await query(open, deep(9));
    assert.deepEqual([status, body], [403, { error: 'depth limit exceeded' }]);
  });

  describe('rights of keys', () => {
    let guarded: string;
    let apiId: string;
    before(async () => {
      const definition = openApi(upstream, {
        graphql: { enabled: true, schema: usersSdl },
        use_keyless: false,
        use_standard_auth: true,
      });
      apiId = definition.api_id;
      guarded = await publish(app, definition);
    });
    async function createKey(right: object, more: object = {}): Promise<Record<string, string>> {
      const access_rights = { [apiId]: { api_id: apiId, versions: ['Default'], ...right } };
      const { status, text, body } = await app.ask('POST', '/gw/keys', { body: { access_rights, ...more } });
      assert.equal(status, 200, text);
      return { authorization: body.key };
    }
    const expectRestricted = async (key: Record<string, string>, text: string, field: string, type: string) => {
      const { status, body } = await query(guarded, text, key);
      const expected = { errors: errorsOf(`field: ${field} is restricted on type: ${type}`) };
      assert.deepEqual([status, body, upstream.requests.length], [400, expected, 0]);
    };

    test('a restricted field is refused, also through fragments and interfaces', async () => {
      const key = await createKey({ restricted_types: [{ name: 'Account', fields: ['balance', 'id'] }] });
      assert.equal((await query(guarded, '{ user { name account { __typename } } }', key)).status, 200);
      await expectRestricted(key, '{ user { account { balance } } }', 'balance', 'Account');
      await expectRestricted(
        key,
        '{ user { account { ...F } } } fragment F on Account { b: balance }',
        'balance',
        'Account',
      );
      await expectRestricted(key, '{ node { id } }', 'id', 'Account');
    });

    test('an allow list admits its fields alone', async () => {
      const allowed_types = [
        { name: 'Query', fields: ['user'] },
        { name: 'User', fields: ['*'] },
      ];
      const key = await createKey({ allowed_types, restricted_types: [{ name: 'User', fields: ['name'] }] });
      assert.equal((await query(guarded, '{ user { name } }', key)).status, 200);
      await expectRestricted(key, '{ users { name } }', 'users', 'Query');
      await expectRestricted(key, '{ user { account { id } } }', 'id', 'Account');
    });

    test('the depth limit is that of the right, of the key, or of a root field', async () => {
      const exceeded = async (key: Record<string, string>, text: string) => {
        const { status, body } = await query(guarded, text, key);
        if (status === 403) assert.deepEqual(body, { error: 'depth limit exceeded' });
        return status === 403;
      };
      const ofRight = await createKey({ limit: { max_query_depth: 2 } }, { max_query_depth: 5 });
      assert.equal(await exceeded(ofRight, '{ users { name } }'), false);
      assert.equal(await exceeded(ofRight, '{ users { friends { name } } }'), true);
      assert.equal(await exceeded(ofRight, '{ __schema { types { fields { name } } } }'), false);
      const ofKey = await createKey({}, { max_query_depth: 2 });
      assert.equal(await exceeded(ofKey, '{ users { friends { name } } }'), true);
      const field_access_rights = [{ type_name: 'Query', field_name: 'users', limits: { max_query_depth: 2 } }];
      const ofField = await createKey({ field_access_rights, limit: { max_query_depth: 2 } });
      assert.equal(await exceeded(ofField, '{ users { friends { name } } }'), false);
      assert.equal(await exceeded(ofField, '{ users { friends { friends { name } } } }'), true);
      assert.equal(await exceeded(ofField, '{ user { friends { name } } }'), true);
    });

    test('a key can have introspection disabled', async () => {
      const key = await createKey({ disable_introspection: true });
      const { status, body } = await query(guarded, '{ __type(name: "User") { name } }', key);
      assert.deepEqual([status, body], [403, { error: 'introspection is disabled' }]);
      assert.equal((await query(guarded, '{ __type(name: "User") { name } }', await createKey({}))).status, 200);
    });

    describe('for a subgraph', () => {
      let subgraph: { url: string; id: string };
      before(async () => {
        const sdl = 'type User @key(fields: "id") { id: ID! }';
        const definition = openApi(upstream, {
          graphql: { enabled: true, execution_mode: 'subgraph', schema: usersSdl, subgraph: { sdl } },
          use_keyless: false,
          use_standard_auth: true,
        });
        subgraph = { url: await publish(app, definition), id: definition.api_id };
      });
      /** Status of the gateway, or `forwarded`. */
      async function outcomeOf(text: string, right: object) {
        const access_rights = { [subgraph.id]: { api_id: subgraph.id, versions: ['Default'], ...right } };
        const { body } = await app.ask('POST', '/gw/keys', { body: { access_rights } });
        const { status } = await query(subgraph.url, text, { authorization: body.key });
        return upstream.requests.length > 0 ? 'forwarded' : status;
      }

      test('_service is refused where introspection is disabled, also in a fragment and under an alias', async () => {
        for (const text of [
          '{ _service { sdl } }',
          '{ users { name } ...S } fragment S on Query { a: _service { sdl } }',
        ]) {
          assert.equal(await outcomeOf(text, { disable_introspection: true }), 403, text);
          assert.equal(await outcomeOf(text, {}), 'forwarded', text);
        }
      });

      test('_entities is refused for keys with restricted root fields, unless the allow list names it', async () => {
        const text = '{ e: _entities(representations: []) { ... on User { name } } }';
        const restricted_types = [{ name: 'Query', fields: ['user'] }];
        const allowed_types = [
          { name: 'Query', fields: ['_entities'] },
          { name: 'User', fields: ['name'] },
        ];
        assert.equal(await outcomeOf(text, { restricted_types }), 400);
        assert.equal(await outcomeOf(text, { restricted_types, allowed_types }), 'forwarded');
        assert.equal(await outcomeOf(text, { restricted_types: [{ name: 'User', fields: ['secret'] }] }), 'forwarded');
      });
    });
  });

  describe('subscriptions over WebSocket', () => {
    let echo: Echo;
    let url: string;
    let key: string;
    before(async () => {
      echo = await startEcho();
      const definition = openApi(
        { url: `ws://127.0.0.1:${echo.port}` },
        { graphql: { enabled: true, schema: usersSdl }, use_keyless: false, use_standard_auth: true },
      );
      url = (await publish(app, definition)).replace('http', 'ws');
      const right = { api_id: definition.api_id, restricted_types: [{ name: 'User', fields: ['secret'] }] };
      const { body } = await app.ask('POST', '/gw/keys', { body: { access_rights: { [definition.api_id]: right } } });
      key = body.key;
    });
    after(() => echo?.close());
    async function openSocket(protocol: string, authorization = key) {
      const socket = new WebSocket(url, { protocols: [protocol], headers: { authorization } } as never);
      const messages: Record<string, unknown>[] = [];
      socket.addEventListener('message', ({ data }) => messages.push(JSON.parse(String(data))));
      const failed = once(socket, 'error').then(() => assert.fail('the socket was refused'));
      await Promise.race([once(socket, 'open'), failed]);
      failed.catch(() => undefined);
      return { socket, messages };
    }
    const receive = (messages: unknown[], count: number) => eventually(() => assert.equal(messages.length, count));

    test('an allowed operation reaches the upstream, and a refused one gets an error message', async () => {
      const { socket, messages } = await openSocket('graphql-transport-ws');
      assert.equal(echo.asked.at(-1)!.headers['sec-websocket-extensions'], undefined);
      const fine = { id: '1', type: 'subscribe', payload: { query: 'subscription { renamed { id } }' } };
      socket.send(JSON.stringify(fine));
      await receive(messages, 1);
      const restricted = { id: '2', type: 'subscribe', payload: { query: 'subscription { renamed { secret } }' } };
      socket.send(JSON.stringify(restricted));
      await receive(messages, 2);
      socket.send(JSON.stringify({ id: '3', type: 'subscribe', payload: { query: '{ __typename }' } }));
      await receive(messages, 4);
      socket.send(JSON.stringify({ id: '4', type: 'start', payload: { query: '{ missing }' } }));
      await receive(messages, 5);
      const [, refused, ...others] = messages;
      assert.deepEqual(messages[0], fine);
      assert.deepEqual(refused, {
        id: '2',
        type: 'error',
        payload: errorsOf('field: secret is restricted on type: User'),
      });
      assert.deepEqual(others.slice(0, 2), [
        { id: '3', type: 'next', payload: { data: { __typename: 'Query' } } },
        { id: '3', type: 'complete' },
      ]);
      assert.match(JSON.stringify(others[2]), /"payload":\{"message":"field: missing not defined on type: Query"/);
      socket.close();
      await once(socket, 'close');
    });

    test('a message that is none closes the socket', async () => {
      const payload = { query: 'subscription { renamed { secret } }' };
      for (const text of [
        '{"type":"other"}',
        'no JSON',
        '{"id":"1","id":"2","type":"ping"}',
        JSON.stringify({ type: 'ping', Type: 'subscribe', id: '1', payload }),
        JSON.stringify({ type: 'ping', 'type\u0000': 'subscribe', id: '1', payload }),
        JSON.stringify({ type: 'subscribe', id: '1', payload: { query: '{ users { id } }' }, PAYLOAD: payload }),
        JSON.stringify({ type: 'subscribe', ID: '1', id: '2', payload: { query: '{ users { id } }' } }),
        JSON.stringify({ type: 'ping', query: payload.query }),
      ]) {
        const { socket, messages } = await openSocket('graphql-ws');
        socket.send(text);
        const [{ code }] = (await once(socket, 'close', { signal: AbortSignal.timeout(10_000) })) as [CloseEvent];
        assert.deepEqual([code, messages], [4400, []], text);
      }
    });

    test('messages of both subprotocols without an operation are forwarded unchanged', async () => {
      const { socket, messages } = await openSocket('graphql-transport-ws');
      const sent = [
        { type: 'connection_init', payload: { authorization: 'x' } },
        { type: 'ping' },
        { type: 'pong', payload: { Type: 'x' } },
        { id: '1', type: 'complete' },
        { id: '1', type: 'stop' },
      ];
      for (const [at, message] of sent.entries()) {
        socket.send(JSON.stringify(message));
        await receive(messages, at + 1);
      }
      assert.deepEqual(messages, sent);
      socket.close();
      await once(socket, 'close');
    });

    test('a message of very many frames closes its socket, and others stay open', async () => {
      const { socket: other, messages } = await openSocket('graphql-ws');
      const { port, pathname } = new URL(url);
      const headers = {
        ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-protocol': 'graphql-ws' },
        ...{ 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', authorization: key },
      };
      const request = httpRequest({ port, host: '127.0.0.1', path: pathname, headers }).end();
      const [, socket] = (await once(request, 'upgrade')) as [IncomingMessage, Duplex];
      const received: Buffer[] = [];
      socket.on('data', chunk => received.push(chunk)).on('error', () => undefined);
      const ping = Buffer.from('{"type":"ping"}');
      const empty = Buffer.from([0, 0x80, 0, 0, 0, 0]);
      socket.write(Buffer.concat([Buffer.from([1, 0x80 | ping.length, 0, 0, 0, 0]), ping]));
      socket.write(Buffer.concat(Array.from({ length: 150_000 }, () => empty)));
      socket.write(Buffer.from([0x80, 0x80, 0, 0, 0, 0]));
      await eventually(() => assert.deepEqual(Buffer.concat(received).subarray(0, 4), Buffer.from([0x88, 2, 3, 0xf1])));
      socket.destroy();
      other.send('{"type":"ping"}');
      await receive(messages, 1);
      other.close();
      await once(other, 'close');
    });

    test('an upgrade without a key or with another subprotocol is refused', async () => {
      const asked = echo.asked.length;
      for (const [protocol, authorization] of [
        ['graphql-ws', 'wrong'],
        ['mqtt', key],
      ] as const) {
        const socket = new WebSocket(url, { protocols: [protocol], headers: { authorization } } as never);
        await once(socket, 'error');
      }
      assert.equal(echo.asked.length, asked);
    });
  });

  test('logged requests have type, name and root fields of their operation, which are bounded', async () => {
    const definition = openApi(upstream, {
      graphql: { enabled: true, execution_mode: 'proxyOnly', version: '2', schema: usersSdl },
    });
    const url = await publish(app, definition);
    const longName = `L${'o'.repeat(253)}ng`;
    assert.equal((await query(url, `query ${longName}er { users { id } }`)).status, 400);
    await query(url, 'query List { users { name } again: users { id } user(id: 1) { id } }');
    await query(url, `query ${longName} { users { id } }`);
    await query(url, '{ __typename }');
    await query(url, '{ goodBye }');
    await eventually(async () => {
      const path = `/api/logs?start=0&end=9999999999&api_id=${definition.api_id}`;
      const { body } = await app.ask('GET', path);
      const found = (body.data as Record<string, unknown>[]).map(it => [
        it.graphql_operation_type,
        it.graphql_operation_name,
        it.graphql_fields,
      ]);
      assert.equal(found.length, 5);
      const expected = [
        ['query', 'List', ['users', 'user']],
        ['query', longName, ['users']],
        ['query', '', ['__typename']],
        [undefined, undefined, undefined],
      ];
      for (const row of expected)
        assert.ok(
          found.some(it => JSON.stringify(it) === JSON.stringify(row)),
          `${row}`,
        );
    });
  });

  test('an API without a valid schema is not served, and its status has the reason', async () => {
    assert.equal(await findUnavailableReason(app, await publishGraph({ schema: '' })), 'the GraphQL schema is missing');
  });

  describe('GraphQL over HTTP', () => {
    for (const { id, name, fn } of serverAudits({ url: () => open }))
      test(`${id}: ${name}`, async () => {
        const result = await fn();
        assert.equal(result.status, 'ok', 'reason' in result ? String(result.reason) : '');
      });
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startApp, type TestApp } from './support/app.ts';
import { answerGraphql } from './support/graphql-upstream.ts';
import { openApi, publish } from './support/traffic.ts';
import { type Received, startUpstream, type Upstream } from './support/upstream.ts';
import { withSettings } from './support/with-settings.ts';

const json = { 'content-type': 'application/json' };

const sdl = `
  interface Animal { name: String }
  type Dog implements Animal { name: String barks: Boolean }
  type Cat implements Animal { name: String lives: Int }
  type Post { id: ID! title: String author: Member }
  type Member { id: ID! name: String age: Int posts(limit: Int): [Post] profile: User tags: [String] raw: JSON }
  type User { id: ID! name: String friends(first: Int = 2): [User] account: Account orders: [Order] }
  type Account { id: ID! balance: Int }
  type Order { id: ID! }
  scalar JSON
  input NewMember { name: String! note: String }
  type Query {
    members: [Member] member(id: ID!): Member first: Member strict: Member! broken: Member
    search(text: String, page: Int): [Member] user(id: ID): User fixed(id: ID): User animals: [Animal]
    unresolved: Int failing: Int user2: User
  }
  type Mutation { add(input: NewMember!): Member count: Int rename(id: ID!, name: String!): User }
  type Subscription { changed: Member }
`;

const rest = (name: string, type: string, fields: string[], config: object) => ({
  kind: 'REST',
  name,
  internal: false,
  root_fields: [{ type, fields }],
  config: { method: 'GET', headers: {}, query: [], body: '', ...config },
});
const whole = (type_name: string, field_name: string) => ({
  type_name,
  field_name,
  disable_default_mapping: true,
  path: [],
});

describe('GraphQL data graph', () => {
  let app: TestApp;
  let server: Upstream;
  let graphqlServer: Upstream;
  let url: string;
  before(async () => {
    [app, server, graphqlServer] = await Promise.all([
      startApp('sqlite', {
        settings: {
          'graphql.max_source_requests': '12',
          'graphql.max_concurrent_source_requests': '3',
          'gateway.max_buffered_body_bytes': '200000',
          'graphql.max_batch_operations': '3',
        },
      }),
      startUpstream(),
      startUpstream(),
    ]);
    answerRest(server);
    answerGraphql(graphqlServer);
    url = await publishGraph();
  });
  after(async () => {
    await app?.close();
    await server?.close();
    await graphqlServer?.close();
  });

  const graphqlSource = (name: string, fields: object[], config: object = {}) => ({
    kind: 'GraphQL',
    name,
    internal: false,
    root_fields: fields,
    config: { url: graphqlServer.url, method: 'POST', headers: {}, ...config },
  });
  const defaultSources = () => [
    rest('members', 'Query', ['members'], { url: `${server.url}/members` }),
    rest('member', 'Query', ['member'], { url: `${server.url}/members/{{ .arguments.id }}` }),
    rest('first', 'Query', ['first'], { url: `${server.url}/members` }),
    rest('strict', 'Query', ['strict'], { url: `${server.url}/missing` }),
    rest('broken', 'Query', ['broken'], { url: `${server.url}/text` }),
    rest('failing', 'Query', ['failing'], { url: 'http://127.0.0.1:1/' }),
    rest('animals', 'Query', ['animals'], { url: `${server.url}/animals` }),
    rest('search', 'Query', ['search'], {
      url: `${server.url}/search?text={{.arguments.text}}&fixed=1`,
      query: [{ name: 'page', value: '{{.arguments.page}}' }],
      headers: { 'X-Text': '{{.arguments.text}}', 'X-Client': '{{.request.headers.X-Client}}' },
    }),
    rest('posts', 'Member', ['posts'], {
      url: `${server.url}/members/{{.object.id}}/posts?limit={{.arguments.limit}}`,
    }),
    rest('author', 'Post', ['author'], { url: `${server.url}/members/{{.object.author_id}}` }),
    rest('add', 'Mutation', ['add'], {
      url: `${server.url}/members`,
      method: 'POST',
      body: '{"id":"9","name":"{{.arguments.input.name}}","whole":{{.arguments.input}},"note":{{.arguments.input.note}}}',
    }),
    rest('count', 'Mutation', ['count'], { url: `${server.url}/count`, method: 'POST' }),
    graphqlSource('users', [
      { type: 'Query', fields: ['user', 'user2'] },
      { type: 'Mutation', fields: ['rename'] },
      { type: 'User', fields: ['friends'] },
    ]),
    graphqlSource('profile', [{ type: 'Member', fields: ['profile'] }], {
      has_operation: true,
      operation: 'query ($id: ID) { user(id: $id) { id name } }',
      variables: { id: '{{.object.id}}' },
    }),
    graphqlSource('fixed', [{ type: 'Query', fields: ['fixed'] }], {
      has_operation: true,
      operation: '{ user(id: "{{.arguments.id}}") { name } }',
    }),
    rest('orders', 'User', ['orders'], { url: `${server.url}/users/{{.object.id}}/orders` }),
  ];
  const defaultMappings = () => [
    ...['members', 'member', 'strict', 'broken', 'search', 'animals', 'failing'].map(name => whole('Query', name)),
    { ...whole('Query', 'first'), path: ['[0]'] },
    { ...whole('Query', 'fixed'), path: ['user'] },
    { ...whole('Query', 'user2'), path: ['user'] },
    whole('Mutation', 'add'),
    whole('Mutation', 'count'),
    whole('Member', 'posts'),
    { ...whole('Member', 'profile'), path: ['user'] },
    { ...whole('Member', 'tags'), path: ['meta', 'tags'] },
    whole('Member', 'raw'),
    whole('Post', 'author'),
    whole('User', 'orders'),
  ];
  const describeGraph = (engine: object = {}, more: object = {}, api: Record<string, unknown> = {}) =>
    openApi(
      { url: '' },
      {
        graphql: {
          enabled: true,
          execution_mode: 'executionEngine',
          version: '2',
          schema: sdl,
          engine: { data_sources: defaultSources(), field_configs: defaultMappings(), ...engine },
          ...more,
        },
        ...api,
      },
    );
  const publishGraph = (engine: object = {}, more: object = {}, api: Record<string, unknown> = {}) =>
    publish(app, describeGraph(engine, more, api));

  async function send(at: string, body: unknown, headers: Record<string, string> = {}) {
    server.requests.length = 0;
    graphqlServer.requests.length = 0;
    const reply = await fetch(at, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, text, body: JSON.parse(text) };
  }
  const query = (text: string, variables: object = {}, headers: Record<string, string> = {}, at = url) =>
    send(at, { query: text, variables }, headers);
  const listUrls = () => server.requests.map(({ method, url: it }) => `${method} ${it}`);
  const lastRequest = (): Received => server.requests.at(-1)!;

  test('a field is read from its REST source, and fields below it from the parent object', async () => {
    const { status, headers, body } = await query('{ all: members { id label: name tags } }');
    assert.deepEqual([status, headers.get('content-type')], [200, 'application/json']);
    const ann = { id: '1', label: 'Ann', tags: ['a', 'b'] };
    assert.deepEqual(body, { data: { all: [ann, { id: '2', label: 'Bob', tags: null }] } });
    assert.deepEqual(listUrls(), ['GET /members']);
  });

  test('sources join: a nested source gets members of its parent, and equal requests are sent once', async () => {
    const { body } = await query('{ members { name posts(limit: 1) { title author { name } } } }');
    assert.deepEqual(body.errors, undefined);
    const [ann, bob] = body.data.members;
    assert.deepEqual(ann.posts, [
      { title: 'Post 1 of 1', author: { name: 'Ann' } },
      { title: 'Post 2 of 1', author: { name: 'Ann' } },
    ]);
    assert.equal(bob.posts[0].author.name, 'Bob');
    assert.deepEqual(listUrls().sort(), [
      'GET /members',
      'GET /members/1',
      'GET /members/1/posts?limit=1',
      'GET /members/2',
      'GET /members/2/posts?limit=1',
    ]);
  });

  test('a path in the response can name an item of a list', async () => {
    assert.deepEqual((await query('{ first { name } }')).body, { data: { first: { name: 'Ann' } } });
  });

  test('the value of an argument is one segment of the path', async () => {
    for (const id of ['a/../../admin', 'a?x=1#y', '%2e%2e', 'ä b']) {
      await query('query ($id: ID!) { member(id: $id) { name } }', { id });
      assert.deepEqual(listUrls(), [`GET /members/${encodeURIComponent(id)}`]);
    }
    for (const id of ['', '.', '..']) {
      const { body } = await query('query ($id: ID!) { member(id: $id) { name } }', { id });
      assert.equal(body.errors.length, 1, id);
      assert.deepEqual([body.data, body.errors[0].path, listUrls()], [{ member: null }, ['member'], []]);
    }
  });

  test('values of a query and of headers add no parameter and no header', async () => {
    const text = 'a&fixed=2 ü\r\nX-Other: 1';
    await query('query ($t: String) { search(text: $t) { id } }', { t: text }, { 'x-client': 'me' });
    const { url: path, headers } = lastRequest();
    const sent = new URLSearchParams(path.split('?')[1]);
    assert.deepEqual(
      [...sent],
      [
        ['text', text],
        ['fixed', '1'],
      ],
    );
    assert.equal(headers['x-other'], undefined);
    assert.match(String(headers['x-text']), /X-Other: 1$/);
    assert.equal(headers['x-client'], 'me');
    await query('{ search(page: 2) { id } }');
    assert.equal(lastRequest().url, '/search?fixed=1&page=2');
  });

  test('values of a JSON body stay values, inside and outside of quotes', async () => {
    const name = '","admin":true,"x":"\\';
    const { body } = await query('mutation ($n: String!) { add(input: { name: $n }) { name } }', { n: name });
    assert.deepEqual(JSON.parse(lastRequest().body), { id: '9', name, whole: { name }, note: null });
    assert.equal(lastRequest().headers['content-type'], 'application/json');
    assert.deepEqual(body.data, { add: { name } });
  });

  test('mutations run in order, each with a request of its own', async () => {
    const { body } = await query('mutation { a: count b: count }');
    assert.equal(body.data.b, body.data.a + 1);
    const text = 'add(input: { name: "x" }) { posts { id } }';
    await query(`mutation { a: ${text} b: ${text} }`);
    const read = 'GET /members/9/posts';
    assert.deepEqual(listUrls(), ['POST /members', read, 'POST /members', read]);
  });

  test('a GraphQL source gets one operation with the selected fields, variables and aliases', async () => {
    const text =
      'query ($id: ID, $no: Boolean!) { me: user(id: $id) { n: name name @skip(if: $no) a: friends(first: 1) { id } b: friends { ...F } } } fragment F on User { name }';
    const { body } = await query(text, { id: '7', no: true });
    assert.deepEqual(body, {
      data: { me: { n: 'Ann', a: [{ id: 'f' }], b: [{ name: 'Bob' }] } },
    });
    const sent = graphqlServer.requests.map(it => JSON.parse(it.body));
    assert.deepEqual(
      sent.map(it => it.variables),
      [{ id: '7', no: true }],
    );
    assert.match(sent[0].query, /^query \(\$id: ID, \$no: Boolean!\) \{/);
    assert.match(sent[0].query, /friends\(first: 2\)/);
    const renamed = await query('mutation { rename(id: "1", name: "Eve") { name } }');
    assert.deepEqual(renamed.body.data, { rename: { name: 'Eve' } });
    assert.match(JSON.parse(graphqlServer.requests[0]!.body).query, /^mutation/);
  });

  test('a field below a GraphQL source can have a source of its own, whatever the aliases of the client', async () => {
    const { body } = await query('{ user(id: "5") { id: name orders { id } } }');
    assert.deepEqual(body, { data: { user: { id: 'Ann', orders: [{ id: 'order of 5' }] } } });
    assert.deepEqual(listUrls(), ['GET /users/5/orders']);
    const reserved = await query('{ user(id: "5") { gw__id: name orders { id } } }');
    assert.match(reserved.body.errors[0].message, /names beginning with gw__ are reserved/);
    assert.equal(graphqlServer.requests.length, 0);
  });

  test('a mapping renames a field of a GraphQL source', async () => {
    assert.deepEqual((await query('{ user2 { name } }')).body, { data: { user2: { name: 'Ann' } } });
  });

  test('a fixed operation gets values as variables and as literals', async () => {
    const { body } = await query('{ members { profile { id name } } }');
    assert.deepEqual(
      body.data.members.map((it: { profile: unknown }) => it.profile),
      [
        { id: '1', name: 'Ann' },
        { id: '2', name: 'Ann' },
      ],
    );
    const id = '") { name } secret: user(id: "';
    assert.deepEqual((await query('query ($i: ID) { fixed(id: $i) { name } }', { i: id })).body.data, {
      fixed: { name: 'Ann' },
    });
    const { query: sent } = JSON.parse(graphqlServer.requests[0]!.body);
    assert.equal(sent, `{ user(id: ${JSON.stringify(id)}) { name } }`);
  });

  test('values of an abstract type have the type of their __typename', async () => {
    const { body } = await query('{ animals { __typename name ... on Dog { barks } ... on Cat { lives } } }');
    assert.deepEqual(body.data.animals, [
      { __typename: 'Dog', name: 'Rex', barks: true },
      { __typename: 'Cat', name: 'Tom', lives: 9 },
    ]);
  });

  test('a source that fails leaves its field null, with an error at its path and without its address', async () => {
    const { status, body, text } = await query('{ failing broken { name } members { name } unresolved }');
    assert.equal(status, 200);
    assert.deepEqual(body.data.members[0], { name: 'Ann' });
    const messages = Object.fromEntries(
      body.errors.map(({ path, message }: { path: string[]; message: string }) => [path.join('.'), message]),
    );
    assert.deepEqual(messages, {
      failing: 'the data source failing is unavailable',
      broken: 'the response of the data source broken cannot be read: it is not JSON',
      unresolved: 'the field Query.unresolved has no data source',
    });
    assert.doesNotMatch(text, /127\.0\.0\.1/);
    const strict = await query('{ strict { name } }');
    assert.deepEqual(strict.body, {
      errors: [{ message: 'the data source strict responded with status 404', path: ['strict'] }],
      data: null,
    });
  });

  test('errors of a GraphQL source are at the paths of the client', async () => {
    graphqlServer.answer = (_request, response) =>
      void response.end(
        JSON.stringify({
          data: { me: { friends: [{ name: 'x' }, null] } },
          errors: [{ message: 'no friend', path: ['me', 'friends', 1] }, { message: 'slow' }],
        }),
      );
    const { body } = await query('{ me: user { friends { name } } }');
    answerGraphql(graphqlServer);
    assert.deepEqual(body.data, { me: { friends: [{ name: 'x' }, null] } });
    assert.deepEqual(body.errors, [
      { message: 'no friend', path: ['me', 'friends', 1] },
      { message: 'slow', path: ['me'] },
    ]);
  });

  test('the number of requests, their concurrency and the size of the result are bounded', async () => {
    let active = 0;
    let most = 0;
    server.answer = (request, response) => {
      most = Math.max(most, ++active);
      setImmediate(() => {
        active--;
        respondRest(request.url!, response);
      });
    };
    const aliases = (count: number, text: (at: number) => string) => Array.from({ length: count }, (_, at) => text(at));
    const ids = aliases(12, at => `a${at}: member(id: "${at}") { name }`);
    assert.equal((await query(`{ ${ids.join(' ')} }`)).body.errors, undefined);
    assert.equal(most, 3);
    const more = aliases(14, at => `a${at}: member(id: "${at}") { name }`);
    const { body } = await query(`{ ${more.join(' ')} }`);
    assert.equal(server.requests.length, 12);
    assert.deepEqual(
      body.errors.map((it: { message: string }) => it.message),
      ['the operation needs more than 12 requests', 'the operation needs more than 12 requests'],
    );
    server.answer = (_request, response) => void response.end(JSON.stringify([{ name: 'n'.repeat(50_000) }]));
    const large = await query(`{ ${aliases(5, at => `a${at}: members { name }`).join(' ')} }`);
    answerRest(server);
    assert.deepEqual(large.body, { errors: [{ message: 'the result is larger than 200000 bytes' }], data: null });
    server.answer = (_request, response) => void response.end(JSON.stringify([{ name: 'n'.repeat(300_000) }]));
    const longer = await query('{ members { name } }');
    answerRest(server);
    assert.match(longer.body.errors[0].message, /members is incomplete or too large/);
  });

  test('an operation ends at the timeout of its endpoint, and its requests are abandoned', async () => {
    const hard_timeouts = [{ path: '/', method: 'POST', timeout: 1 }];
    const versions = { Default: { name: 'Default', use_extended_paths: true, extended_paths: { hard_timeouts } } };
    const slow = await publishGraph({}, {}, { version_data: { not_versioned: true, versions } });
    const closed = Promise.withResolvers<void>();
    server.answer = (_request, response) => void response.on('close', closed.resolve);
    const { status, body } = await query('{ members { name } }', {}, {}, slow);
    answerRest(server);
    await closed.promise;
    assert.equal(status, 200);
    assert.equal(body.errors.length, 1);
    assert.doesNotMatch(JSON.stringify(body), /Ann/);
  });

  test('an encoded response is decoded', async () => {
    server.answer = (_request, response) =>
      void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('[{"name":"Zip"}]'));
    const { body } = await query('{ members { name } }');
    answerRest(server);
    assert.deepEqual(body.data, { members: [{ name: 'Zip' }] });
  });

  test('the checks of a GraphQL API hold: schema, methods, batches, introspection, subscriptions', async () => {
    assert.equal((await query('{ nothing }')).status, 400);
    assert.equal((await fetch(`${url}?query=${encodeURIComponent('{ first { name } }')}`)).status, 200);
    assert.equal((await fetch(`${url}?query=${encodeURIComponent('mutation { count }')}`)).status, 405);
    assert.equal((await fetch(url, { method: 'OPTIONS' })).status, 405);
    const batch = await send(url, [{ query: '{ first { name } }' }, { query: '{ __typename }' }]);
    assert.deepEqual(batch.body, [{ data: { first: { name: 'Ann' } } }, { data: { __typename: 'Query' } }]);
    const mixed = await query('{ first { name } __type(name: "Dog") { name } }');
    assert.deepEqual(mixed.body.data, { first: { name: 'Ann' }, __type: { name: 'Dog' } });
    const subscription = await query('subscription { changed { id } }');
    assert.deepEqual([subscription.status, server.requests.length], [400, 0]);
    assert.match(subscription.body.error, /a subscription needs Accept: text\/event-stream or a WebSocket/);
  });

  describe('hostile clients and sources', () => {
    const reply = (upstream: Upstream, value: unknown) => {
      upstream.answer = (_request, response) => void response.end(JSON.stringify(value));
    };
    const restore = () => {
      answerRest(server);
      answerGraphql(graphqlServer);
    };
    const tooLarge = { errors: [{ message: 'the result is larger than 200000 bytes' }], data: null };

    test('names count as bytes of the result: of fields, of __typename, and in paths of errors', async () => {
      const alias = 'a'.repeat(250);
      const list = Array.from({ length: 1000 }, () => ({ name: 'x' }));
      reply(server, list);
      for (const text of [
        `{ members { ${alias}: name } }`,
        `{ members { ${alias}: __typename } }`,
        `{ members { ... on Member { ...F } } } fragment F on Member { ${alias}: __typename }`,
        `{ ${alias}: members { id } }`,
      ])
        assert.deepEqual((await query(text)).body, tooLarge, text.slice(0, 20));
      reply(server, list.slice(0, 100));
      assert.equal((await query(`{ members { ${alias}: name } }`)).body.data.members.length, 100);
      restore();
    });

    test('bytes of responses are counted as they are after decoding', async () => {
      const packed = gzipSync(JSON.stringify({ id: '1', name: 'n'.repeat(60_000) }));
      server.answer = (_request, response) =>
        void response.writeHead(200, { 'content-encoding': 'gzip' }).end(Buffer.from(packed));
      const fields = Array.from({ length: 8 }, (_, at) => `a${at}: member(id: "${at}") { id }`);
      const { body } = await query(`{ ${fields.join(' ')} }`);
      restore();
      assert.deepEqual(
        Object.values(body.data).filter(it => it !== null),
        [{ id: '1' }, { id: '1' }, { id: '1' }],
      );
      for (const { message } of body.errors) assert.match(message, /cannot be decoded|incomplete or too large/);
    });

    test('errors of a response that many fields share are bounded', async () => {
      const profile = graphqlSource('shared', [{ type: 'Member', fields: ['profile'] }], {
        has_operation: true,
        operation: '{ user { name } }',
      });
      const list = rest('members', 'Query', ['members'], { url: `${server.url}/members` });
      const field_configs = [whole('Query', 'members'), { ...whole('Member', 'profile'), path: ['user'] }];
      const at = await publishGraph({ data_sources: [list, profile], field_configs });
      const errors = Array.from({ length: 150 }, () => ({ message: 'e' }));
      reply(graphqlServer, { data: { user: { name: 'Ann' } }, errors });
      const few = await query('{ members { profile { name } } }', {}, {}, at);
      assert.equal(few.body.errors.length, 2 * 101);
      assert.deepEqual(few.body.errors.at(-1), {
        message: 'the data source has 50 further errors',
        path: ['members', 1, 'profile'],
      });
      reply(
        server,
        Array.from({ length: 1000 }, () => ({ id: '1' })),
      );
      const many = await query('{ members { profile { name } } }', {}, {}, at);
      restore();
      assert.deepEqual([many.body, graphqlServer.requests.length], [tooLarge, 1]);
    });

    test('an operation for a GraphQL source that fragments make too long is not sent', async () => {
      const at = await publishGraph(
        { data_sources: [graphqlSource('notes', [{ type: 'Query', fields: ['user'] }])], field_configs: [] },
        { schema: 'type User { note(text: String): String self: User } type Query { user: User }' },
      );
      reply(graphqlServer, { data: { user: {} } });
      const ask = (count: number) => {
        const fields = Array.from({ length: count }, (_, it) => `a${it}: self { ...F }`).join(' ');
        return query(`{ user { ${fields} } } fragment F on User { note(text: "${'x'.repeat(30_000)}") }`, {}, {}, at);
      };
      assert.deepEqual((await ask(2)).body, { data: { user: { a0: null, a1: null } } });
      assert.equal(graphqlServer.requests.length, 1);
      const { body } = await ask(20);
      restore();
      const message = 'the operation for the data source notes is longer than 262144 characters';
      assert.deepEqual([body, graphqlServer.requests.length], [{ errors: [{ message }], data: null }, 0]);
    });

    test('a source without a name has not the response of one that is named like its number', async () => {
      const data_sources = [
        rest('2', 'Query', ['first'], { url: `${server.url}/v1` }),
        rest('', 'Query', ['broken'], { url: `${graphqlServer.url}/v1` }),
      ];
      const field_configs = [whole('Query', 'first'), whole('Query', 'broken')];
      const at = await publishGraph({ data_sources, field_configs });
      reply(server, { name: 'own' });
      reply(graphqlServer, { name: 'other' });
      const { body } = await query('{ first { name } broken { name } }', {}, {}, at);
      restore();
      assert.deepEqual(body.data, { first: { name: 'own' }, broken: { name: 'other' } });
    });

    test('a quote in a comment of a fixed operation does not end the quotes around a value', async () => {
      const source = graphqlSource('fixed', [{ type: 'Query', fields: ['fixed'] }], {
        has_operation: true,
        operation: '{ # the 5" screen\n user(id: "{{.arguments.id}}") { name } }',
      });
      const field_configs = [{ ...whole('Query', 'fixed'), path: ['user'] }];
      const at = await publishGraph({ data_sources: [source], field_configs });
      const id = ') { name } admin: user(id: 1';
      await query('query ($i: ID) { fixed(id: $i) { name } }', { i: id }, {}, at);
      const { query: sent } = JSON.parse(graphqlServer.requests[0]!.body);
      assert.equal(sent, `{ \n user(id: ${JSON.stringify(id)}) { name } }`);
    });

    test('after a disconnect the further operations of a batch send nothing', async () => {
      const abort = new AbortController();
      const closed = Promise.withResolvers<void>();
      server.requests.length = 0;
      server.answer = (_request, response) => {
        response.on('close', closed.resolve);
        abort.abort();
      };
      const batch = ['1', '2', '3'].map(id => ({ query: `{ member(id: "${id}") { name } }` }));
      const { signal } = abort;
      const sent = fetch(url, { method: 'POST', headers: json, body: JSON.stringify(batch), signal });
      await assert.rejects(sent, { name: 'AbortError' });
      await closed.promise;
      answerRest(server);
      // A later request has passed the same thread: the batch is over.
      await fetch(`${url}?query=${encodeURIComponent('{ first { name } }')}`);
      assert.deepEqual(listUrls(), ['GET /members/1', 'GET /members']);
    });
  });

  describe('credentials', () => {
    test('a source on another host than the upstream gets the credential by a template alone', async () => {
      const other = (headers: object) => graphqlSource('users', [{ type: 'Query', fields: ['user'] }], { headers });
      for (const [headers, isSent] of [
        [{}, false],
        [{ Authorization: '{{ .request.headers.Authorization }}' }, true],
      ] as const) {
        const engine = { data_sources: [other(headers)], field_configs: [] };
        const definition = describeGraph(engine, {}, { use_keyless: false, use_standard_auth: true });
        const at = await publish(app, definition);
        const rights = { [definition.api_id]: { api_id: definition.api_id } };
        const { body } = await app.ask('POST', '/gw/keys', { body: { access_rights: rights } });
        const reply = await query('{ user(id: 1) { name } }', {}, { authorization: body.key }, at);
        assert.equal(reply.status, 200);
        const { headers: sent } = graphqlServer.requests[0]!;
        assert.equal(sent.authorization, isSent ? body.key : undefined);
      }
    });

    test('sources on the host of the upstream get the credential of the client unless the API strips it', async () => {
      for (const strip_auth_data of [false, true]) {
        const proxy = { target_url: server.url };
        const definition = describeGraph(
          {},
          {},
          { use_keyless: false, use_standard_auth: true, strip_auth_data, proxy },
        );
        const at = await publish(app, definition);
        const rights = {
          [definition.api_id]: { api_id: definition.api_id, restricted_types: [{ name: 'Member', fields: ['age'] }] },
        };
        const { body } = await app.ask('POST', '/gw/keys', { body: { access_rights: rights } });
        assert.equal((await query('{ members { name } }', {}, {}, at)).status, 401);
        const reply = await query('{ members { name } }', {}, { authorization: body.key, cookie: 'a=b' }, at);
        assert.equal(reply.status, 200);
        const { headers } = lastRequest();
        assert.deepEqual([headers.authorization, headers.cookie], [strip_auth_data ? undefined : body.key, undefined]);
        const refused = await query('{ members { age } }', {}, { authorization: body.key }, at);
        assert.deepEqual([refused.status, server.requests.length], [400, 0]);
      }
    });
  });

  describe('other APIs as sources', () => {
    test('a gw:// source passes the chain of the API that it names, and no API of its own accord', async () => {
      const inner = openApi(server, { name: 'Inner members', use_keyless: false, use_standard_auth: true });
      await publish(app, inner);
      const right = { [inner.api_id]: { api_id: inner.api_id } };
      const { body: created } = await app.ask('POST', '/gw/keys', { body: { access_rights: right } });
      const source = (headers: object) => ({
        ...rest('inner', 'Query', ['members'], {
          url: 'gw://inner-members/members?x={{.request.headers.x-a}}',
          headers,
        }),
        internal: true,
      });
      const mapping = { field_configs: [whole('Query', 'members')] };
      const refused = await publishGraph({ data_sources: [source({})], ...mapping });
      const { body } = await query('{ members { name } }', {}, {}, refused);
      assert.equal(body.errors[0].message, 'the data source inner responded with status 401');
      assert.equal(server.requests.length, 0);
      const allowed = await publishGraph({ data_sources: [source({ Authorization: created.key })], ...mapping });
      const { body: answer } = await query('{ members { name } }', {}, { 'x-a': '1&y=2' }, allowed);
      assert.deepEqual(answer.data.members[0], { name: 'Ann' });
      assert.deepEqual(listUrls(), ['GET /members?x=1%26y%3D2']);
    });

    test('a graph that is its own source ends at the loop limit', async () => {
      const definition = describeGraph();
      const self = graphqlSource('self', [{ type: 'Query', fields: ['user'] }], { url: `gw://${definition.api_id}/` });
      const graphql = definition.graphql as { engine: object };
      graphql.engine = { data_sources: [self] };
      const at = await publish(app, definition);
      const { body } = await query('{ user { name } }', {}, {}, at);
      assert.equal(body.data.user, null);
      assert.equal(body.errors.length, 1);
    });

    test('graphs that are sources of each other share the bound of requests', async () => {
      const definition = describeGraph();
      const inner = rest('inner', 'Member', ['posts'], {
        url: `gw://${definition.api_id}/?query=%7Bmembers%7Bposts%7Bid%7D%7D%7D&n={{.object.id}}{{.arguments.limit}}`,
      });
      const graphql = definition.graphql as { engine: object };
      const list = rest('members', 'Query', ['members'], { url: `${server.url}/members` });
      const field_configs = [whole('Query', 'members'), { ...whole('Member', 'posts'), path: ['data', 'members'] }];
      graphql.engine = { data_sources: [list, inner], field_configs };
      const at = await publish(app, definition);
      const aliases = Array.from({ length: 4 }, (_, limit) => `a${limit}: posts(limit: ${limit}) { id }`);
      const { body } = await query(`{ members { ${aliases.join(' ')} } }`, {}, {}, at);
      assert.ok(body.data.members, JSON.stringify(body));
      assert.ok(server.requests.length <= 12, `${server.requests.length} requests`);
    });
  });

  test('a data graph of the first engine is served', async () => {
    const field = (type_name: string, field_name: string, data_source: object, mapping: object) => ({
      type_name,
      field_name,
      mapping,
      data_source,
    });
    const at = await publishGraph(
      { data_sources: [], field_configs: [] },
      {
        version: '1',
        schema: `${sdl} union Found = Dog | Problem type Problem { name: String } extend type Query { found: Found }`,
        type_field_configurations: [
          field(
            'Query',
            'member',
            {
              kind: 'HTTPJSONDataSource',
              data_source_config: {
                url: `${server.url}/members/{{.arguments.id}}`,
                method: 'GET',
                headers: [{ key: 'X-Old', value: 'yes' }],
              },
            },
            { disabled: true, path: '' },
          ),
          field(
            'Query',
            'user',
            { kind: 'GraphQLDataSource', data_source_config: { url: graphqlServer.url, method: 'POST' } },
            { disabled: false, path: 'user' },
          ),
          field(
            'Query',
            'found',
            {
              kind: 'HTTPJsonDataSource',
              data_source_config: {
                url: `${server.url}/missing`,
                default_type_name: 'Dog',
                status_code_type_name_mappings: [{ status_code: 404, type_name: 'Problem' }],
              },
            },
            { disabled: true, path: '' },
          ),
        ],
      },
    );
    const { body } = await query(
      '{ member(id: 1) { name } user { name } found { __typename ... on Problem { name } } }',
      {},
      {},
      at,
    );
    assert.deepEqual(body, {
      data: { member: { name: 'Ann' }, user: { name: 'Ann' }, found: { __typename: 'Problem', name: null } },
    });
    assert.equal(server.requests[0]!.headers['x-old'], 'yes');
  });

  test('a data graph that could not be executed is refused when it is written, with the place of the error', async () => {
    const source = (config: object, more: object = {}) => ({
      data_sources: [{ ...rest('s', 'Query', ['member'], config), ...more }],
      field_configs: [],
    });
    const ok = `${server.url}/`;
    for (const [engine, path, message] of [
      [source({ url: 'http://{{.arguments.id}}/' }), 'config.url', /fixed host/],
      [source({ url: 'ftp://a/' }), 'config.url', /http, https or gw/],
      [source({ url: 'http://169.254.169.254/' }), 'config.url', /169\.254/],
      [source({ url: ok, metod: 'GET' }), 'config.metod', /did you mean method/],
      [source({ url: ok, method: 'TRACE' }), 'config.method', /must be GET/],
      [source({ url: `${ok}{{.argument.id}}` }), 'config.url', /did you mean \.arguments/],
      [source({ url: `${ok}{{.arguments.ident}}` }), 'config.url', /no such argument/],
      [source({ url: `${ok}{{.object.id}}` }), 'config.url', /has no parent object/],
      [source({ url: `${ok}{{.arguments.id` }), 'config.url', /not closed/],
      [source({ url: ok }, { kind: 'Rest2' }), 'kind', /did you mean REST/],
      [source({ url: ok }, { internal: true }), 'config.url', /must be gw:/],
      [
        source({ url: ok }, { root_fields: [{ type: 'Query', fields: ['mebmer'] }] }),
        'root_fields[0].fields[0]',
        /did you mean member/,
      ],
      [
        source({ url: ok }, { root_fields: [{ type: 'Subscription', fields: ['changed'] }] }),
        'root_fields[0].fields[0]',
        /needs a GraphQL or Kafka source/,
      ],
      [{ field_configs: [whole('Member', 'nope')] }, 'field_configs', /did you mean name/],
      [{ global_headers: [{ key: 'a b', value: '' }] }, 'global_headers[0].key', /not a header name/],
      [
        { global_headers: [{ key: 'a', value: '{{.arguments.id}}' }] },
        'global_headers[0].value',
        /headers of the request/,
      ],
      [{ global_headers: [{ key: 'a', value: '{{.arg' }] }, 'global_headers[0].value', /not closed/],
    ] as const) {
      const { status, text } = await app.ask('POST', '/api/apis', { body: { api_definition: describeGraph(engine) } });
      assert.equal(status, 400, text);
      assert.ok(text.includes(path), text);
      assert.match(text, message);
    }
  });
});

withSettings('Timeout of data graphs', { 'graphql.execution_timeout_ms': '300' }, (app, upstream) => {
  test('graphql.execution_timeout_ms: an operation that takes longer has no data', async () => {
    const data_sources = [rest('slow', 'Query', ['slow'], { url: `${upstream().url}/slow` })];
    const graphql = {
      enabled: true,
      execution_mode: 'executionEngine',
      schema: 'type Query { slow: Int }',
      engine: { data_sources },
    };
    const url = await publish(app(), openApi({ url: '' }, { graphql }));
    upstream().answer = () => undefined;
    const reply = await fetch(url, { method: 'POST', headers: json, body: '{"query":"{ slow }"}' });
    assert.deepEqual(await reply.json(), {
      errors: [{ message: 'the operation took longer than 300 ms' }],
      data: null,
    });
  });
});

const members = [
  { id: '1', name: 'Ann', age: 30, meta: { tags: ['a', 'b'] } },
  { id: '2', name: 'Bob', age: 40 },
];
let counted = 0;

function answerRest(upstream: Upstream): void {
  upstream.answer = (request, response, body) => {
    if (request.method === 'POST' && request.url === '/members') return void response.end(body);
    if (request.url === '/count') return void response.end(String(++counted));
    respondRest(request.url!, response);
  };
}

function respondRest(url: string, response: { writeHead(status: number): { end(text: string): unknown } }): void {
  const [path = ''] = url.split('?');
  const [, collection, id, below] = path.split('/');
  const reply = (value: unknown, status = 200) => void response.writeHead(status).end(JSON.stringify(value));
  if (path === '/text') return void response.writeHead(200).end('<p>');
  if (collection === 'search') return reply([]);
  if (collection === 'animals')
    return reply([
      { __typename: 'Dog', name: 'Rex', barks: true },
      { __typename: 'Cat', name: 'Tom', lives: 9 },
    ]);
  if (collection === 'users') return reply([{ id: `order of ${id}` }]);
  if (collection !== 'members') return reply({}, 404);
  if (below === 'posts')
    return reply([1, 2].map(at => ({ id: `${id}-${at}`, title: `Post ${at} of ${id}`, author_id: id })));
  if (id === undefined) return reply(members);
  return reply(members.find(it => it.id === id) ?? { id, name: decodeURIComponent(id) });
}

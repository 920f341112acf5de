import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { problem } from '../../src/apis/graphql-schema/problems.ts';
import { problem as apisProblem } from '../../src/apis/problems.ts';
import { expectProblem } from '../contract/expect-problem.ts';
import { onEveryEngine } from '../support/app.ts';
import { openApi, publish } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const booksSdl = 'type Book @key(fields: "id") { id: ID! title: String } type Query { books: [Book!]! }';
const ratingsSdl = (type: string) => `extend type Book @key(fields: "id") { id: ID! @external stars: ${type} }`;
const withPages = booksSdl.replace('title: String', 'title: String pages: Int');

onEveryEngine('POST /api/apis/{apiId}/graphql/subgraphs', app => {
  let books: Upstream;
  let ratings: Upstream;
  before(async () => {
    [books, ratings] = await Promise.all([startUpstream(), startUpstream()]);
  });
  after(async () => {
    await Promise.all([books?.close(), ratings?.close()]);
  });
  const serve = (server: Upstream, sdl: string) => {
    server.requests.length = 0;
    server.answer = (_request, response) => void response.end(JSON.stringify({ data: { _service: { sdl } } }));
  };

  async function publishSupergraph(supergraph: object = {}, ratingsUrl = ratings.url) {
    const subgraphs = [
      {
        name: 'books',
        url: books.url,
        sdl: booksSdl,
        headers: { 'X-Own': 'b', 'X-User': '{{ .request.headers.X-User }}' },
      },
      { name: 'ratings', url: ratingsUrl, sdl: ratingsSdl('Int') },
    ];
    const block = { enabled: true, execution_mode: 'supergraph', version: '2' };
    const definition = openApi(
      { url: 'http://127.0.0.1:1' },
      { graphql: { ...block, supergraph: { subgraphs, ...supergraph } } },
    );
    const url = await publish(app(), definition);
    const path = `/api/apis/${definition.api_id}/graphql/subgraphs`;
    const read = async () => {
      const { body } = await app().ask('GET', `/api/apis/${definition.api_id}`);
      return { updatedAt: body.updated_at, supergraph: body.api_definition.graphql.supergraph };
    };
    return { url, path, read, update: (body: object = {}) => app().ask('POST', `${path}?wait=applied`, { body }) };
  }

  test('the SDL of all subgraphs is fetched with their fixed headers, and requests use the new composition', async () => {
    const { url, update, read } = await publishSupergraph({ global_headers: { 'X-All': 'a' } });
    serve(books, withPages);
    serve(ratings, ratingsSdl('Int'));
    const { status, text, body } = await update();
    assert.equal(status, 200, text);
    assert.deepEqual(body.subgraphs, [
      { name: 'books', changed: true },
      { name: 'ratings', changed: false },
    ]);
    assert.equal(body.changed, true);
    const { headers, body: sent } = books.requests[0]!;
    assert.deepEqual([headers['x-all'], headers['x-own'], headers['x-user']], ['a', 'b', undefined]);
    assert.match(String(sent), /_service/);
    const { supergraph } = await read();
    assert.equal(supergraph.subgraphs[0].sdl, withPages);
    assert.ok(Date.parse(supergraph.updated_at) > 0);
    const reply = await fetch(`${url}/?query=${encodeURIComponent('{ __type(name: "Book") { fields { name } } }')}`);
    assert.match(await reply.text(), /"pages"/);
  });

  test('unchanged subgraphs leave the definition and its revisions', async () => {
    const { update, read } = await publishSupergraph();
    serve(books, booksSdl);
    serve(ratings, ratingsSdl('Int'));
    const earlier = await read();
    assert.ok(earlier.updatedAt);
    const { status, body } = await update();
    assert.deepEqual([status, body.changed, body.Message], [200, false, 'Subgraphs are unchanged']);
    assert.deepEqual(await read(), earlier);
  });

  test('named subgraphs alone are fetched', async () => {
    const { update } = await publishSupergraph();
    serve(books, withPages);
    serve(ratings, ratingsSdl('Float'));
    const { status, text, body } = await update({ subgraphs: ['ratings'] });
    assert.equal(status, 200, text);
    assert.deepEqual([body.subgraphs, books.requests.length], [[{ name: 'ratings', changed: true }], 0]);
  });

  test('the SDL of a subgraph with gw:// is that of its API, or of the upstream of this', async () => {
    const block = {
      enabled: true,
      execution_mode: 'subgraph',
      version: '2',
      schema: 'type Book { id: ID! } type Query { a: Int }',
    };
    const auth = { auth_headers: { 'X-Schema-Key': 'sdl-key' } };
    for (const subgraph of [{ sdl: ratingsSdl('Float') }, undefined]) {
      const api = openApi(ratings, { graphql: { ...block, proxy: auth, ...(subgraph && { subgraph }) } });
      await publish(app(), api);
      const { update, read } = await publishSupergraph({}, `gw://${api.api_id}`);
      serve(books, booksSdl);
      serve(ratings, ratingsSdl('Boolean'));
      const { status, text } = await update();
      assert.equal(status, 200, text);
      assert.equal((await read()).supergraph.subgraphs[1].sdl, ratingsSdl(subgraph ? 'Float' : 'Boolean'));
      assert.equal(ratings.requests.at(-1)?.headers['x-schema-key'], subgraph ? undefined : 'sdl-key');
    }
  });

  test('merged_sdl stays, and is replaced by the composed schema where that is asked for', async () => {
    const merged_sdl = 'type Book { id: ID! title: String } type Query { books: [Book!]! }';
    const { update, read } = await publishSupergraph({ merged_sdl });
    serve(books, withPages);
    serve(ratings, ratingsSdl('Int'));
    assert.equal((await update()).status, 200);
    assert.equal((await read()).supergraph.merged_sdl, merged_sdl);
    const { status, text, body } = await update({ replace_merged_sdl: true });
    assert.equal(status, 200, text);
    assert.equal(body.changed, true);
    assert.match((await read()).supergraph.merged_sdl, /pages: Int[\s\S]*stars: Int|stars: Int[\s\S]*pages: Int/);
  });

  test('a subgraph that fails or does not compose is named, and the supergraph does not change', async () => {
    const { path, update, read } = await publishSupergraph();
    const earlier = await read();
    serve(books, withPages);
    ratings.answer = (_request, response) => void response.writeHead(500).end();
    await expectProblem(app(), 'updateSubgraphs', problem.subgraphs_not_fetched, path, { body: {} });
    assert.match((await update()).text, /ratings: its server responded with status 500/);
    ratings.answer = (_request, response) => void response.writeHead(302, { location: books.url }).end();
    assert.match((await update()).text, /ratings: its server responded with status 302/);
    ratings.answer = (_request, response) => void response.end('{"errors":[]}');
    assert.match((await update()).text, /ratings: its server returned no SDL/);
    serve(ratings, ratingsSdl('Missing'));
    const refused = await update();
    assert.equal(refused.status, 400);
    assert.match(refused.text, /graphql\.supergraph\.subgraphs\[1\]\.sdl.*Missing/);
    assert.deepEqual(await read(), earlier);
    const { update: updateLost } = await publishSupergraph({}, 'gw://unknown-subgraph');
    assert.match((await updateLost({ subgraphs: ['ratings'] })).text, /ratings: its url is not the id of an API/);
  });

  test('requests that cannot be served are refused with the reason', async () => {
    const { path } = await publishSupergraph();
    const expectRefusal = (of: typeof problem.api_not_supergraph, at: string, body: object, credential?: string) =>
      expectProblem(app(), 'updateSubgraphs', of, at, { body, ...(credential && { credential }) });
    await expectRefusal(problem.subgraph_unknown, path, { subgraphs: ['book'] });
    await expectRefusal(apisProblem.definition_not_found, '/api/apis/unknown/graphql/subgraphs', {});
    const { accessKey } = await app().stranger();
    await expectRefusal(apisProblem.definition_not_found, path, {}, accessKey);
    const proxy = openApi(books, { graphql: { enabled: true, schema: 'type Query { a: Int }' } });
    await publish(app(), proxy);
    await expectRefusal(problem.api_not_supergraph, `/api/apis/${proxy.api_id}/graphql/subgraphs`, {});
  });
});

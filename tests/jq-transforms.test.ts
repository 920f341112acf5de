import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { onEveryEngine, startApp, type TestApp } from './support/app.ts';
import { openApi, publish } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

interface Shape {
  request?: string;
  response?: string;
  context?: boolean;
  more?: Record<string, object[]>;
  members?: object;
}

/** One endpoint, `/x`. Only the classic format has filters. */
const filtering = (upstream: Upstream, { request, response, context = false, more = {}, members = {} }: Shape) =>
  openApi(upstream, {
    enable_context_vars: context,
    ...members,
    version_data: {
      not_versioned: true,
      versions: {
        Default: {
          name: 'Default',
          use_extended_paths: true,
          extended_paths: {
            ...(request === undefined ? {} : { transform_jq: [{ path: '/x', method: 'POST', filter: request }] }),
            ...(response === undefined
              ? {}
              : { transform_jq_response: [{ path: '/x', method: 'POST', filter: response }] }),
            ...more,
          },
        },
      },
    },
  });

const respondWith =
  (body: string | Buffer, headers: Record<string, string> = {}, status = 200) =>
  (_request: unknown, response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body);
  };

async function post(url: string, body?: string | Buffer, headers: Record<string, string> = {}) {
  const init = { method: 'POST', headers, ...(body === undefined ? {} : { body: body as RequestInit['body'] }) };
  const reply = await fetch(`${url}/x`, init);
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
}

onEveryEngine('jq transforms on every engine', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream.close());

  test('request and response bodies are transformed by filters', async () => {
    const filters = { request: '{body: (.body | keys)}', response: '{body: (.body | del(.secret))}' };
    const url = await publish(app(), filtering(upstream, filters));
    upstream.answer = respondWith('{"id":12345678901234567890,"secret":"s"}');
    const { status, text, headers } = await post(url, '{"b":1,"a":2}');
    assert.equal(status, 200);
    assert.equal(text, '{"id":12345678901234567890}');
    assert.equal(headers.get('content-length'), String(text.length));
    const { body, headers: got } = upstream.requests.at(-1)!;
    assert.equal(body, '["a","b"]');
    assert.equal(got['content-length'], '9');
  });
});

describe('jq transforms', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
    app = await startApp('sqlite', {
      settings: { 'templates.max_steps': '5000', 'gateway.max_buffered_body_bytes': '20000' },
    });
  });
  after(async () => {
    await app.close();
    await upstream.close();
  });

  async function forwardBody(shape: Shape, body?: string | Buffer, headers?: Record<string, string>) {
    upstream.answer = undefined;
    const { status, text } = await post(await publish(app, filtering(upstream, shape)), body, headers);
    assert.equal(status, 200, text);
    return upstream.requests.at(-1)!;
  }
  async function returnBody(shape: Shape, body: string | Buffer, headers?: Record<string, string>, status?: number) {
    upstream.answer = respondWith(body, headers, status);
    return post(await publish(app, filtering(upstream, shape)), '{}');
  }

  test('a filter reads context variables and sets headers and variables, and a client cannot forge them', async () => {
    const request =
      '{body: ._gw_context.headers_X_Team, rewrite_headers: {"X-Sum": (.body.a + 1 | tostring)}, gw_context: {found: "it\\u00e9"}}';
    const more = {
      transform_headers: [{ path: '/x', method: 'POST', add_headers: { 'X-Found': '$gw_context.found' } }],
    };
    const got = await forwardBody({ request, context: true, more }, '{"a":1}', { 'x-team': 'red', 'x-sum': 'mine' });
    assert.equal(got.body, '"red"');
    assert.equal(got.headers['x-sum'], '2');
    assert.equal(got.headers['x-found'], Buffer.from('ité').toString('latin1'));
    const without = await forwardBody({ request: '{body: [._gw_context, .body._gw_context]}' }, '{"_gw_context":1}');
    assert.equal(without.body, '[null,1]');
  });

  test('a filter reads and sets response headers', async () => {
    const response = '{body: ._gw_response_headers["X-From"], rewrite_headers: {"X-From": "filter", "X-New": "a\\nb"}}';
    const { text, headers } = await returnBody({ response }, '{}', { 'x-from': 'upstream' });
    assert.equal(text, '["upstream"]');
    assert.equal(headers.get('x-from'), 'filter');
    assert.equal(headers.get('x-new'), 'a b');
  });

  test('a filter runs on the output of a template, and naming it as a processor has no effect', async () => {
    const template = (text: string) => [
      {
        path: '/x',
        method: 'POST',
        template_data: {
          input_type: 'json',
          template_mode: 'blob',
          template_source: Buffer.from(text).toString('base64'),
        },
      },
    ];
    const more = { transform: template('{"t": {{.a}}}'), transform_response: template('{"r": {{.a}}}') };
    const members = { response_processors: [{ name: 'response_body_transform_jq', options: {} }] };
    const filter = '{body: (.body + {jq: 1})}';
    const shape = { request: filter, response: filter, more, members };
    upstream.answer = respondWith('{"a":2}');
    const { text } = await post(await publish(app, filtering(upstream, shape)), '{"a":5}');
    assert.equal(text, '{"r":2,"jq":1}');
    assert.equal(upstream.requests.at(-1)!.body, '{"t":5,"jq":1}');
  });

  test('a message without a body stays without one when the filter sets none', async () => {
    const got = await forwardBody({ request: '{body: .body, rewrite_headers: {"X-A": "1"}}' });
    assert.deepEqual([got.body, got.headers['x-a']], ['', '1']);
    assert.equal((await forwardBody({ request: '{body: {made: true}}' })).body, '{"made":true}');
  });

  test('compressed bodies are decompressed', async () => {
    const packed = gzipSync('{"a":1}');
    const got = await forwardBody({ request: '{body: [.body.a]}' }, packed, { 'content-encoding': 'gzip' });
    assert.deepEqual([got.body, got.headers['content-encoding']], ['[1]', undefined]);
    const { text, headers } = await returnBody({ response: '{body: [.body.a]}' }, packed, {
      'content-encoding': 'gzip',
    });
    assert.deepEqual([text, headers.get('content-encoding')], ['[1]', null]);
  });

  test('a filter beyond its budget gets 500, in both directions', async () => {
    for (const greedy of ['{body: [range(1e9)]}', '{body: ("x" * 30000)}', 'def f: f; f']) {
      upstream.answer = respondWith('{}');
      const request = await post(await publish(app, filtering(upstream, { request: greedy })), '{}');
      assert.deepEqual(
        [request.status, JSON.parse(request.text)],
        [500, { error: 'Request body transform exceeded its limits' }],
      );
      const response = await returnBody({ response: greedy }, '{}');
      assert.deepEqual(
        [response.status, JSON.parse(response.text)],
        [500, { error: 'Response body transform exceeded its limits' }],
      );
    }
  });

  test('an API with an invalid filter is not served, and its status names the reason', async () => {
    for (const [filter, reason] of [
      ['.body |', 'the jq filter of /x is invalid: character 8: the filter ends too early'],
      ['nope', 'the jq filter of /x is invalid: character 1: nope/0 is not defined'],
      ['', 'the jq transform of /x has no filter'],
      [
        'env.HOME',
        'the jq filter of /x is invalid: character 1: env is not offered: a filter has no access beyond its input',
      ],
    ]) {
      const definition = filtering(upstream, { response: filter! });
      const url = await publish(app, definition);
      assert.equal((await post(url, '{}')).status, 503);
      const { body } = await app.ask('GET', `/gw/apis/${definition.api_id}/status`);
      assert.equal(body.reason, reason);
    }
  });
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { TestApp } from './support/app.ts';
import { type Published, publishBoth } from './support/both-formats.ts';
import { openApi, publish } from './support/traffic.ts';
import type { Upstream } from './support/upstream.ts';
import { withSettings } from './support/with-settings.ts';

type Direction = 'request' | 'response';
type Format = 'json' | 'xml';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const createVersionData = (lists: object) => ({
  version_data: {
    not_versioned: true,
    versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths: lists } },
  },
});

/** A template at `/x`, in both formats. */
function publishTemplate(app: TestApp, upstream: Upstream, direction: Direction, template: string, format: Format) {
  const template_data = { input_type: format, template_mode: 'blob', template_source: base64(template) };
  const list = direction === 'request' ? 'transform' : 'transform_response';
  const member = direction === 'request' ? 'transformRequestBody' : 'transformResponseBody';
  return publishBoth(app, upstream, {
    classic: createVersionData({ [list]: [{ path: '/x', method: 'POST', template_data }] }),
    oas: { middleware: { operations: { x: { [member]: { enabled: true, format, body: base64(template) } } } } },
    document: { paths: { '/x': { post: { operationId: 'x', responses: {} } } } },
  });
}

/** A filter at `/x`, which only the classic format has. */
async function publishFilter(app: TestApp, upstream: Upstream, direction: Direction, filter: string) {
  const list = direction === 'request' ? 'transform_jq' : 'transform_jq_response';
  const lists = { [list]: [{ path: '/x', method: 'POST', filter }] };
  return [{ url: await publish(app, openApi(upstream, createVersionData(lists))) }] as Pick<Published, 'url'>[];
}

interface Failure {
  readonly title: string;
  readonly template?: string;
  readonly filter?: string;
  readonly format?: Format;
  readonly body: string | Buffer;
  readonly headers?: Record<string, string>;
  /** Refusal of a request, then what becomes of a response. */
  readonly refusals: readonly [request: number, response: number];
  /** What a client gets of such a response where failures pass; by default the body of the upstream. */
  readonly passed?: string;
  readonly isBound?: boolean;
}

const many = `[${'{},'.repeat(150)}{}]`;

const failures: readonly Failure[] = [
  { title: 'malformed JSON', template: '{{.a}}', body: '{"a":', refusals: [400, 502], passed: '<no value>' },
  {
    title: 'malformed XML',
    template: '{{.a}}',
    format: 'xml',
    body: '<a>',
    refusals: [400, 502],
    passed: '<no value>',
  },
  {
    title: 'a document type',
    template: '{{.a}}',
    format: 'xml',
    body: '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>',
    refusals: [400, 502],
    passed: '<no value>',
  },
  { title: 'a template error', template: '{{.a.b}}', body: '{"a":1}', refusals: [500, 500] },
  { title: 'a template that calls fail', template: '{{fail "no"}}', body: '{"a":1}', refusals: [500, 500] },
  {
    title: 'an unknown coding',
    template: '{{.a}}',
    body: 'plain',
    headers: { 'content-encoding': 'zip' },
    refusals: [400, 502],
  },
  {
    title: 'a body not packed as it says',
    template: '{{.a}}',
    body: 'plain',
    headers: { 'content-encoding': 'x-gzip' },
    refusals: [400, 502],
  },
  {
    title: 'four codings',
    filter: '{body: 1}',
    body: 'plain',
    headers: { 'content-encoding': 'zip, zip, zip, zip' },
    refusals: [400, 502],
  },
  {
    title: 'malformed JSON for a filter',
    filter: '{body: [.body]}',
    body: 'no',
    refusals: [400, 502],
    passed: '[null]',
  },
  { title: 'a filter error', filter: '{body: .body.a.b}', body: '{"a":1}', refusals: [500, 500] },
  { title: 'a filter without a body', filter: '.body', body: '{"a":1}', refusals: [500, 500] },
  { title: 'a filter without a result', filter: 'empty', body: '{"a":1}', refusals: [500, 500] },
  ...['{"Content-Length": "1"}', '{"a b": "1"}', '{"X-A": 1}', '[]'].map(headers => ({
    title: `a filter that sets headers ${headers}`,
    filter: `{body: 1, rewrite_headers: ${headers}}`,
    body: '{"a":1}',
    refusals: [500, 500] as const,
  })),
  { title: 'a body of too many values', template: '{{.a}}', body: many, refusals: [413, 500], isBound: true },
  { title: 'a filter over too many values', filter: '{body: 1}', body: many, refusals: [413, 500], isBound: true },
  {
    title: 'a number of too many digits',
    template: '{{.a}}',
    body: `{"a":${'9'.repeat(1001)}}`,
    refusals: [413, 500],
    isBound: true,
  },
  {
    title: 'XML of too many elements',
    template: '{{.a}}',
    format: 'xml',
    body: `<a>${'<b/>'.repeat(150)}</a>`,
    refusals: [413, 500],
    isBound: true,
  },
  {
    title: 'XML nested too deep',
    template: '{{.a}}',
    format: 'xml',
    body: `${'<a>'.repeat(101)}${'</a>'.repeat(101)}`,
    refusals: [413, 500],
    isBound: true,
  },
];

const publishFailure = (app: TestApp, upstream: Upstream, direction: Direction, it: Failure) =>
  it.filter === undefined
    ? publishTemplate(app, upstream, direction, it.template!, it.format ?? 'json')
    : publishFilter(app, upstream, direction, it.filter);

/** With no content coding undone: fetch would fail on those that are wrong. */
async function post(url: string, body: string | Buffer, headers: Record<string, string> = {}) {
  const asked = request(`${url}/x`, { method: 'POST', headers, agent: false });
  asked.end(body);
  const [reply] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: reply.statusCode, headers: reply.headers, text: await text(reply) };
}

/** An upstream that answers with this body. */
const answerWith = (body: string | Buffer, headers: Record<string, string> = {}, status = 200) => {
  return (_request: unknown, response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'text/plain', 'x-upstream': 'yes', ...headers });
    response.end(body);
  };
};

const small = { 'gateway.max_body_values': '120' } as const;

withSettings('Body transform failures', small, (app, upstream) => {
  for (const it of failures) {
    test(`${it.title}: the request is refused and does not reach the upstream`, async () => {
      upstream().answer = undefined;
      for (const { url } of await publishFailure(app(), upstream(), 'request', it)) {
        const before = upstream().requests.length;
        const { status, text } = await post(url, it.body, it.headers);
        assert.equal(status, it.refusals[0], text);
        assert.equal(upstream().requests.length, before);
      }
    });

    test(`${it.title}: the response becomes an error without the upstream’s body and headers`, async () => {
      upstream().answer = answerWith(it.body, it.headers);
      for (const { url } of await publishFailure(app(), upstream(), 'response', it)) {
        const { status, headers, text } = await post(url, '{}');
        assert.equal(status, it.refusals[1], text);
        assert.equal(headers['x-upstream'], undefined);
        assert.match(text, /"error": "Response body (cannot be read|transform failed|transform exceeded its limits)"/);
      }
    });
  }

  test('an upstream’s error whose body cannot be read keeps its status', async () => {
    upstream().answer = answerWith('<html>not found</html>', {}, 404);
    const filter = await publishFilter(app(), upstream(), 'response', '{body: .body}');
    for (const { url } of [...(await publishTemplate(app(), upstream(), 'response', '{{.a}}', 'json')), ...filter]) {
      const { status, text } = await post(url, '{}');
      assert.deepEqual([status, JSON.parse(text)], [404, { error: 'Response body cannot be read' }]);
    }
  });

  test('the refusal of a request names the fault of the body and reveals nothing of the transform', async () => {
    for (const [body, template, error] of [
      ['{"a":', '{{.a}}', 'Request body cannot be read: the body is not JSON'],
      [many, '{{.a}}', 'Request body is too large: the body has more than 120 values'],
      ['{"a":1}', '{{fail "hidden"}}', 'Request body transform failed'],
    ] as const)
      for (const { url } of await publishTemplate(app(), upstream(), 'request', template, 'json'))
        assert.deepEqual(JSON.parse((await post(url, body)).text), { error });
  });
});

withSettings(
  'body transforms that fail, transforms.on_failure=pass',
  {
    ...small,
    'transforms.on_failure': 'pass',
  },
  (app, upstream) => {
    for (const it of failures) {
      const outcome = it.isBound ? 'is refused all the same' : 'goes on as it came';
      test(`${it.title}: the request ${outcome}`, async () => {
        upstream().answer = undefined;
        for (const { url } of await publishFailure(app(), upstream(), 'request', it)) {
          const before = upstream().requests.length;
          const { status, text } = await post(url, it.body, it.headers);
          assert.equal(status, it.isBound ? it.refusals[0] : 200, text);
          if (it.isBound) assert.equal(upstream().requests.length, before);
          else assert.equal(upstream().requests.at(-1)!.body, it.body);
        }
      });

      test(`${it.title}: the response ${outcome}, or as rendered without data`, async () => {
        upstream().answer = answerWith(it.body, it.headers);
        for (const { url } of await publishFailure(app(), upstream(), 'response', it)) {
          const { status, text } = await post(url, '{}');
          assert.equal(status, it.isBound ? it.refusals[1] : 200, text);
          if (!it.isBound) assert.equal(text, it.passed ?? it.body);
        }
      });
    }
  },
);

withSettings('Unknown response processors', { 'transforms.on_failure': 'pass' }, (app, upstream) => {
  test('transforms.on_failure=pass: an API that names one is served without it', async () => {
    const url = await publish(app(), openApi(upstream(), { response_processors: [{ name: 'nobody_knows_me' }] }));
    assert.equal((await fetch(url)).status, 200);
  });
});

withSettings('Limits of compressed bodies', { 'gateway.max_decompression_ratio': '20' }, (app, upstream) => {
  const gzip = { 'content-encoding': 'gzip' };
  const createPackedBody = (bytes: number) => gzipSync(JSON.stringify({ a: 'x'.repeat(bytes) }));

  test('gateway.max_decompression_ratio: a body above 1 MiB that exceeds the ratio is refused', async () => {
    upstream().answer = undefined;
    for (const { url } of await publishTemplate(app(), upstream(), 'request', '{{len .a}}', 'json')) {
      assert.equal((await post(url, createPackedBody(1_000_000), gzip)).status, 200);
      const before = upstream().requests.length;
      assert.equal((await post(url, createPackedBody(1_100_000), gzip)).status, 413);
      assert.equal(upstream().requests.length, before);
    }
    upstream().answer = answerWith(createPackedBody(1_100_000), gzip);
    for (const { url } of await publishTemplate(app(), upstream(), 'response', '{{len .a}}', 'json'))
      assert.equal((await post(url, '{}')).status, 500);
  });
});

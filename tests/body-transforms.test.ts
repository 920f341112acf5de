import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { onEveryEngine, startApp, type TestApp } from './support/app.ts';
import { type Published, publishBoth } from './support/both-formats.ts';
import { walkOf } from './support/doc-commands.ts';
import { findUnavailableReason } from './support/traffic.ts';
import { keyFor } from './support/transform-fixtures.ts';
import { type Received, startUpstream, type Upstream } from './support/upstream.ts';

interface Wish {
  template?: string;
  /** Instead of the template itself. */
  file?: string;
  format?: 'json' | 'xml';
}

interface Shape {
  request?: Wish;
  response?: Wish;
  method?: string;
  context?: boolean;
  guarded?: boolean;
  session?: boolean;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

const classicEntry = ({ template = '', file, format = 'json' }: Wish, method: string, session: boolean) => ({
  path: '/x',
  method,
  template_data: {
    input_type: format,
    template_mode: file ? 'file' : 'blob',
    template_source: file ?? base64(template),
    enable_session: session,
  },
});
const oasEntry = ({ template = '', file, format = 'json' }: Wish) => ({
  enabled: true,
  format,
  ...(file ? { path: file } : { body: base64(template) }),
});

/** One endpoint, `/x`, in both formats. */
function transforming(app: TestApp, upstream: Upstream, shape: Shape): Promise<Published[]> {
  const { request, response, method = 'POST', context = false, guarded = false, session = true } = shape;
  const lists = {
    ...(request ? { transform: [classicEntry(request, method, session)] } : {}),
    ...(response ? { transform_response: [classicEntry(response, method, session)] } : {}),
  };
  const operation = {
    ...(request ? { transformRequestBody: oasEntry(request) } : {}),
    ...(response ? { transformResponseBody: oasEntry(response) } : {}),
  };
  const authentication = { enabled: true, securitySchemes: { authToken: { enabled: true } } };
  const scheme = { authToken: { type: 'apiKey', in: 'header', name: 'Authorization' } };
  return publishBoth(app, upstream, {
    classic: {
      use_keyless: !guarded,
      ...(guarded ? { use_standard_auth: true, auth_configs: { authToken: {} } } : {}),
      enable_context_vars: context,
      version_data: {
        not_versioned: true,
        versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths: lists } },
      },
    },
    oas: {
      ...(guarded ? { server: { authentication } } : {}),
      middleware: { global: { contextVariables: { enabled: context } }, operations: { x: operation } },
    },
    document: {
      paths: { '/x': { [method.toLowerCase()]: { operationId: 'x', responses: { 200: { description: 'ok' } } } } },
      ...(guarded ? { components: { securitySchemes: scheme }, security: [{ authToken: [] }] } : {}),
    },
  });
}

const respondWith =
  (body: string | Buffer, headers: Record<string, string> = {}, status = 200) =>
  (_request: unknown, response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body);
  };

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function post(url: string, body?: string | Buffer, headers: Record<string, string> = {}): Promise<Reply> {
  const init = { method: 'POST', headers, ...(body === undefined ? {} : { body: body as RequestInit['body'] }) };
  const reply = await fetch(`${url}/x`, init);
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
}

onEveryEngine('Body transforms', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream.close());

  test('a JSON request body is transformed, in both formats', async () => {
    upstream.answer = undefined;
    const template =
      '{"who": {{.name | jsonMarshal}}, "tags": [{{range $i, $t := .tags}}{{if $i}},{{end}}"{{$t}}"{{end}}]}';
    for (const { url } of await transforming(app(), upstream, { request: { template } })) {
      const { status } = await post(url, '{"name":"Ann \\"A\\"","tags":["x","y"]}');
      assert.equal(status, 200);
      const { body, headers } = upstream.requests.at(-1)!;
      assert.equal(body, '{"who": "Ann \\"A\\"", "tags": ["x","y"]}');
      assert.equal(headers['content-length'], String(body.length));
    }
  });

  test('a JSON response body is transformed, in both formats', async () => {
    upstream.answer = respondWith('{"id":12345678901234567890,"secret":"s"}', { etag: '"v"', 'content-md5': 'x' });
    for (const { url } of await transforming(app(), upstream, { response: { template: '<id é="1">{{.id}}</id>' } })) {
      const { text, headers, status } = await post(url);
      assert.equal(status, 200);
      assert.equal(text, '<id é="1">12345678901234567890</id>');
      assert.equal(headers.get('content-length'), String(Buffer.byteLength(text)));
      assert.equal(headers.get('content-type'), 'application/json');
      assert.equal(headers.get('etag'), '"v"');
      assert.equal(headers.get('content-md5'), null);
    }
  });

  test('an XML request body becomes JSON, and a JSON response body becomes XML', async () => {
    upstream.answer = respondWith('{"order":{"-id":"7","item":["a","b"]}}');
    const shape = {
      request: { format: 'xml' as const, template: '{{. | jsonMarshal}}' },
      response: { template: '{{xmlMarshal .}}' },
    };
    for (const { url } of await transforming(app(), upstream, shape)) {
      const { text } = await post(url, '<?xml version="1.0"?><o id="7"><item>a</item><item>&lt;b</item></o>');
      assert.deepEqual(JSON.parse(upstream.requests.at(-1)!.body), { o: { '-id': '7', item: ['a', '<b'] } });
      assert.equal(text, '<order id="7"><item>a</item><item>b</item></order>');
    }
  });

  test('a JSON request body becomes XML, and an XML response body becomes JSON', async () => {
    upstream.answer = respondWith('<r><ok>yes</ok></r>', { 'content-type': 'text/xml' });
    const shape = {
      request: { template: '{{xmlMarshal .}}' },
      response: { format: 'xml' as const, template: '{"ok":"{{.r.ok}}"}' },
    };
    for (const { url } of await transforming(app(), upstream, shape)) {
      const { text } = await post(url, '{"a":{"b":1}}');
      assert.equal(upstream.requests.at(-1)!.body, '<a><b>1</b></a>');
      assert.equal(text, '{"ok":"yes"}');
    }
  });

  test('templates read key metadata and context variables, and a client cannot override either', async () => {
    upstream.answer = undefined;
    const template =
      '{{._gw_meta.plan}}|{{._gw_context.remote_addr}}|{{._gw_context.headers_X_Team}}|{{.a}}|$gw_meta.plan|$gw_context.headers_X_Team';
    const apis = await transforming(app(), upstream, { request: { template }, context: true, guarded: true });
    const key = await keyFor(app(), apis, { plan: 'gold & more' });
    for (const { url } of apis) {
      const body = '{"a":"$gw_meta.plan","_gw_meta":{"plan":"forged"},"_gw_context":{"remote_addr":"forged"}}';
      await post(url, body, { authorization: key, 'x-team': 'T"1' });
      assert.equal(upstream.requests.at(-1)!.body, 'gold & more|127.0.0.1|T"1|$gw_meta.plan|gold+%26+more|T%221');
    }
    for (const { url } of await transforming(app(), upstream, {
      request: { template: '{{._gw_meta.a}}{{._gw_context.a}}' },
    })) {
      await post(url, '{"_gw_meta":{"a":"forged"},"_gw_context":{"a":"forged"}}');
      assert.equal(upstream.requests.at(-1)!.body, '<no value><no value>');
    }
  });

  test('a template that modifies its data does not affect the next request', async () => {
    upstream.answer = undefined;
    const template = '{{._gw_meta.deep.n}}{{$_ := set ._gw_meta.deep "n" "changed"}}';
    const apis = await transforming(app(), upstream, { request: { template }, guarded: true });
    const key = await keyFor(app(), apis, { deep: { n: 'kept' } });
    for (const { url } of [...apis, ...apis]) {
      await post(url, '{}', { authorization: key });
      assert.equal(upstream.requests.at(-1)!.body, 'kept');
    }
  });
});

describe('Body transforms: bodies and limits', () => {
  let app: TestApp;
  let upstream: Upstream;
  const directory = mkdtempSync(join(tmpdir(), 'gw-templates-'));
  writeFileSync(join(directory, 'a.tmpl'), 'from a file: {{.a}}');

  before(async () => {
    upstream = await startUpstream();
    app = await startApp('sqlite', {
      settings: {
        'templates.directory': directory,
        'templates.max_steps': '5000',
        'gateway.max_buffered_body_bytes': '20000',
      },
    });
  });
  after(async () => {
    await app.close();
    await upstream.close();
    rmSync(directory, { recursive: true });
  });

  /** What the upstream got, for each format. */
  async function forwardBody(
    shape: Shape,
    body?: string | Buffer,
    headers?: Record<string, string>,
  ): Promise<Received[]> {
    upstream.answer = undefined;
    const got: Received[] = [];
    for (const { url } of await transforming(app, upstream, shape)) {
      const before = upstream.requests.length;
      const { status, text } = await post(url, body, headers);
      assert.equal(status, 200, text);
      assert.equal(upstream.requests.length, before + 1);
      got.push(upstream.requests.at(-1)!);
    }
    return got;
  }

  async function returnBody(shape: Shape, body: string | Buffer, headers?: Record<string, string>, status?: number) {
    upstream.answer = respondWith(body, headers, status);
    const got: Reply[] = [];
    for (const { url } of await transforming(app, upstream, shape)) got.push(await post(url, '{}'));
    return got;
  }

  test('a JSON array is .array; an empty body and a scalar are an empty object', async () => {
    const template = '{{len .}}:{{range .array}}{{.}};{{end}}';
    for (const [body, expected] of [
      ['[1,"a",{"b":2}]', '1:1;a;map[b:2];'],
      [undefined, '0:'],
      ['', '0:'],
      ['null', '0:'],
      ['"text"', '0:'],
      ['\ufeff[1]', '1:1;'],
      ['{"array":1,"array":[2]}', '1:2;'],
    ] as [string | undefined, string][])
      for (const got of await forwardBody({ request: { template } }, body))
        assert.equal(got.body, expected, String(body));
  });

  test('a compressed request body is decompressed and forwarded uncompressed', async () => {
    const plain = '{"a":"packed"}';
    for (const [coding, body] of Object.entries({
      gzip: gzipSync(plain),
      'x-gzip': gzipSync(plain),
      deflate: deflateSync(plain),
      br: brotliCompressSync(plain),
      'gzip, br': brotliCompressSync(gzipSync(plain)),
      identity: Buffer.from(plain),
    }))
      for (const got of await forwardBody({ request: { template: '{{.a}}' } }, body, { 'content-encoding': coding })) {
        assert.equal(got.body, 'packed', coding);
        assert.equal(got.headers['content-encoding'], undefined);
        assert.equal(got.headers['content-length'], '6');
      }
    const raw = { 'content-encoding': 'deflate' };
    for (const got of await forwardBody({ request: { template: '{{.a}}' } }, deflateRawSync(plain), raw))
      assert.equal(got.body, 'packed');
  });

  test('a body beyond the buffer limit is refused, compressed or not', async () => {
    upstream.answer = undefined;
    for (const { url } of await transforming(app, upstream, { request: { template: '{{.a}}' } })) {
      const large = Buffer.from(JSON.stringify({ a: 'x'.repeat(30_000) }));
      const before = upstream.requests.length;
      assert.deepEqual((({ status, text }) => [status, text])(await post(url, large)), [
        413,
        'Request Entity Too Large',
      ]);
      const packed = await post(url, gzipSync(large), { 'content-encoding': 'gzip' });
      assert.deepEqual([packed.status, packed.text], [413, 'Request Entity Too Large']);
      assert.equal(upstream.requests.length, before);
    }
    for (const body of [Buffer.alloc(30_000, ' '), gzipSync(Buffer.alloc(30_000, ' '))])
      for (const got of await returnBody(
        { response: { template: '{{.a}}' } },
        body,
        body.length < 20_000 ? { 'content-encoding': 'gzip' } : {},
      )) {
        assert.equal(got.status, 500);
        assert.equal(got.text, '{\n    "error": "Response body too large"\n}');
        assert.equal(got.headers.get('content-encoding'), null);
      }
  });

  test('a template beyond its budget is refused, in both directions', async () => {
    upstream.answer = undefined;
    const greedy = [
      '{{range until 90000}}x{{end}}',
      '{{repeat 30000 "x"}}',
      '{{define "r"}}{{template "r"}}{{end}}{{template "r"}}',
    ];
    for (const template of greedy) {
      for (const { url } of await transforming(app, upstream, { request: { template } })) {
        const before = upstream.requests.length;
        const { status, text } = await post(url, '{}');
        assert.equal(status, 500);
        assert.equal(text, '{\n    "error": "Request body transform exceeded its limits"\n}');
        assert.equal(upstream.requests.length, before);
      }
      for (const { status, text, headers } of await returnBody({ response: { template } }, '{}', { 'x-secret': 's' })) {
        assert.equal(status, 500);
        assert.equal(text, '{\n    "error": "Response body transform exceeded its limits"\n}');
        assert.equal(headers.get('x-secret'), null);
      }
    }
    const deep = '<a>'.repeat(200) + '</a>'.repeat(200);
    for (const { url } of await transforming(app, upstream, { request: { format: 'xml', template: '{{.}}' } }))
      assert.equal((await post(url, deep)).status, 413);
  });

  test('a compressed response body is decompressed and sent uncompressed', async () => {
    const plain = '{"a":"packed"}';
    for (const [coding, body] of Object.entries({
      gzip: gzipSync(plain),
      deflate: deflateSync(plain),
      br: brotliCompressSync(plain),
    }))
      for (const got of await returnBody({ response: { template: '{{.a}}!' } }, body, { 'content-encoding': coding })) {
        assert.equal(got.text, 'packed!');
        assert.equal(got.headers.get('content-encoding'), null);
        assert.equal(got.headers.get('content-length'), '7');
      }
  });

  test('the upstream request has no range and only supported content codings', async () => {
    const asked = { range: 'bytes=0-1', 'accept-encoding': 'zstd' };
    for (const { headers } of await forwardBody({ response: { template: '{{.method}}' } }, '{}', asked)) {
      assert.equal(headers.range, undefined);
      assert.equal(headers['accept-encoding'], 'gzip, deflate, br');
    }
  });

  test('a response without a body stays without one', async () => {
    upstream.answer = (request, response) => {
      response.writeHead(
        request.method === 'HEAD' ? 200 : 204,
        request.method === 'HEAD' ? { 'content-length': '99' } : {},
      );
      response.end();
    };
    for (const { url } of await transforming(app, upstream, { response: { template: 'x' } }))
      assert.equal((await post(url, '{}')).status, 204);
    for (const { url } of await transforming(app, upstream, { method: 'HEAD', response: { template: 'x' } })) {
      const { status, headers } = await fetch(`${url}/x`, { method: 'HEAD' });
      assert.deepEqual([status, headers.get('content-length')], [200, null]);
    }
  });

  test('a streaming response is not buffered', async () => {
    for (const type of ['text/event-stream', 'multipart/x-mixed-replace; boundary=a'])
      for (const { text } of await returnBody({ response: { template: 'x' } }, 'data: 1\n\n', { 'content-type': type }))
        assert.equal(text, 'data: 1\n\n', type);
  });

  test('other endpoints and methods pass unchanged', async () => {
    upstream.answer = undefined;
    for (const { url } of await transforming(app, upstream, {
      request: { template: 'x' },
      response: { template: 'y' },
    })) {
      const reply = await fetch(`${url}/other`, { method: 'POST', body: '{}' });
      assert.equal(((await reply.json()) as { body: string }).body, '{}');
    }
  });

  test('template files are read from the configured directory', async () => {
    for (const got of await forwardBody({ request: { file: 'a.tmpl' } }, '{"a":1}'))
      assert.equal(got.body, 'from a file: 1');
  });

  test('an API with an invalid template is not served, and its status names the reason', async () => {
    for (const [wish, why] of [
      [{ template: '{{.a' }, 'the body template of /x is invalid: line 1: unclosed action'],
      [{ template: '{{nope}}' }, 'the body template of /x is invalid: line 1: function "nope" not defined'],
      [{ file: 'missing.tmpl' }, 'the body template of /x is invalid: the file missing.tmpl cannot be read: ENOENT'],
      [{ file: '../../etc/passwd' }, 'the body template of /x is invalid: the file ../../etc/passwd'],
      [{ template: '$secret_env.NOPE' }, 'the secret $secret_env.NOPE is missing'],
    ] as const)
      for (const { url } of await transforming(app, upstream, { request: wish })) {
        const reason = await findUnavailableReason(app, `${url}/x`);
        assert.ok(reason.includes(why), reason);
      }
  });

  test('the example of the guide works as documented', async () => {
    upstream.answer = undefined;
    const { run, promised } = walkOf('docs/guide/body-transforms.md');
    assert.equal(promised.length, 4);
    await run({ CONTROL: app.url.dashboard, GATEWAY: app.url.gateway, DATA: app.directory, UPSTREAM: upstream.url });
  });

  test('a classic definition exposes metadata to templates only with enable_session', async () => {
    upstream.answer = undefined;
    const shape = { request: { template: '{{._gw_meta.a}}' }, guarded: true, session: false };
    const apis = await transforming(app, upstream, shape);
    const key = await keyFor(app, apis, { a: 'm' });
    const bodies: string[] = [];
    for (const { url } of apis) {
      await post(url, '{}', { authorization: key });
      bodies.push(upstream.requests.at(-1)!.body);
    }
    assert.deepEqual(bodies, ['<no value>', 'm']);
  });
});

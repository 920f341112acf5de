import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { rememberSecrets, startApp, type TestApp } from './support/app.ts';
import { type Published, publishBoth } from './support/both-formats.ts';
import { eventually, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

interface Part {
  relative_url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}
interface Result {
  relative_url: string;
  code: number;
  headers: Record<string, string[]>;
  body: string;
}

describe('Batch requests', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    const settings = {
      'gateway.max_body_values': '2000',
      'gateway.max_batch_requests': '20',
      'gateway.max_batch_bytes': '20000',
      'gateway.batch_timeout_ms': '2000',
      'gateway.trusted_proxies': '127.0.0.0/8',
    };
    [app, upstream] = await Promise.all([startApp('sqlite', { settings }), startUpstream()]);
  });
  after(async () => {
    await app.close();
    await upstream.close();
  });

  const batches = (more: { classic?: object; oas?: object } = {}) =>
    publishBoth(app, upstream, {
      classic: { enable_batch_request_support: true, ...more.classic },
      oas: {
        server: { batchProcessing: { enabled: true }, ...more.oas },
        middleware: { global: { trafficLogs: { enabled: true } } },
      },
    });
  const send = (url: string, body: unknown, init: RequestInit = {}) =>
    fetch(`${url}/gw/batch/`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...init,
    });
  const results = async (url: string, requests: Part[], init: RequestInit = {}, more: object = {}) => {
    const reply = await send(url, { requests, ...more }, init);
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get('content-type'), 'application/json');
    return (await reply.json()) as Result[];
  };
  const codes = (list: Result[]) => list.map(({ code }) => code);
  const echo = ({ body }: Result) =>
    JSON.parse(body) as { method: string; url: string; body: string; headers: Headers };
  type Headers = Record<string, string>;
  const withKey = { classic: { use_keyless: false }, oas: { authentication: { enabled: true } } };
  async function keyFor({ apiId }: Published, more: object): Promise<string> {
    const access_rights = { [apiId]: { versions: ['Default'] } };
    const { body, text } = await app.ask('POST', '/api/keys', { body: { access_rights, ...more } });
    assert.ok(body?.key_id, text);
    rememberSecrets({ key: body.key_id });
    await waitUntilApplied(app);
    return body.key_id;
  }

  test('a part forwards no gateway secret to an upstream and no address that cannot be sent', async () => {
    for (const { url } of await batches()) {
      const before = upstream.requests.length;
      const headers = { 'X-Gw-Explain': 'canary', x_gw_explain: 'canary' };
      const list = await results(url, [
        { relative_url: '/a', headers },
        { relative_url: '/b?\u0001' },
        { relative_url: '/c?a=\u0000b' },
        { relative_url: '/d?a=\u007f' },
      ]);
      assert.deepEqual(codes(list), [200, 400, 400, 400]);
      assert.equal(upstream.requests.length, before + 1);
      assert.doesNotMatch(JSON.stringify(upstream.requests.at(-1)), /canary/);
    }
  });

  test('each part is answered like a single request, in order', async () => {
    for (const { url, format } of await batches()) {
      const list = await results(url, [
        { relative_url: 'a?x=1', headers: { 'X-Own': 'one' } },
        { method: 'POST', relative_url: '/b', body: 'sent', headers: { 'Content-Type': 'text/plain' } },
        { method: 'DELETE', relative_url: '' },
      ]);
      assert.deepEqual(
        list.map(it => [it.relative_url, it.code, echo(it).method, echo(it).url, echo(it).body]),
        [
          ['a?x=1', 200, 'GET', '/a?x=1', ''],
          ['/b', 200, 'POST', '/b', 'sent'],
          ['', 200, 'DELETE', '/', ''],
        ],
        format,
      );
      assert.equal(echo(list[0]!).headers['x-own'], 'one');
      assert.equal(echo(list[1]!).headers['x-own'], undefined);
      assert.deepEqual(list[0]!.headers['content-type'], ['application/json']);
    }
  });

  test('parts run in sequence when requested, and concurrently otherwise', async () => {
    const [{ url }] = (await batches()) as [Published];
    const parts = Array.from({ length: 12 }, (_, n) => ({ relative_url: `${n}` }));
    const waiting: ServerResponse[] = [];
    let widest = 0;
    let enough = 1;
    upstream.answer = (_request, response) => {
      waiting.push(response);
      widest = Math.max(widest, waiting.length);
      if (waiting.length >= enough) for (const it of waiting.splice(0)) it.end('{}');
    };
    try {
      assert.deepEqual(
        codes(await results(url, parts, {}, { suppress_parallel_execution: true })),
        Array(12).fill(200),
      );
      assert.equal(widest, 1);
      // Nobody is answered before four are there, so four must be on their way at once.
      enough = 4;
      assert.deepEqual(codes(await results(url, parts)), Array(12).fill(200));
    } finally {
      upstream.answer = undefined;
    }
  });

  test('the batch itself needs no credential; each part has its own and is counted and recorded', async () => {
    for (const api of await batches(withKey)) {
      const key = await keyFor(api, { rate: 2, per: 1000 });
      const own = { authorization: key };
      const list = await results(
        api.url,
        [
          { relative_url: 'a' },
          { relative_url: 'b', headers: own },
          { relative_url: 'c', headers: own },
          { relative_url: 'd', headers: own },
        ],
        { headers: { authorization: key } },
        { suppress_parallel_execution: true },
      );
      assert.deepEqual(codes(list), [401, 200, 200, 429], api.format);
      assert.equal(list[0]!.body, '{\n    "error": "Authorization field missing"\n}');
      assert.deepEqual(list[3]!.headers['Retry-After']?.length, 1);
      await eventually(async () => {
        const { body } = await app.ask('GET', `/api/usage/apis/${api.apiId}/1/1/2020/31/12/2099`);
        assert.equal(body.data[0]?.hits, 4);
      });
    }
  });

  const outside = [
    'http://127.0.0.1/x',
    'HTTPS://evil.example',
    '//evil.example/x',
    '\\\\evil',
    'gw://self',
    'a b',
    'a#b',
  ];
  test('an absolute or invalid URL refuses the whole batch before any part runs', async () => {
    for (const { url, format } of await batches()) {
      for (const relative_url of outside) {
        upstream.requests.length = 0;
        const reply = await send(url, { requests: [{ relative_url: 'a' }, { relative_url }] });
        assert.equal(reply.status, 400, relative_url);
        assert.deepEqual(await reply.json(), { status: 'error', message: 'Batch request malformed' });
        assert.equal(upstream.requests.length, 0, `${format} ${relative_url}`);
      }
    }
  });

  test('no encoding of a relative URL reaches another API', async () => {
    const [{ url }] = (await batches()) as [Published];
    const other = openApi(upstream);
    const otherPath = other.proxy.listen_path;
    const inner = openApi(upstream, { proxy: { listen_path: `${new URL(url).pathname}/inner` } });
    await publish(app, other);
    await publish(app, inner);
    upstream.requests.length = 0;
    const list = await results(url, [
      { relative_url: `..${otherPath}/x` },
      { relative_url: `%2e%2e${otherPath}/x` },
      { relative_url: `/../..${otherPath}/x` },
      { relative_url: `a/../..${otherPath}/x` },
      { relative_url: 'inner/x' },
      { relative_url: '..%2Fx' },
      { relative_url: '/..;/x' },
      { relative_url: 'a', headers: { Host: 'evil.example' } },
    ]);
    assert.deepEqual(codes(list), [404, 404, 404, 404, 404, 400, 400, 200]);
    assert.equal(list[0]!.body, 'Not Found');
    assert.equal(upstream.requests.length, 1);
    assert.equal(upstream.requests[0]!.headers['x-forwarded-host'], '127.0.0.1');
  });

  const claims = [
    'X-Real-IP',
    'x-real-ip',
    'X_Real_IP',
    'X-Forwarded-For',
    'x_forwarded_for',
    'Forwarded',
    'True-Client-IP',
    'X-Client-IP',
    'X-Original-URL',
  ];
  test('forwarding headers of a part are removed, and those of a trusted proxy for the batch apply to its parts', async () => {
    const only = { classic: { enable_ip_whitelisting: true, allowed_ips: ['192.0.2.1'] } };
    const lists = { ipAccessControl: { enabled: true, allow: ['192.0.2.1'] } };
    for (const { url, format } of await batches({ ...only, oas: lists })) {
      const parts = claims.map(name => ({ relative_url: 'a', headers: { [name]: '192.0.2.1' } }));
      const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
      assert.deepEqual(new Set(codes(await results(url, parts, from('203.0.113.9')))), new Set([403]), format);
      const [allowed] = await results(
        url,
        [{ relative_url: 'a', headers: { 'x-real-ip': '203.0.113.9' } }],
        from('192.0.2.1'),
      );
      assert.equal(allowed!.code, 200);
      assert.equal(echo(allowed!).headers['x-real-ip'], '192.0.2.1');
      assert.equal(echo(allowed!).headers['x-forwarded-for'], '192.0.2.1, 127.0.0.1');
    }
  });

  test('a part cannot be a batch', async () => {
    for (const { url, format } of await batches()) {
      const nested = JSON.stringify({ requests: [{ relative_url: 'a' }] });
      const [refused] = await results(url, [{ method: 'POST', relative_url: 'gw/batch/', body: nested }]);
      const body = '{\n    "error": "A batch request cannot hold another one"\n}';
      assert.deepEqual([refused!.code, refused!.body], [400, body], format);
    }
  });

  test('an invalid batch is refused with a specific error, and other methods are not accepted', async () => {
    for (const { url, format } of await batches()) {
      const wrong: unknown[] = [
        '{',
        '[]',
        '"x"',
        { requests: {} },
        { requests: [{}] },
        { requests: [{ relative_url: 1 }] },
      ];
      wrong.push({ requests: [{ relative_url: 'a', headers: { 'x y': '1' } }] });
      wrong.push({ requests: [{ relative_url: 'a', headers: { x: 'a\r\nb: c' } }] });
      wrong.push({ requests: [], more: new Array(2000).fill(1) });
      for (const body of wrong) {
        const reply = await send(url, body);
        assert.equal(reply.status, 400, `${format} ${JSON.stringify(body)}`);
        assert.deepEqual(await reply.json(), { status: 'error', message: 'Batch request malformed' });
      }
      assert.deepEqual(await results(url, []), []);
      const reply = await fetch(`${url}/gw/batch/`);
      assert.deepEqual([reply.status, await reply.text()], [200, '']);
    }
  });

  test('count, size and duration of parts are limited', async () => {
    const [{ url }] = (await batches()) as [Published];
    const many = await send(url, { requests: Array.from({ length: 21 }, () => ({ relative_url: 'a' })) });
    assert.equal(many.status, 400);
    assert.equal(await many.text(), '{\n    "error": "A batch request holds at most 20 requests"\n}');
    assert.equal((await send(url, ' '.repeat(30_000))).status, 413);
    upstream.answer = (request, response) => {
      if (request.url === '/never') return;
      response.end(request.url === '/large' ? 'x'.repeat(25_000) : 'small');
    };
    try {
      const list = await results(url, [{ relative_url: 'never' }, { relative_url: 'small' }]);
      assert.deepEqual(list[0], { relative_url: 'never', code: 0, headers: {}, body: '' });
      assert.deepEqual([list[1]!.code, list[1]!.body], [200, 'small']);
      assert.deepEqual(codes(await results(url, [{ relative_url: 'large' }])), [0]);
    } finally {
      upstream.answer = undefined;
    }
  });

  test('only APIs with batch support accept batches', async () => {
    const url = await publish(app, openApi(upstream));
    const { url: asked } = (await (await send(url, { requests: [] })).json()) as { url: string };
    assert.equal(asked, '/gw/batch/');
  });
});

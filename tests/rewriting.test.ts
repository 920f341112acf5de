import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import type { Published } from './support/both-formats.ts';
import { openApi, publish } from './support/traffic.ts';
import { type Endpoint, fetchForwarded, keyFor, type Shaping, shape } from './support/transform-fixtures.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

/** `fetch` would tidy the target before it is sent. */
function raw(url: string, target: string): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path: target }, response => {
      let body = '';
      response.on('data', chunk => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode!, body }));
    })
      .on('error', reject)
      .end();
  });
}

describe('URL rewriting', () => {
  let app: TestApp;
  let upstream: Upstream;
  let other: Upstream;
  before(async () => {
    [app, upstream, other] = await Promise.all([startApp('sqlite'), startUpstream(), startUpstream()]);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
    await other?.close();
  });
  const shapeApi = (wish: Shaping) => shape(app, upstream, wish);
  const rewrite = (pattern: string, to: string, more: Partial<Endpoint> = {}) =>
    shapeApi({ endpoints: [{ path: '/a/{rest}', rewrite: { pattern, to }, ...more }] });
  const pathOf = ({ url }: Published) => new URL(url).pathname;

  test('captures are inserted into the target, and the query is kept only when it is captured', async () => {
    for (const [pattern, to, asked, expected] of [
      ['/a/(.*)', '/b/$1', '/a/x', '/b/x'],
      ['/a/(.*)', '/b/$1', '/a/x?q=1&r=2', '/b/x?q=1&r=2'],
      ['/a/(\\w+)', '/b/$1', '/a/x?q=1', '/b/x'],
      ['/a/(\\w+)\\?(.*)$', '/b/$1?$2&c=3', '/a/x?q=1', '/b/x?q=1&c=3'],
      ['/a/([^/?]+)', 'b?id=$1', '/a/7', '/b?id=7'],
      ['/a/([^/?]+)', '/b?id=$1&x', '/a/7&admin=1', '/b?id=7%26admin=1&x'],
      ['/a/(.*)', '/b/$1?fixed=1', '/a/x?fixed=2', '/b/x?fixed=1&fixed=2'],
      ['a/(x)(y)', '/b/$2$1/$0/$12/$3/$$', '/a/xy', '/b/yx/a/xy/x2/$3/$$'],
      ['/a/(x y)', '/b/$1', '/a/x%20y', '/b/x%20y'],
      ['/a/(\\p{Greek}+)', '/b/$1', '/a/%CE%B1%CE%B2', '/b/%CE%B1%CE%B2'],
      ['q=(a b)&(.*)', '/b?$2&z=$1', '/a/x?q=a%20b&r=%26', '/b?r=%26&z=a%20b'],
      ['/nothing/(.*)', '/b/$1', '/a/x?q=1', '/a/x?q=1'],
      ['.*', '/b c/é', '/a/x', '/b%20c/%C3%A9'],
      ['.*', '/', '/a/x', '/'],
    ] as const)
      for (const { format, url } of await rewrite(pattern, to)) {
        const { url: got } = await fetchForwarded(upstream, url + asked);
        assert.equal(got, expected, `${format} ${pattern} ${to} ${asked}`);
      }
  });

  test('the pattern matches the listen path, which is stripped from the start of the result', async () => {
    const definition = openApi(upstream, {
      proxy: { listen_path: '/shop/', target_url: `${upstream.url}/base`, strip_listen_path: true },
      version_data: {
        not_versioned: true,
        versions: {
          Default: {
            name: 'Default',
            use_extended_paths: true,
            extended_paths: {
              url_rewrites: [
                { path: '/a', method: 'GET', match_pattern: '^(/shop)/a$', rewrite_to: '$1/b' },
                { path: '/c', method: 'GET', match_pattern: '^(/shop)/c$', rewrite_to: '/shopping/d' },
                { path: '/off', method: 'GET', match_pattern: '.*', rewrite_to: '/b', disabled: true },
              ],
            },
          },
        },
      },
    });
    const url = await publish(app, definition);
    const got = async (path: string) => (await fetchForwarded(upstream, url + path)).url;
    assert.deepEqual(
      [await got('/a'), await got('/c'), await got('/off')],
      ['/base/b', '/base/shopping/d', '/base/off'],
    );
  });

  test('an absolute target is another upstream, whose host is fixed by the definition', async () => {
    for (const { format, url } of await rewrite('/a/(.*)', `${other.url}/there/$1`)) {
      const { url: got, headers } = await fetchForwarded(other, `${url}/a/x?q=1`);
      assert.deepEqual([got, headers.host], ['/there/x?q=1', new URL(other.url).host], format);
    }
    for (const { format, url } of await rewrite('/a/(\\d+)', 'http://127.0.0.1:$1/there')) {
      assert.equal((await fetchForwarded(other, `${url}/a/${other.port}`)).url, '/there', format);
    }
  });

  test('no capture leaves the target path, changes its host or ends its query', async () => {
    const climbing = [
      '../admin',
      '..%2fadmin',
      '%2e%2e/admin',
      'x/../../admin',
      './x',
      '..;/admin',
      '..',
      'x\\y',
      '%0d%0aX:1',
    ];
    for (const to of ['/b/$1', `${other.url}/b/$1`, 'gw://self/b/$1'])
      for (const api of await rewrite('\\?p=(.*)', to))
        for (const bad of climbing) {
          const { status, body } = await raw(api.url, `${pathOf(api)}/a/x?p=${bad}`);
          assert.equal(status, 400, `${api.format} ${to} ${bad} ${body}`);
          assert.match(body, /The address cannot be rewritten: the path /);
        }
    for (const to of ['http://$1.example.invalid/', 'http://user:$1/', 'http://127.0.0.1$1/x', 'gw://$1/x'])
      for (const api of await rewrite('\\?p=(.*)', to))
        for (const bad of ['evil.example/', 'a@evil.example', 'evil.example?', 'a%2eb%2f', ' '].map(encodeURI)) {
          const { status } = await raw(api.url, `${pathOf(api)}/a/x?p=${bad}`);
          assert.ok(status === 400 || status === 503, `${to} ${bad} ${status}`);
        }
    // A capture in front is a path, whatever it looks like.
    for (const api of await rewrite('\\?p=(.*)', '$1')) {
      const before = other.requests.length;
      const { body } = await raw(api.url, `${pathOf(api)}/a/x?p=${other.url}/x`);
      assert.equal(JSON.parse(body).url, `/${other.url.replace('//', '/')}/x`, api.format);
      assert.equal(other.requests.length, before);
    }
  });

  test('variables in a target are escaped, and a leading one may be an absolute URL', async () => {
    const apis = await shapeApi({
      context: true,
      guarded: true,
      endpoints: [
        { path: '/meta', rewrite: { pattern: '.*', to: '/b/$gw_meta.tenant?c=$gw_context.request_data_q' } },
        { path: '/whole', rewrite: { pattern: '.*', to: '$gw_meta.base/x?y=1' } },
        { path: '/part', rewrite: { pattern: '\\?(.*)', to: '$gw_meta.bare$1' } },
        { path: '/not', rewrite: { pattern: '.*', to: '$gw_context.request_data_q/x' } },
      ],
    });
    const meta = { tenant: 'a/b?c#d', base: `${other.url}/base/?z=2`, bare: `${other.url}` };
    const headers = { authorization: await keyFor(app, apis, meta) };
    for (const { format, url } of apis) {
      const q = encodeURIComponent('1&d=2 $gw_meta.tenant ../');
      const escaped = await fetchForwarded(upstream, `${url}/meta?q=${q}`, { headers });
      assert.equal(escaped.url, '/b/a%2Fb%3Fc%23d?c=1%26d%3D2%20%24gw_meta.tenant%20..%2F', format);
      assert.equal((await fetchForwarded(other, `${url}/whole`, { headers })).url, '/base/x?z=2&y=1', format);
      assert.equal(
        (await fetchForwarded(other, `${url}/part?@evil.example/x`, { headers })).url,
        '/@evil.example/x',
        format,
      );
      const kept = await fetchForwarded(upstream, `${url}/not?q=ftp:%2F%2Fevil.example`, { headers });
      assert.equal(kept.url, '/ftp%3A%2F%2Fevil.example/x', format);
      assert.equal((await fetch(`${url}/not?q=http:%2F%2Fa@b%2F`, { headers })).status, 400, format);
    }
  });

  test('triggers: every source, any or all, negated; the first match sets the target', async () => {
    const apis = await shapeApi({
      context: true,
      guarded: true,
      endpoints: [
        {
          path: '/a/{rest}',
          rewrite: {
            pattern: '/a/(\\w+)',
            to: '/default/$1',
            triggers: [
              {
                on: 'any',
                to: '/header/$gw_context.trigger-0-X-Kind-1-0',
                header: { 'x-kind': '^k(\\d)$', 'x-no': 'z' },
              },
              { on: 'any', to: '/query/$gw_context.trigger-1-kind-0/$1', query: { kind: 'ord.*' } },
              { on: 'any', to: '/path/$gw_context.trigger-2-word-0', path: { word: '^magic-\\w+$' } },
              { on: 'any', to: '/meta/$gw_context.trigger-3-plan-0', meta: { plan: '^go(ld)$' } },
              { on: 'any', to: '/context/$gw_context.trigger-4-headers_X_Way', context: { headers_X_Way: '^up$' } },
              { on: 'all', to: '/all', header: { 'x-a': '1', 'x-b': '2' }, query: { c: '3' } },
              { on: 'all', to: '/negated', header: { 'x-v': '!^old$' }, query: { v: '!^old$' }, meta: { gone: '!.' } },
            ],
          },
        },
        {
          path: '/body',
          method: 'POST',
          rewrite: {
            pattern: '.*',
            to: '/default',
            triggers: [
              { on: 'any', to: '/body/$gw_context.trigger-0-payload-0', body: '"kind":"(\\w+)"' },
              { on: 'all', to: '/negated', body: '!keep' },
            ],
          },
        },
      ],
    });
    const key = await keyFor(app, apis, { plan: 'silver' });
    const gold = await keyFor(app, apis, { plan: 'gold' });
    for (const { format, url } of apis) {
      const got = async (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
        (await fetchForwarded(upstream, url + path, { ...init, headers: { authorization: key, ...headers } })).url;
      assert.equal(await got('/a/x'), '/default/x', format);
      assert.equal(await got('/a/x', { 'x-kind': 'k5' }), '/header/', format);
      assert.equal(await got('/a/x?kind=orders'), '/query/orders/x', format);
      assert.equal(await got('/a/magic-lamp'), '/path/magic-lamp', format);
      assert.equal(await got('/a/x', { authorization: gold }), '/meta/ld', format);
      assert.equal(await got('/a/x', { 'x-way': 'up' }), '/context/up', format);
      assert.equal(await got('/a/x?c=3', { 'x-a': '1', 'x-b': '2' }), '/all', format);
      assert.equal(await got('/a/x?c=3', { 'x-a': '1' }), '/default/x', format);
      assert.equal(await got('/a/x?v=new', { 'x-v': 'new' }), '/negated', format);
      assert.equal(await got('/a/x?v=new', { 'x-v': 'old' }), '/default/x', format);
      assert.equal(await got('/a/x', { 'x-v': 'new' }), '/default/x', format);
      const post = (body: string) => got('/body', {}, { method: 'POST', body });
      assert.equal(await post('{"kind":"invoice"}'), '/body/invoice', format);
      assert.equal(await post('keep it'), '/default', format);
      assert.equal(await post('x'), '/negated', format);
    }
  });

  test('endpoint rules and the method are those of the original path', async () => {
    const apis = await shapeApi({
      endpoints: [
        { path: '/a', rewrite: { pattern: '.*', to: '/b' }, toMethod: 'POST', request: { add: { 'X-Of': 'a' } } },
        { path: '/b', request: { add: { 'X-Of': 'b' } } },
      ],
    });
    for (const { format, url } of apis) {
      const got = await fetchForwarded(upstream, `${url}/a`);
      assert.deepEqual([got.url, got.method, got.headers['x-of']], ['/b', 'POST', 'a'], format);
    }
  });

  test('HTTP/2 and WebSocket requests are rewritten like HTTP/1.1', async () => {
    const endpoint: Endpoint = {
      path: '/a/{rest}',
      rewrite: { pattern: '\\?p=(.*)', to: '/b/$1' },
      request: { add: { 'X-Set': 'yes' } },
      response: { add: { 'X-Set': 'back' } },
    };
    for (const api of await shapeApi({ endpoints: [endpoint] })) {
      const session = connectHttp2(app.url.gateway);
      try {
        const over = async (target: string) => {
          const stream = session.request({ ':path': `${pathOf(api)}${target}` });
          const [[headers], chunks] = await Promise.all([once(stream, 'response'), stream.toArray()]);
          return { headers, body: Buffer.concat(chunks).toString() };
        };
        const { headers, body } = await over('/a/x?p=y');
        const received = JSON.parse(body);
        assert.deepEqual(
          [received.url, received.headers['x-set'], headers['x-set']],
          ['/b/y', 'yes', 'back'],
          api.format,
        );
        assert.equal((await over('/a/x?p=../y')).headers[':status'], 400, api.format);
      } finally {
        session.close();
      }
    }
    const sockets = await startSockets();
    try {
      for (const api of await shape(app, sockets, { endpoints: [endpoint] })) {
        assert.deepEqual(await upgradeTo(api, '/a/x?p=y'), [101, '/b/y', 'yes'], api.format);
        assert.deepEqual(await upgradeTo(api, '/a/x?p=../y'), [400], api.format);
      }
    } finally {
      sockets.close();
    }
  });

  /** Accepts WebSocket upgrades, and records their targets. */
  async function startSockets() {
    const server = createServer().on('upgrade', ({ url, headers }: IncomingMessage, socket: Duplex) => {
      const responseHeaders = `X-Asked: ${url}\r\nX-With: ${headers['x-set']}`;
      const accepted = 'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=';
      const head = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${accepted}`;
      socket.on('error', () => undefined).end(`${head}\r\n${responseHeaders}\r\n\r\n`);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
  }

  /** Requests a WebSocket: the status, and the target of the upstream request. */
  async function upgradeTo(api: Published, target: string): Promise<unknown[]> {
    const { hostname, port } = new URL(api.url);
    const headers = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    const asked = request({ hostname, port, path: pathOf(api) + target, headers }).end();
    const [response] = await Promise.race([once(asked, 'upgrade'), once(asked, 'response')]);
    response.destroy();
    const { statusCode, headers: given } = response;
    return statusCode === 101 ? [101, given['x-asked'], given['x-with']] : [statusCode];
  }

  test('an invalid pattern or target is refused when written, or the API is not served', async () => {
    const definition = (entry: object) =>
      openApi(upstream, {
        version_data: {
          not_versioned: true,
          versions: {
            Default: {
              name: 'Default',
              use_extended_paths: true,
              extended_paths: { url_rewrites: [{ path: '/a', method: 'GET', ...entry }] },
            },
          },
        },
      });
    const bad = { match_pattern: '(?=a)', rewrite_to: '/b' };
    assert.equal((await app.ask('POST', '/api/apis', { body: { api_definition: definition(bad) } })).status, 400);
    for (const to of ['/a/../b', 'ftp://a/b', 'http:///x', 'http://a b/x', '/a/$secret_conf.none']) {
      const url = await publish(app, definition({ match_pattern: '.*', rewrite_to: to }));
      assert.equal((await fetch(`${url}/a`)).status, 503, to);
    }
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { errorBody } from './support/step-harness.ts';
import { findUnavailableReason, openApi, publish } from './support/traffic.ts';
import { fetchForwarded, keyFor, type Shaping, shape } from './support/transform-fixtures.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

const secrets = JSON.stringify({ upstream: 'canary-from-settings' });

describe('Header transforms', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    process.env.GW_SECRET_UPSTREAM = 'canary-from-environment';
    [app, upstream] = await Promise.all([
      startApp('sqlite', { settings: { 'secrets.values': secrets } }),
      startUpstream(),
    ]);
  });
  after(async () => {
    delete process.env.GW_SECRET_UPSTREAM;
    await app?.close();
    await upstream?.close();
  });
  const shapeApi = (wish: Shaping) => shape(app, upstream, wish);

  test('request headers: version, then endpoint; removal is case-insensitive, and set replaces', async () => {
    const apis = await shapeApi({
      request: { add: { 'X-Set': 'version', 'X-Both': 'version' }, remove: ['X-SECRET', 'x-gone'] },
      endpoints: [{ path: '/a/{id}', request: { add: { 'x-both': 'endpoint', 'X-Again': '1' }, remove: ['X-Set'] } }],
    });
    const headers = { 'x-secret': 'a', x_secret: 'b', 'X-Set': 'caller', 'x-both': 'caller', 'x-gone': 'c' };
    for (const { format, url } of apis) {
      const here = await fetchForwarded(upstream, `${url}/a/1`, { headers });
      const { 'x-set': set, 'x-both': both, 'x-again': again, 'x-secret': secret, 'x-gone': gone } = here.headers;
      assert.deepEqual([set, both, again, secret, gone], [undefined, 'endpoint', '1', undefined, undefined], format);
      assert.ok(!here.rawHeaders.some(name => /^x_secret$/i.test(name)), format);
      const there = await fetchForwarded(upstream, `${url}/b`, { headers });
      assert.deepEqual([there.headers['x-set'], there.headers['x-both']], ['version', 'version'], format);
    }
  });

  test('response headers: endpoint, then version, which takes precedence; matched by the original path', async () => {
    const apis = await shapeApi({
      response: { add: { 'X-Both': 'version' }, remove: ['X-Upstream', 'x-many'] },
      endpoints: [
        {
          path: '/a',
          response: { add: { 'X-Both': 'endpoint', 'X-Here': '1' }, remove: ['X-Here'] },
          rewrite: { pattern: '.*', to: '/elsewhere' },
          toMethod: 'POST',
        },
      ],
    });
    upstream.answer = (_request, response) => {
      response.setHeader('X-Many', ['1', '2']);
      response.setHeader('x-upstream', 'internal');
      response.setHeader('x-here', 'upstream');
      response.end('ok');
    };
    try {
      for (const { format, url } of apis) {
        const here = await fetch(`${url}/a`);
        const seen = ['x-both', 'x-here', 'x-upstream', 'x-many'].map(name => here.headers.get(name));
        assert.deepEqual(seen, ['version', '1', null, null], format);
        assert.equal((await fetch(`${url}/b`)).headers.get('x-here'), 'upstream', format);
      }
    } finally {
      upstream.answer = undefined;
    }
  });

  test('disabled transforms have no effect', async () => {
    const off = { enabled: false, add: { 'X-Set': '1' }, remove: ['x-kept'] };
    const apis = await shapeApi({
      request: off,
      response: off,
      endpoints: [{ path: '/a', request: off, response: off }],
    });
    for (const { format, url } of apis) {
      const { headers } = await fetchForwarded(upstream, `${url}/a`, { headers: { 'x-kept': '1' } });
      assert.deepEqual([headers['x-set'], headers['x-kept']], [undefined, '1'], format);
      assert.equal((await fetch(`${url}/a`)).headers.get('x-set'), null, format);
    }
  });

  test('values can reference context variables, key metadata and secrets, and unknown references are empty', async () => {
    const add = {
      'X-Address': '$gw_context.remote_addr',
      'X-Agent': 'by $gw_context.headers_User_Agent',
      'X-Cookie': '$gw_context.cookies_id',
      'X-Query': '$gw_context.request_data_a_b|$gw_context.request_data',
      'X-Path': '$gw_context.path_parts',
      'X-Token': '$gw_context.token',
      'X-Left': '$gw_context.quota_remaining of $gw_context.quota_limit',
      'X-Meta': '$gw_meta.plan/$gw_meta.list/$gw_meta.number/$gw_meta.object',
      'X-None': '[$gw_context.cookies_nothing$gw_meta.nothing]',
      'X-Conf': 'Bearer $secret_conf.upstream',
      'X-Env': '$secret_env.upstream',
    };
    const apis = await shapeApi({ context: true, guarded: true, request: { add }, response: { add } });
    const meta = { plan: 'gold', list: ['a', 'b'], number: 7, object: { a: 1 } };
    const key = await keyFor(app, apis, meta);
    for (const { format, url } of apis) {
      const headers = { authorization: key, 'user-agent': 'tester', cookie: 'id=7' };
      const reply = await fetch(`${url}/x/y?a-b=1&a-b=2`, { headers });
      const text = await reply.text();
      assert.equal(reply.status, 200, text);
      const received = JSON.parse(text).headers as Record<string, string>;
      const expected = {
        'x-address': '127.0.0.1',
        'x-agent': 'by tester',
        'x-cookie': '7',
        'x-query': '1|a-b:1,2',
        'x-path': `${url.split('/').at(-1)},x,y`,
        'x-token': key,
        'x-left': 'of',
        'x-meta': 'gold/a,b/7/',
        'x-none': '[]',
        'x-conf': 'Bearer canary-from-settings',
        'x-env': 'canary-from-environment',
      };
      for (const [name, value] of Object.entries(expected)) {
        assert.equal(received[name], value, `${format} ${name}`);
        assert.equal(reply.headers.get(name), value, `${format} ${name}`);
      }
    }
  });

  test('context variables include form fields, with the body forwarded unchanged, and the limits of the key', async () => {
    const add = {
      'X-Form': '$gw_context.request_data_a/$gw_context.request_data_b',
      'X-Left': '$gw_context.quota_remaining of $gw_context.quota_limit',
      'X-Rate': '$gw_context.rate_limit_remaining of $gw_context.rate_limit_limit',
    };
    const apis = await shapeApi({ context: true, guarded: true, request: { add } });
    const access_rights = Object.fromEntries(
      apis.map(({ apiId }) => [apiId, { api_id: apiId, versions: ['Default', ''] }]),
    );
    const limits = { quota_max: 9, quota_renewal_rate: 3600, rate: 7, per: 3600 };
    for (const { format, url } of apis) {
      const { key_id } = (await app.ask('POST', '/api/keys', { body: { ...limits, access_rights } })).body;
      const body = new URLSearchParams({ a: 'from the form', long: 'x'.repeat(100_000) });
      const got = await fetchForwarded(upstream, `${url}/?b=q`, {
        method: 'POST',
        headers: { authorization: key_id },
        body,
      });
      assert.equal(got.body, body.toString(), format);
      const seen = ['x-form', 'x-left', 'x-rate'].map(name => got.headers[name]);
      assert.deepEqual(seen, ['from the form/q', '8 of 9', '6 of 7'], format);
    }
  });

  test('metadata and client values cannot inject another header', async () => {
    const apis = await shapeApi({
      context: true,
      guarded: true,
      request: {
        add: { 'X-Meta': '$gw_meta.evil', 'X-Query': '$gw_context.request_data_q', 'X-Name': '$gw_meta.name' },
      },
      response: { add: { 'X-Meta': '$gw_meta.evil', 'X-Query': '$gw_context.request_data_q' } },
    });
    const key = await keyFor(app, apis, { evil: 'a\r\nX-Admin: 1\r\n\r\nbody\u007f', name: 'Zoë 漢' });
    const evil = encodeURIComponent('b\r\nX-Admin: 2\n\nHTTP/1.1 200 OK\u0000 $gw_meta.name $secret_conf.upstream');
    for (const { format, url } of apis) {
      const reply = await fetch(`${url}/?q=${evil}`, { headers: { authorization: key } });
      assert.equal(reply.status, 200, format);
      const { headers } = JSON.parse(await reply.text());
      assert.equal(headers['x-admin'], undefined, format);
      assert.equal(reply.headers.get('x-admin'), null, format);
      assert.equal(headers['x-meta'], 'a  X-Admin: 1    body', format);
      assert.match(
        headers['x-query'],
        /^b {2}X-Admin: 2 {2}HTTP\/1.1 200 OK {2}\$gw_meta.name \$secret_conf.upstream$/,
      );
      assert.equal(Buffer.from(headers['x-name'], 'latin1').toString(), 'Zoë 漢', format);
    }
  });

  test('an API with an invalid header is not served, and its status names the reason', async () => {
    const refused: [Shaping['request'], string][] = [
      [{ add: { 'X Y': '1' } }, '"X Y" is not a header name'],
      [{ remove: ['a:b'] }, '"a:b" is not a header name'],
      [{ add: { 'X-A': 'a\r\nX-B: 1' } }, 'the value of the header X-A holds a control character'],
      [{ add: { 'Content-Length': '0' } }, 'the header Content-Length cannot be set: the gateway sends it'],
      [{ add: { 'transfer-encoding': 'chunked' } }, 'the header transfer-encoding cannot be set: the gateway sends it'],
      [{ add: { Connection: 'X-A' } }, 'the header Connection cannot be set: the gateway sends it'],
      [{ add: { 'X-A': '$secret_conf.other' } }, 'the secret $secret_conf.other is missing'],
      [{ add: { 'X-A': '$secret_vault.a.b' } }, 'there is no secret source "vault"'],
    ];
    for (const [change, reason] of refused)
      for (const wish of [
        { request: change! },
        { response: change! },
        { endpoints: [{ path: '/a', request: change! }] },
      ]) {
        for (const { format, url } of await shapeApi(wish)) {
          assert.equal(await findUnavailableReason(app, `${url}/a`), reason, format);
        }
      }
  });

  test('forwarding headers can be removed, and the host header can be replaced', async () => {
    const remove = ['X-Forwarded-For', 'x-real-ip', 'X-Forwarded-Host', 'x-forwarded-proto'];
    for (const { format, url } of await shapeApi({ request: { remove } })) {
      const { headers } = await fetchForwarded(upstream, `${url}/`);
      for (const name of remove) assert.equal(headers[name.toLowerCase()], undefined, `${format} ${name}`);
    }
    const add = { Host: 'inside.example:81', 'X-Real-IP': '192.0.2.9', 'X-Forwarded-Host': 'shown.example' };
    for (const { format, url } of await shapeApi({ request: { add } })) {
      const { headers } = await fetchForwarded(upstream, `${url}/`);
      const { host, 'x-real-ip': address, 'x-forwarded-host': shown } = headers;
      assert.deepEqual([host, address, shown], ['inside.example:81', '192.0.2.9', 'shown.example'], format);
      assert.equal(headers['x-forwarded-for'], '127.0.0.1', format);
    }
  });

  test('method transform: the upstream gets the new method, the response follows the client’s, unknown methods are refused', async () => {
    const apis = await shapeApi({
      endpoints: [
        { path: '/a', toMethod: 'post' },
        { path: '/b', method: 'HEAD', toMethod: 'GET' },
        { path: '/c', method: 'POST', toMethod: 'DELETE' },
        { path: '/d', toMethod: 'CONNECT' },
        { path: '/e', toMethod: 'HEAD' },
      ],
    });
    for (const { format, url } of apis) {
      assert.equal((await fetchForwarded(upstream, `${url}/a`)).method, 'POST', format);
      assert.equal((await fetchForwarded(upstream, `${url}/b`, { method: 'HEAD' })).method, 'GET', format);
      const deleted = await fetchForwarded(upstream, `${url}/c`, { method: 'POST', body: 'x' });
      assert.deepEqual([deleted.method, deleted.body], ['DELETE', 'x'], format);
      assert.equal((await fetchForwarded(upstream, `${url}/c`)).method, 'GET', format);
      for (const path of ['/d', '/e']) {
        const reply = await fetch(url + path);
        assert.deepEqual([reply.status, await reply.text()], [405, errorBody('Method not allowed')], format);
      }
    }
  });

  const processors = (list: object[], more: object = {}) =>
    openApi(upstream, {
      response_processors: list,
      version_data: { not_versioned: true, versions: { Default: { name: 'Default', ...more } } },
    });

  test('response processors: injected headers come last, markers have no effect', async () => {
    const list = [
      { name: 'response_body_transform', options: {} },
      { name: 'response_body_transform_jq' },
      { name: 'header_injector', options: { add_headers: { 'X-A': 'injected' }, remove_headers: ['Content-Type'] } },
    ];
    const global = { global_response_headers: { 'X-A': 'version', 'X-B': 'version' } };
    const on = await fetch(await publish(app, processors(list, global)));
    assert.deepEqual(
      ['x-a', 'x-b', 'content-type'].map(name => on.headers.get(name)),
      ['injected', 'version', null],
    );
    const off = await publish(app, processors(list, { ...global, global_response_headers_disabled: true }));
    assert.equal((await fetch(off)).headers.get('x-a'), null);
    assert.equal((await fetch(await publish(app, processors(list)))).headers.get('x-a'), 'injected');
  });

  test('response processors: an API with plugin hooks, unknown names or invalid options is not served', async () => {
    for (const [processor, reason] of [
      [{ name: 'custom_mw_res_hook' }, 'the gateway does not offer plugins'],
      [{ name: 'nobody_knows_me', options: { a: 1 } }, 'the response processor .*nobody_knows_me.* is unknown'],
      [{ name: 'goplugin_res_hook' }, 'the gateway does not offer plugins'],
      [{ name: 'header_injector', options: { add_headers: ['x'] } }, 'the options of the response processor'],
      [{ name: 'header_transform', options: { rev_proxy_header_cleanup: { headers: ['Location'] } } }, 'is not a URL'],
    ] as const) {
      assert.match(await findUnavailableReason(app, await publish(app, processors([processor]))), new RegExp(reason));
    }
  });

  test('response processors: the upstream’s own URL is replaced by the public one', async () => {
    const options = {
      rev_proxy_header_cleanup: { headers: ['Location', 'Link'], target_host: 'https://api.example:8443/ignored' },
    };
    const list = [{ name: 'header_transform', options }];
    const definition = { ...processors(list), proxy: { listen_path: '/shop/', strip_listen_path: true } };
    const url = await publish(app, {
      ...definition,
      proxy: { ...definition.proxy, target_url: `${upstream.url}/v1/` },
    });
    const locations: Record<string, string> = {
      [`${upstream.url}/v1/orders/7`]: 'https://api.example:8443/shop/orders/7',
      [`${upstream.url}/v1`]: 'https://api.example:8443/shop',
      [`${upstream.url}/v10`]: 'https://api.example:8443/v10',
      [`${upstream.url}1/v1/x`]: `${upstream.url}1/v1/x`,
      'https://other.example/v1/x': 'https://other.example/v1/x',
      '/v1/x': '/v1/x',
    };
    try {
      for (const [location, expected] of Object.entries(locations)) {
        upstream.answer = (_request, response) =>
          response.writeHead(201, { Location: location, Link: `<${location}>; rel="a"`, 'X-Other': location }).end();
        const { headers } = await fetch(`${url}/`);
        const seen = ['location', 'link', 'x-other'].map(name => headers.get(name));
        assert.deepEqual(seen, [expected, `<${expected}>; rel="a"`, location]);
      }
    } finally {
      upstream.answer = undefined;
    }
  });
});

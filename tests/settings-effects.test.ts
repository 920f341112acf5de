import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createSecretText } from '#base/ids.ts';
import { readSettings, type SettingName } from '#base/settings.ts';
import { validateTrafficSettings } from '#gateway/runtime/validate-settings.ts';
import { startApp } from './support/app.ts';
import { scratch, startChild, startCommand } from './support/gw-process.ts';
import { testPostgres } from './support/services/engines.ts';
import { openApi, publish, waitUntilApplied } from './support/traffic.ts';
import type { Upstream } from './support/upstream.ts';
import { withSettings } from './support/with-settings.ts';

const createKeyApi = (upstream: Upstream, more: Record<string, unknown> = {}) =>
  openApi(upstream, { use_keyless: false, use_standard_auth: true, auth_configs: { authToken: {} }, ...more });

/** Two versions by header, the first one the default. */
const createVersionedApi = (upstream: Upstream, fallback = false) =>
  openApi(upstream, {
    definition: { location: 'header', key: 'x-version', fallback_to_default: fallback },
    version_data: {
      not_versioned: false,
      default_version: 'v1',
      versions: { v1: { name: 'v1' }, v2: { name: 'v2' } },
    },
  });

/** Sends bytes as they are and gives everything that comes back until the connection ends. */
async function exchangeText(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', bytes => {
    received += bytes;
  });
  socket.on('error', () => undefined);
  socket.write(text);
  await once(socket, 'close');
  return received;
}

withSettings('Default settings', {}, (app, upstream) => {
  test('only refusals name the product', async () => {
    const url = await publish(app(), createKeyApi(upstream()));
    assert.equal((await fetch(url)).headers.get('x-generator'), 'gatewright');
    const open = await publish(app(), openApi(upstream()));
    assert.equal((await fetch(open)).headers.has('x-generator'), false);
  });

  test('mcp.management.enabled: there is no /mcp by default', async () => {
    const headers = { authorization: app().credentials.admin_access_key, 'content-type': 'application/json' };
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    assert.equal((await fetch(`${app().url.dashboard}/mcp`, { method: 'POST', headers, body })).status, 404);
  });

  test('connections are kept alive, and responses do not name the default version', async () => {
    const url = await publish(app(), createVersionedApi(upstream()));
    const reply = await fetch(url);
    assert.equal(reply.headers.get('connection'), 'keep-alive');
    assert.equal([...reply.headers.values()].includes('v1'), false);
  });
});

for (const [engine, expected] of [
  ['native', /^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*the request target is invalid$/],
  ['node', /^HTTP\/1\.1 200 OK\r\n/],
] as const)
  withSettings(`HTTP/1.1 engine ${engine}`, { 'gateway.http1_engine': engine }, (app, upstream) => {
    test(`a request line with two spaces is ${engine === 'native' ? 'refused' : 'accepted'}`, async () => {
      const url = await publish(app(), openApi(upstream()));
      const { pathname } = new URL(url);
      const received = await exchangeText(url, `GET  ${pathname} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      assert.match(received, expected);
    });
  });

withSettings(
  'settings that change answers',
  {
    'gateway.generator_header': 'false',
    'gateway.close_connections': 'true',
    'gateway.version_header': 'X-Default-Version',
    'gateway.request_id_header': 'X-Call',
    'gateway.request_id_in_response': 'false',
    'gateway.error_messages': JSON.stringify({
      auth_field_missing: { status: 400, message: 'Where is your "key"?' },
      key_not_found: { message: 'Who are you?' },
      loop_too_deep: { status: 508 },
    }),
    'gateway.max_loops': '2',
    'gateway.health_name': 'how-are-you',
    'gateway.ready_name': 'ready.now',
    'gateway.upstream_error_status': 'legacy',
  },
  (app, upstream) => {
    test('gateway.upstream_error_status: an upstream that is unreachable gets 500, with the same message', async () => {
      for (const [target, error] of [
        ['http://127.0.0.1:1', 'There was a problem proxying the request'],
        ['http://no-such-host.invalid', 'Upstream host lookup failed'],
      ] as const) {
        const reply = await fetch(await publish(app(), openApi({ url: target })));
        assert.deepEqual([reply.status, await reply.json()], [500, { error }], target);
      }
    });

    test('gateway.generator_header: refusals do not name the product', async () => {
      const reply = await fetch(await publish(app(), createKeyApi(upstream())));
      assert.equal(reply.status, 400);
      assert.equal(reply.headers.has('x-generator'), false);
    });

    test('gateway.close_connections: every response closes its connection, also refusals and 404', async () => {
      const { listen_path: open } = await publishProxy(openApi(upstream()));
      const { listen_path: closed } = await publishProxy(createKeyApi(upstream()));
      for (const path of [open, closed, '/nowhere', '/live']) {
        const received = await exchangeText(app().url.gateway, `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
        assert.match(received, /\r\nconnection: close\r\n/i, path);
      }
    });

    test('gateway.close_connections: an HTTP/2 connection closes after the response', async () => {
      const { listen_path } = await publishProxy(openApi(upstream()));
      const session = connectHttp2(app().url.gateway);
      const ended = once(session, 'close');
      const stream = session.request({ ':path': listen_path });
      const [headers] = await once(stream, 'response');
      assert.equal(headers[':status'], 200);
      stream.resume();
      await ended;
    });

    test('gateway.error_messages: sets status and message of a refusal, in the client’s format', async () => {
      const url = await publish(app(), createKeyApi(upstream()));
      const missing = await fetch(url);
      assert.equal(missing.status, 400);
      assert.equal(await missing.text(), '{\n    "error": "Where is your \\"key\\"?"\n}');
      const xml = await fetch(url, { method: 'POST', headers: { 'content-type': 'text/xml' }, body: '<a/>' });
      assert.equal(xml.headers.get('content-type'), 'text/xml');
      assert.match(await xml.text(), /<error>Where is your &#34;key&#34;\?<\/error>$/);
    });

    test('gateway.error_messages: omitted members keep their default', async () => {
      const url = await publish(app(), createKeyApi(upstream()));
      const unknown = await fetch(url, { headers: { authorization: 'nobody-knows-this-key' } });
      assert.equal(unknown.status, 403);
      assert.equal(await unknown.text(), '{\n    "error": "Who are you?"\n}');
    });

    test('gateway.request_id_in_response: false sends the id to the upstream alone', async () => {
      const reply = await fetch(await publish(app(), openApi(upstream())));
      assert.equal(reply.headers.has('x-call'), false);
      assert.match(String(upstream().requests.at(-1)!.headers['x-call']), /^[0-9a-f-]{36}$/);
    });

    test('gateway.max_loops: limits the loops of a request', async () => {
      const url = await publish(app(), openApi(upstream(), { proxy: { target_url: 'gw://self/again' } }));
      const reply = await fetch(url);
      assert.equal(reply.status, 508);
      assert.match(await reply.text(), /Found more than 2 loops in single request/);
    });

    test('gateway.version_header: names the version served to a request without one', async () => {
      const url = await publish(app(), createVersionedApi(upstream()));
      assert.equal((await fetch(url)).headers.get('x-default-version'), 'v1');
      const named = await fetch(url, { headers: { 'x-version': 'v2' } });
      assert.equal(named.status, 200);
      assert.equal(named.headers.has('x-default-version'), false);
    });

    test('gateway.version_header: names the version served to a request with an unknown one', async () => {
      const url = await publish(app(), createVersionedApi(upstream(), true));
      const unknown = await fetch(url, { headers: { 'x-version': 'v9' } });
      assert.equal(unknown.headers.get('x-default-version'), 'v1');
    });

    test('gateway.health_name and gateway.ready_name: the default names are free for APIs', async () => {
      assert.match(await (await fetch(`${app().url.gateway}/how-are-you`)).text(), /"status":"pass"/);
      assert.equal((await fetch(`${app().url.gateway}/ready.now`)).status, 200);
      for (const listen_path of ['/hello', '/ready']) {
        assert.equal((await fetch(app().url.gateway + listen_path)).status, 404);
        const url = await publish(app(), openApi(upstream(), { proxy: { listen_path } }));
        assert.match(await (await fetch(url)).text(), /"method":"GET"/);
      }
    });

    async function publishProxy(definition: ReturnType<typeof openApi>) {
      await publish(app(), definition);
      return definition.proxy;
    }
  },
);

withSettings(
  'limits of bodies',
  { 'gateway.max_request_body_bytes': '1000', 'gateway.max_response_body_bytes': '2000' },
  (app, upstream) => {
    const tooLarge = async (reply: Response) => {
      assert.equal(reply.status, 413);
      assert.equal(reply.headers.get('content-type'), 'text/plain; charset=utf-8');
      assert.equal(await reply.text(), 'Request Entity Too Large');
    };
    const bodyEchoed = async (reply: Response) => ((await reply.json()) as { body: string }).body;
    const createChunkedBody = (...sizes: number[]) => ({
      method: 'POST',
      duplex: 'half' as const,
      body: ReadableStream.from(sizes.map(size => new Uint8Array(size).fill(120))),
    });

    test('gateway.max_request_body_bytes: a larger content-length is refused before routing', async () => {
      await tooLarge(await fetch(`${app().url.gateway}/nowhere`, { method: 'POST', body: 'x'.repeat(1001) }));
      const url = await publish(app(), openApi(upstream()));
      const reply = await fetch(url, { method: 'POST', body: 'x'.repeat(1000) });
      assert.equal((await bodyEchoed(reply)).length, 1000);
    });

    test('gateway.max_request_body_bytes: a chunked body is refused when it exceeds the limit', async () => {
      const url = await publish(app(), openApi(upstream()));
      const before = upstream().requests.length;
      await tooLarge(await fetch(url, createChunkedBody(500, 500, 1)));
      assert.equal((await bodyEchoed(await fetch(url, createChunkedBody(500, 500)))).length, 1000);
      assert.equal(upstream().requests.length, before + 1, 'no upstream took the larger one for a whole call');
    });

    test('gateway.max_request_body_bytes: a step that reads the body refuses it with the same error', async () => {
      const basic = {
        extract_from_body: true,
        body_user_regexp: 'user=(\\w+)',
        body_password_regexp: 'password=(\\w+)',
      };
      const url = await publish(
        app(),
        openApi(upstream(), { use_keyless: false, use_basic_auth: true, basic_auth: basic }),
      );
      await tooLarge(await fetch(url, createChunkedBody(1001)));
    });

    test('gateway.max_response_body_bytes: a response with a larger content-length becomes an error', async () => {
      const url = await publish(app(), openApi(upstream()));
      upstream().answer = (_request, response) => response.end('x'.repeat(2001));
      const reply = await fetch(url);
      assert.equal(reply.status, 500);
      assert.equal(await reply.text(), '{\n    "error": "Response body too large"\n}');
      upstream().answer = (_request, response) => response.end('x'.repeat(2000));
      assert.equal((await (await fetch(url)).text()).length, 2000);
    });

    test('gateway.max_response_body_bytes: a chunked response beyond the limit is aborted, visibly incomplete', async () => {
      const url = await publish(app(), openApi(upstream()));
      upstream().answer = (_request, response) => {
        response.write('x'.repeat(1500));
        response.end('x'.repeat(1500));
      };
      await assert.rejects(async () => (await fetch(url)).text());
    });

    test('gateway.max_response_body_bytes: a response without a body passes with any content-length', async () => {
      const url = await publish(app(), openApi(upstream()));
      upstream().answer = (_request, response) => {
        response.writeHead(200, { 'content-length': '5000' });
        response.end();
      };
      assert.equal((await fetch(url, { method: 'HEAD' })).status, 200);
    });
  },
);

withSettings(
  'settings for those who come from elsewhere',
  {
    'gateway.listen_path_match': 'prefix',
    'gateway.api_id_paths': 'true',
    'gateway.encoded_slashes': 'keep',
    'keys.min_length': '20',
    'keys.allow_master_keys': 'true',
    'policies.allow_unsafe_ids': 'true',
    'management.page_size': '2',
  },
  (app, upstream) => {
    const fetchEchoedUrl = async (url: string) => {
      const reply = await fetch(url);
      return reply.status === 200 ? ((await reply.json()) as { url: string }).url : reply.status;
    };

    test('gateway.listen_path_match: prefix matches every path that starts with the listen path', async () => {
      const url = await publish(app(), openApi(upstream()));
      assert.equal(await fetchEchoedUrl(`${url}more/x`), '/more/x');
    });

    test('gateway.api_id_paths: an API is served at its id too, and never in place of another', async () => {
      const definition = openApi(upstream());
      await publish(app(), definition);
      assert.equal(await fetchEchoedUrl(`${app().url.gateway}/${definition.api_id}/x`), '/x');
      assert.equal(await fetchEchoedUrl(`${app().url.gateway}/${definition.api_id}`), '/');
      const other = openApi(upstream(), {
        proxy: { listen_path: `/${definition.api_id}`, target_url: `${upstream().url}/other` },
      });
      await publish(app(), other);
      assert.equal(await fetchEchoedUrl(`${app().url.gateway}/${definition.api_id}/x`), '/other/x');
      const hidden = openApi(upstream(), { internal: true });
      await publish(app(), hidden);
      assert.equal(await fetchEchoedUrl(`${app().url.gateway}/${hidden.api_id}/x`), 404);
    });

    test('gateway.encoded_slashes: escaped slashes stay escaped', async () => {
      const url = await publish(app(), openApi(upstream()));
      assert.equal(await fetchEchoedUrl(`${url}/a%2fb`), '/a%2Fb');
    });

    test('keys.min_length: a shorter key is refused, and cannot be created', async () => {
      const url = await publish(app(), createKeyApi(upstream()));
      const { status, text } = await app().ask('POST', '/gw/keys/nineteen-characters', { body: {} });
      assert.equal(status, 400);
      assert.match(text, /20/);
      const { body } = await app().ask('POST', '/gw/keys/twenty-characters-00', { body: {} });
      await waitUntilApplied(app());
      const as = async (authorization: string) => (await fetch(url, { headers: { authorization } })).status;
      assert.equal(await as('twenty-characters-00'), 200, 'a key without rights, of an installation that allows them');
      assert.equal(await as(body.key), 200);
      assert.equal(await as('nineteen-characters'), 403);
    });

    test('policies.allow_unsafe_ids and management.page_size', async () => {
      for (const id of ['a b', 'c/d', 'é'])
        assert.equal(
          (await app().ask('POST', '/api/portal/policies', { body: { id, name: id, access_rights: {} } })).status,
          200,
        );
      const { body } = await app().ask('GET', '/api/portal/policies');
      assert.equal(body.Data.length, 2);
      assert.equal(body.Pages, 2);
    });
  },
);

withSettings(
  'people and keys',
  { 'keys.actions_by_username': 'false', 'users.renew_own_access_key_only': 'true', 'users.hide_access_keys': 'true' },
  app => {
    test('keys.actions_by_username: when off, a user name is no key id on either surface', async () => {
      for (const path of ['/api/keys/ann?username=true', '/gw/keys/ann?username=true'])
        for (const method of ['GET', 'PUT', 'DELETE']) {
          const { status, text } = await app().ask(method, path, method === 'PUT' ? { body: {} } : {});
          assert.equal(status, 400, `${method} ${path}`);
          assert.match(text, /references to keys by user name are disabled/);
        }
      for (const [method, path, body] of [
        ['POST', '/api/keys/ann/rotate?username=true', {}],
        ['PATCH', '/api/keys/ann?username=true', { extend_to: 0 }],
      ] as const) {
        const { status, text } = await app().ask(method, path, { body });
        assert.deepEqual([status, /user name are disabled/.test(text)], [400, true], text);
      }
    });

    test('users.renew_own_access_key_only and users.hide_access_keys: an administrator cannot obtain the key of another user', async () => {
      const body = {
        email_address: 'o@example.org',
        first_name: 'O',
        last_name: 'O',
        user_permissions: { apis: 'read' },
      };
      const made = await app().ask('POST', '/api/users', { body });
      assert.equal(made.status, 200, made.text);
      const other = made.body.Meta;
      const me = (await app().ask('GET', '/api/users/me')).body.id;
      const renewed = await app().ask('PUT', `/api/users/${other}/actions/key/reset`);
      assert.equal(renewed.status, 403);
      assert.match(renewed.text, /users can only reset their own access key/);
      assert.equal((await app().ask('GET', `/api/users/${other}`)).body.access_key, '');
      assert.equal((await app().ask('PUT', `/api/users/${me}/actions/key/reset`)).status, 200);
    });
  },
);

withSettings('Segments', { 'gateway.segments': 'edge, inner' }, (app, upstream) => {
  const tagged: readonly [tags: string[] | undefined, disabled: boolean, status: number][] = [
    [['edge'], false, 200],
    [['far', 'inner'], false, 200],
    [['far'], false, 404],
    [['edge'], true, 404],
    [undefined, false, 404],
  ];
  for (const [tags, tags_disabled, status] of tagged) {
    test(`gateway.segments: tags ${tags}${tags_disabled ? ', disabled,' : ''} return ${status}`, async () => {
      const url = await publish(app(), openApi(upstream(), { ...(tags && { tags }), tags_disabled }));
      assert.equal((await fetch(url)).status, status);
    });
  }
});

const refusedTogether: readonly [settings: Partial<Record<SettingName, string>>, message: RegExp][] = [
  [{ 'gateway.error_messages': '{"no_such_code":{"status":400}}' }, /no refusal has the code no_such_code/],
  [
    { 'gateway.error_messages': '{"signature_invalid":{"status":400}}' },
    /definitions choose the words of signature_invalid/,
  ],
  [{ 'gateway.health_name': 'ready' }, /must be three names/],
  [{ 'gateway.ready_name': 'live' }, /must be three names/],
  [{ 'keys.force_lifetime': 'true' }, /needs keys.lifetime_seconds/],
  [{ 'upstream.ca_mode': 'replace' }, /upstream.ca_mode: replace needs upstream.ca_certificates/],
  [{ 'upstream.ca_certificates': '/nowhere.pem' }, /upstream.ca_certificates cannot be used: ENOENT/],
];
for (const [settings, message] of refusedTogether) {
  test(`${JSON.stringify(settings)} has no effect and is refused`, () => {
    assert.throws(() => validateTrafficSettings(readSettings({ flags: settings })), message);
  });
}

test('settings without effect fail the start', async () => {
  await assert.rejects(startApp('sqlite', { settings: refusedTogether[0]![0] }), refusedTogether[0]![1]);
});

test('management.max_bulk_body_bytes bounds bodies with many objects, and management.max_body_bytes does not', async () => {
  const settings = { 'management.max_body_bytes': '2000', 'management.max_bulk_body_bytes': '4000' };
  const app = await startApp('sqlite', { settings });
  try {
    const plan = (length: number) => {
      const spec = { name: 'Large', meta_data: { text: 'x'.repeat(length) } };
      return app.ask('POST', '/api/configuration/plan', { body: { objects: [{ kind: 'policy', id: 'large', spec }] } });
    };
    assert.equal((await plan(3000)).status, 200);
    assert.equal((await plan(5000)).status, 413);
    const single = await app.ask('POST', '/api/portal/policies', { body: { name: 'x'.repeat(3000) } });
    assert.equal(single.status, 413);
  } finally {
    await app.close();
  }
});

test('bootstrap.enabled: without it a process waits for another one to create organisation and secrets', async t => {
  const { url, drop } = await testPostgres();
  const { fresh, remove } = scratch('bootstrap');
  t.after(async () => {
    await remove();
    await drop();
  });
  const environment = { GW_DATABASE_URL: url, GW_MASTER_KEY: createSecretText() };
  const follower = startCommand(['start'], {
    directory: fresh(),
    environment: { ...environment, GW_BOOTSTRAP_ENABLED: 'false' },
  });
  await follower.waitForOutput((_out, err) => err.includes('waiting for another process'));
  const first = await startChild({ directory: fresh(), environment });
  const { admin_access_key: authorization } = first.credentials;
  assert.ok(authorization, 'this process has created the credentials');
  await follower.waitForOutput(out => out.includes('is ready'));
  const [, dashboard] = /dashboard +(http\S+)/.exec(follower.out())!;
  assert.equal((await fetch(`${dashboard}/api/users/me`, { headers: { authorization } })).status, 200);
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { type BothFormats, type Published, publishBoth } from './support/both-formats.ts';
import { walkOf } from './support/doc-commands.ts';
import {
  type GrpcPluginServer,
  type PluginHandler,
  type PluginObject,
  startGrpcPluginServer,
} from './support/grpc-plugin-server.ts';
import { freePort } from './support/services/server.ts';
import { errorBody } from './support/step-harness.ts';
import { findUnavailableReason, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { eventually, startUpstream, type Upstream } from './support/upstream.ts';

type List = 'pre' | 'post' | 'post_key_auth' | 'response';
const oasNames: Record<List, string> = {
  pre: 'prePlugins',
  post: 'postPlugins',
  post_key_auth: 'postAuthenticationPlugins',
  response: 'responsePlugins',
};

interface More {
  readonly data?: object;
  readonly rawBodyOnly?: boolean;
  readonly requiresKey?: boolean;
  /** Name of a post plugin beside it. */
  readonly post?: string;
}

/** One hook of a gRPC server, in both formats. */
function grpcPlugin(
  list: List,
  name: string,
  { data, rawBodyOnly = false, requiresKey = false, post }: More = {},
): BothFormats {
  return {
    classic: {
      use_keyless: !requiresKey,
      ...(requiresKey ? { auth_configs: { authToken: { auth_header_name: 'Authorization' } } } : {}),
      custom_middleware: {
        driver: 'grpc',
        [list]: [{ name, path: '', raw_body_only: rawBodyOnly }],
        ...(post ? { post: [{ name: post, path: '' }] } : {}),
      },
      ...(data ? { config_data: data } : {}),
    },
    oas: {
      ...(requiresKey
        ? {
            server: {
              authentication: {
                enabled: true,
                securitySchemes: { key: { enabled: true, header: { enabled: true, name: 'Authorization' } } },
              },
            },
          }
        : {}),
      middleware: {
        global: {
          pluginConfig: { driver: 'grpc', ...(data ? { data: { enabled: true, value: data } } : {}) },
          [oasNames[list]]: [{ enabled: true, functionName: name, rawBodyOnly }],
          ...(post ? { postPlugins: [{ enabled: true, functionName: post }] } : {}),
        },
      },
    },
    ...(requiresKey
      ? {
          document: {
            components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
            security: [{ key: [] }],
          },
        }
      : {}),
  };
}

/** Authentication by a hook of a gRPC server. */
const grpcAuth = (name: string): BothFormats => ({
  classic: {
    use_keyless: false,
    custom_plugin_auth_enabled: true,
    custom_middleware: { driver: 'grpc', auth_check: { name, path: '' } },
  },
  oas: {
    server: {
      authentication: {
        enabled: true,
        custom: { enabled: true, config: { enabled: true, functionName: name } },
      },
    },
    middleware: { global: { pluginConfig: { driver: 'grpc' } } },
  },
});

async function createKey(app: TestApp, body: object): Promise<string> {
  const reply = await app.ask('POST', '/gw/keys', { body });
  assert.equal(reply.status, 200, reply.text);
  return String(reply.body.key);
}

const grantApi = ({ spec: { APIID: id = '' } }: PluginObject) => ({
  access_rights: { [id]: { api_id: id, api_name: 'x', versions: ['Default'] } },
});

const read = async (reply: Response) => [reply.status, await reply.text()] as const;

describe('gRPC plugins', () => {
  let app: TestApp;
  let upstream: Upstream;
  let server: GrpcPluginServer;
  let log = '';
  let hookCount = 0;

  before(async () => {
    [upstream, server] = await Promise.all([startUpstream(), startGrpcPluginServer()]);
    const settings = {
      'plugins.grpc.address': `tcp://127.0.0.1:${server.port}`,
      'plugins.grpc.max_send_bytes': '200000',
      'plugins.grpc.max_receive_bytes': '300000',
      'plugins.grpc.timeout_ms': '2000',
      'plugins.grpc.connections': '2',
      'plugins.grpc.authority': 'plugins.example',
    };
    app = await startApp('sqlite', { settings, onTrafficLog: lines => (log += lines) });
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
    server?.close();
  });

  test('an event handler calls DispatchEvent with the event and its name', async () => {
    const meta = { handler_name: 'cp_dynamic_handler', handler_meta: { name: 'onFailure' } };
    const definition = openApi(upstream, {
      use_keyless: false,
      auth_configs: { authToken: { auth_header_name: 'Authorization' } },
      event_handlers: { events: { AuthFailure: [meta] } },
    });
    const url = await publish(app, definition);
    assert.equal((await fetch(url, { headers: { authorization: 'planted-key' } })).status, 403);
    const event = await eventually(() => {
      const found = server.events.find(it => JSON.stringify(it).includes(definition.api_id));
      assert.ok(found);
      return found as { handler_name: string; message: { Type: string; APIID: string } };
    });
    assert.deepEqual(
      [event.handler_name, event.message.Type, event.message.APIID],
      ['onFailure', 'AuthFailure', definition.api_id],
    );
    assert.ok(!JSON.stringify(event).includes('planted-key'));
  });

  /** A hook of its own name, so that tests share one server. */
  function addHook(handler: PluginHandler): string {
    const name = `hook${++hookCount}`;
    server.hooks[name] = handler;
    return name;
  }
  const publishHook = (list: List, handler: PluginHandler, more: More = {}): Promise<Published[]> =>
    publishBoth(app, upstream, grpcPlugin(list, addHook(handler), more));

  test('a pre plugin gets every field of the request, and its changes are applied', async () => {
    const published = await publishHook(
      'pre',
      object => {
        const { request } = object;
        request.set_headers = { 'X-Plugin': `${request.headers['X-In']}!` };
        request.delete_headers = ['X-Gone'];
        request.add_params = { added: '1' };
        request.delete_params = ['gone'];
        request.raw_body = Buffer.from([...request.raw_body, 0xff]);
        request.body = 'without effect';
        request.url = request.url.replace('/old', '/new');
        request.method = 'PUT';
        return object;
      },
      { data: { word: 'é' } },
    );
    for (const { url, apiId, format } of published) {
      const body = Buffer.from([0xe9, 0x00]);
      const reply = await fetch(`${url}/old?gone=1&kept=2&kept=3`, {
        method: 'POST',
        body,
        headers: { 'x-in': 'in', 'x-gone': '1', 'content-type': 'a/b' },
      });
      assert.equal(reply.status, 200, format);
      const object = server.objects.at(-1)!;
      const { request } = object;
      assert.deepEqual(
        [object.hook_type, object.session, object.response, object.metadata],
        ['Pre', null, null, {}],
        format,
      );
      assert.deepEqual(object.spec, {
        OrgID: object.spec.OrgID,
        APIID: apiId,
        config_data: JSON.stringify({ word: 'é' }),
      });
      assert.match(request.url, /\/old\?gone=1&kept=2&kept=3$/);
      assert.match(String(request.request_uri), new RegExp(`^${new URL(url).pathname}/old\\?gone=1&kept=2&kept=3$`));
      assert.deepEqual(request.params, { gone: '1', kept: '2' });
      assert.deepEqual([request.scheme, request.headers['X-In'], request.headers['X-Gone']], ['http', 'in', '1']);
      assert.match(request.headers.Host!, /^127\.0\.0\.1:\d+$/);
      assert.deepEqual([[...request.raw_body], request.body, request.method], [[0xe9, 0x00], '', 'POST']);
      const seen = upstream.requests.at(-1)!;
      assert.equal(seen.method, 'PUT');
      assert.equal(seen.headers['x-plugin'], 'in!');
      assert.equal(seen.headers['x-gone'], undefined);
      assert.match(seen.url, /\/new\?kept=2&kept=3&added=1$/);
      assert.equal(seen.headers['content-length'], '3');
    }
  });

  test('the body is a text unless it is not UTF-8, or raw_body_only is set', async () => {
    const bodies: unknown[] = [];
    const handler: PluginHandler = object => {
      const { body, raw_body, return_overrides } = object.request;
      bodies.push([body, raw_body.toString('latin1'), return_overrides.response_code]);
      return object;
    };
    const [both] = await publishHook('pre', handler);
    const [rawOnly] = await publishHook('pre', handler, { rawBodyOnly: true });
    const send = (url: string, body: Uint8Array<ArrayBuffer>) => fetch(`${url}/x`, { method: 'POST', body });
    const text = new Uint8Array(Buffer.from('é'));
    for (const reply of [
      await send(both!.url, text),
      await send(both!.url, new Uint8Array([0xe9])),
      await send(rawOnly!.url, text),
    ])
      assert.equal(reply.status, 200);
    assert.deepEqual(bodies, [
      ['é', Buffer.from('é').toString('latin1'), -1],
      ['', 'é', -1],
      ['', Buffer.from('é').toString('latin1'), -1],
    ]);
  });

  test('a plugin responds by itself: raw, or as an error', async () => {
    const overrides: Record<string, [object, number, string]> = {
      raw: [{ response_code: 201, response_body: '{"a":1}', headers: { 'X-Own': 'yes' } }, 201, '{"a":1}'],
      error: [
        { response_code: 403, response_error: 'not today', headers: { 'X-Own': 'yes' } },
        403,
        errorBody('not today'),
      ],
      'error without a text': [
        { response_code: 401, headers: { 'X-Own': 'yes' } },
        401,
        errorBody('Key not authorised'),
      ],
      'error as it is': [
        { response_code: 418, response_body: 'tea', override_error: true, headers: { 'X-Own': 'yes' } },
        418,
        'tea',
      ],
    };
    for (const [what, [given, status, text]] of Object.entries(overrides)) {
      const published = await publishHook('post', object => {
        object.request.return_overrides = given as Record<string, unknown>;
        return object;
      });
      const before = upstream.requests.length;
      for (const { url, format } of published) {
        const reply = await fetch(`${url}/x`);
        assert.equal(reply.headers.get('x-own'), 'yes', `${what} ${format}`);
        assert.deepEqual(await read(reply), [status, text], `${what} ${format}`);
      }
      assert.equal(upstream.requests.length, before);
    }
  });

  test('post and post-auth plugins get the session without its secrets, and metadata holds for the request', async () => {
    for (const [list, type, post] of [
      ['post_key_auth', 'PostKeyAuth', 'later'],
      ['post', 'Post', ''],
    ] as const) {
      const published = await publishHook(
        list,
        object => {
          object.session!.metadata.seen = 'yes';
          return object;
        },
        { requiresKey: true, post },
      );
      for (const { url, apiId, format } of published) {
        const key = await createKey(app, {
          alias: 'ann',
          tags: ['t1'],
          rate: 100,
          per: 60,
          quota_max: 50,
          quota_renewal_rate: 3600,
          max_query_depth: 3,
          meta_data: { level: 'gold', count: 2 },
          hmac_enabled: true,
          hmac_string: 'a-secret-of-the-key',
          monitor: { trigger_limits: [80] },
          access_rights: {
            [apiId]: {
              api_id: apiId,
              api_name: 'n',
              versions: ['Default'],
              allowed_urls: [{ url: '/x', methods: ['GET'] }],
            },
          },
        });
        assert.equal((await fetch(`${url}/x`, { headers: { authorization: key } })).status, 200, format);
        if (post) {
          const later = server.objects.pop()!;
          assert.deepEqual([later.hook_name, later.session!.metadata.seen], [post, 'yes'], format);
        }
        const { session, hook_type, metadata } = server.objects.at(-1)!;
        assert.equal(hook_type, type);
        assert.deepEqual(metadata, { level: 'gold', count: '2' });
        const { access_rights, last_updated, quota_renews, quota_remaining, id_extractor_deadline, ...rest } = session!;
        assert.deepEqual(access_rights, {
          [apiId]: {
            api_id: apiId,
            api_name: 'n',
            versions: ['Default'],
            allowed_urls: [{ url: '/x', methods: ['GET'] }],
          },
        });
        assert.ok(Number(last_updated) > 0 && id_extractor_deadline === 0);
        assert.ok(list === 'post' ? Number(quota_renews) > 0 && quota_remaining === 49 : quota_renews === 0);
        assert.deepEqual(rest, {
          ...{ last_check: 0, allowance: 0, rate: 100, per: 60, expires: 0, quota_max: 50, quota_renewal_rate: 3600 },
          ...{ org_id: session!.org_id, oauth_client_id: '', oauth_keys: {}, basic_auth_data: null, jwt_data: null },
          ...{ hmac_enabled: true, hmac_secret: '', is_inactive: false, apply_policy_id: '', data_expires: 0 },
          ...{ monitor: { trigger_limits: [80] }, enable_detailed_recording: false, tags: ['t1'], alias: 'ann' },
          ...{ metadata: { level: 'gold', count: '2' }, session_lifetime: 0, apply_policies: [], certificate: '' },
          ...{ max_query_depth: 3, key_id: key, post_expiry_action: '', post_expiry_grace_period: 0 },
        });
      }
    }
  });

  test('a response plugin gets the response, and replaces its status, headers and body', async () => {
    upstream.answer = (_request, response) => {
      response.writeHead(200, ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Old', '1', 'ETag', '"e"', 'X-Kept', 'k']);
      response.end('body');
    };
    try {
      const published = await publishHook('response', object => {
        const response = object.response!;
        response.status_code = 202;
        response.raw_body = Buffer.concat([response.raw_body, Buffer.from('!')]);
        response.multivalue_headers.find(({ key }) => key === 'Set-Cookie')!.values.push('c=3');
        delete response.headers['X-Old'];
        response.headers['X-New'] = 'n';
        response.headers['X-Kept'] = 'changed';
        return object;
      });
      const lists = await publishHook('response', object => {
        object.response!.multivalue_headers.push({ key: 'X-List', values: ['1', '2'] });
        return object;
      });
      for (const { url, format } of published) {
        const reply = await fetch(`${url}/x`);
        const { response, hook_type, request } = server.objects.at(-1)!;
        assert.deepEqual(
          [hook_type, response!.body, request.body, request.raw_body.length],
          ['Response', 'body', '', 0],
        );
        assert.deepEqual(reply.headers.getSetCookie(), ['a=1', 'b=2', 'c=3'], format);
        const shown = ['x-old', 'x-new', 'x-kept', 'etag', 'content-length'].map(name => reply.headers.get(name));
        assert.deepEqual(shown, [null, 'n', 'changed', null, '5'], format);
        assert.deepEqual(await read(reply), [202, 'body!'], format);
      }
      for (const { url, format } of lists) {
        const reply = await fetch(`${url}/x`);
        assert.equal(reply.headers.get('x-list'), '1, 2', format);
        assert.equal(reply.headers.get('etag'), '"e"');
        assert.deepEqual(await read(reply), [200, 'body'], format);
      }
    } finally {
      upstream.answer = undefined;
    }
  });

  test('the session of an auth plugin limits the client', async () => {
    const name = addHook(object => {
      const token = object.request.headers.Authorization ?? '';
      if (token === '') {
        object.request.return_overrides = { response_code: 401, response_error: 'who are you' };
        return object;
      }
      return {
        ...object,
        session: {
          rate: 2,
          per: 60,
          alias: 'ann',
          metadata: { token },
          ...grantApi(object),
        },
      };
    });
    for (const { url, format } of await publishBoth(app, upstream, grpcAuth(name))) {
      assert.deepEqual(await read(await fetch(`${url}/x`)), [401, errorBody('who are you')], format);
      const callAs = async (token: string) =>
        (await fetch(`${url}/x`, { headers: { authorization: `${token}-${format}` } })).status;
      assert.deepEqual([await callAs('ann'), await callAs('ann'), await callAs('ann')], [200, 200, 429], format);
      assert.equal(await callAs('bob'), 200, format);
      assert.deepEqual([server.objects.at(-1)!.hook_type, server.objects.at(-1)!.session], ['CustomKeyCheck', null]);
    }
  });

  test('an auth plugin without a session, a token or a reply refuses the client', async () => {
    const replies: Record<string, [PluginHandler, number, string]> = {
      'no session': [object => ({ ...object, metadata: { token: 'a' } }), 403, 'Forbidden'],
      'no token': [object => ({ ...object, session: { rate: 1, per: 1 } }), 403, 'Forbidden'],
      'an error': [() => Promise.reject({ code: 13, details: 'broken' }), 403, 'Key not authorised'],
      'a policy that does not exist': [
        object => ({ ...object, session: { metadata: { token: 'a' }, apply_policies: ['none'] } }),
        403,
        'Key not authorised',
      ],
      'rights to another API': [
        object => ({ ...object, session: { metadata: { token: 'a' }, access_rights: { other: { api_id: 'other' } } } }),
        403,
        'Access to this API has been disallowed',
      ],
      'an inactive session': [
        object => ({ ...object, session: { metadata: { token: 'a' }, is_inactive: true, ...grantApi(object) } }),
        403,
        'Key is inactive, please renew',
      ],
    };
    for (const [what, [handler, status, message]] of Object.entries(replies)) {
      const [published] = await publishBoth(app, upstream, grpcAuth(addHook(handler)));
      const before = upstream.requests.length;
      assert.deepEqual(await read(await fetch(`${published!.url}/x`)), [status, errorBody(message)], what);
      assert.equal(upstream.requests.length, before, what);
    }
  });

  test('a reply that cannot be used, an error, a slow or a long reply gets 500, and the log has the reason', async () => {
    const unusable: Record<string, [PluginHandler, RegExp]> = {
      'no request': [() => ({ hook_name: 'x' }), /returned no request/],
      'an error': [() => Promise.reject({ code: 13, details: 'disk full' }), /returned INTERNAL: disk full/],
      'a slow reply': [() => new Promise(() => undefined), /no response within 2000 ms|DEADLINE_EXCEEDED/],
      'a long reply': [
        object => ({ ...object, request: { ...object.request, raw_body: Buffer.alloc(400_000) } }),
        /more than 300000 bytes/,
      ],
      'a method that is none': [
        object => ({ ...object, request: { ...object.request, method: 'G T' } }),
        /method that the server returned/,
      ],
    };
    for (const [what, [handler, reason]] of Object.entries(unusable)) {
      const [published] = await publishHook('pre', object =>
        object.request.headers['X-Fail'] ? handler(object) : object,
      );
      const { url } = published!;
      log = '';
      const failed = await fetch(`${url}/x`, { headers: { 'x-fail': '1' } });
      assert.deepEqual(await read(failed), [500, errorBody('Middleware error')], what);
      assert.match(log, reason, what);
      assert.equal((await fetch(`${url}/x`)).status, 200, what);
    }
    const [published] = await publishHook('pre', object => object);
    const before = server.objects.length;
    const long = await fetch(`${published!.url}/x`, { method: 'POST', body: 'x'.repeat(210_000) });
    assert.deepEqual(await read(long), [500, errorBody('Middleware error')]);
    assert.equal(server.objects.length, before);
  });

  test('a response plugin without a usable response gets 500', async () => {
    for (const change of [{ response: null }, { response: { status_code: 0 } }, { response: { status_code: 99 } }]) {
      const [published] = await publishHook('response', object => ({ ...object, ...change }));
      assert.deepEqual(await read(await fetch(`${published!.url}/x`)), [500, errorBody('Middleware error')]);
    }
  });

  test('while the server is down requests fail closed, and they succeed after it is back', async () => {
    const [open] = await publishHook('pre', object => object);
    const [auth] = await publishBoth(app, upstream, grpcAuth('none'));
    const [response] = await publishHook('response', object => object);
    assert.equal((await fetch(`${open!.url}/x`)).status, 200);
    server.close();
    const before = upstream.requests.length;
    assert.deepEqual(await read(await fetch(`${open!.url}/x`)), [500, errorBody('Middleware error')]);
    assert.deepEqual(await read(await fetch(`${auth!.url}/x`)), [403, errorBody('Key not authorised')]);
    assert.equal(upstream.requests.length, before);
    assert.deepEqual(await read(await fetch(`${response!.url}/x`)), [500, errorBody('Middleware error')]);
    server = await startGrpcPluginServer(undefined, server.port);
    await eventually(async () => assert.equal((await fetch(`${open!.url}/x`)).status, 200));
  });

  test('a tenant may not call the server of the operator', async () => {
    const { accessKey: credential } = await app.stranger();
    const definition = openApi(upstream, grpcPlugin('pre', 'x').classic);
    const reply = await app.ask('POST', '/api/apis', { credential, body: { api_definition: definition } });
    assert.equal(reply.status, 200, reply.text);
    await waitUntilApplied(app);
    const reason = await findUnavailableReason(app, `${app.url.gateway}${definition.proxy.listen_path}`);
    assert.match(reason, /plugins\.grpc\.organisations/);
  });
});

test('grpc-plugins.md works as documented, with its server', async () => {
  const port = await freePort();
  const settings = { 'plugins.grpc.address': `tcp://127.0.0.1:${port}` };
  const [app, upstream] = await Promise.all([startApp('sqlite', { settings }), startUpstream()]);
  try {
    const guide = walkOf('docs/guide/grpc-plugins.md');
    assert.equal(guide.promised.length, 6);
    const { dashboard: DASHBOARD, gateway: GATEWAY } = app.url;
    const environment = { DASHBOARD, GATEWAY, DATA: app.directory, UPSTREAM: upstream.url };
    await guide.run({ ...environment, PLUGIN_PORT: String(port) });
    assert.equal(upstream.requests[0]!.headers['x-greeting'], 'Hello Ann');
    assert.equal(upstream.requests.length, 2);
  } finally {
    await app.close();
    await upstream.close();
  }
});

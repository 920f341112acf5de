import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { call } from './hostile/raw.ts';
import { startApp, type TestApp } from './support/app.ts';
import { type BothFormats, type Published, publishBoth } from './support/both-formats.ts';
import { walkOf } from './support/doc-commands.ts';
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

interface Plugin {
  readonly name: string;
  readonly code?: string;
  readonly path?: string;
  readonly session?: boolean;
}

const encode = (code: string) => Buffer.from(code).toString('base64');

/** Plugins of one list, in both formats. */
function plugins(list: List, given: readonly Plugin[], more: { driver?: string; data?: object } = {}): BothFormats {
  const { driver = 'javascript', data } = more;
  const source = ({ code, path }: Plugin) => (code === undefined ? { path } : { path: '', code: encode(code) });
  return {
    classic: {
      custom_middleware: {
        driver,
        [list]: given.map(it => ({ name: it.name, ...source(it), require_session: it.session ?? false })),
      },
      ...(data ? { config_data: data } : {}),
    },
    oas: {
      middleware: {
        global: {
          pluginConfig: { driver, ...(data ? { data: { enabled: true, value: data } } : {}) },
          [oasNames[list]]: given.map(it => ({
            enabled: true,
            functionName: it.name,
            ...source(it),
            requireSession: it.session ?? false,
          })),
        },
      },
    },
  };
}

const request = (body: string, name = 'mw') => `const ${name} = new GwJS.GwMiddleware.NewMiddleware({});
${name}.NewProcessRequest(function (request, session, config) {
  ${body}
  return ${name}.ReturnData(request, session.meta_data || {});
});`;
const response = (body: string) => `const mw = new GwJS.GwMiddleware.NewMiddleware({});
mw.NewProcessResponse(function (response, request, session, config) {
  ${body}
  return mw.ReturnResponseData(response, {});
});`;
const pre = (body: string, more = {}) => plugins('pre', [{ name: 'mw', code: request(body) }], more);

/** Publishes it in the classic format. */
async function publishOne(...given: Parameters<typeof publishBoth>): Promise<Published> {
  return (await publishBoth(...given))[0]!;
}

describe('JavaScript plugins', () => {
  let app: TestApp;
  let upstream: Upstream;
  const directory = mkdtempSync(join(tmpdir(), 'gw-plugins-'));
  const lines: string[] = [];
  before(async () => {
    const settings = { 'plugins.directory': directory, 'plugins.timeout_ms': '3000' };
    [app, upstream] = await Promise.all([
      startApp('sqlite', { settings, onLog: line => void lines.push(line) }),
      startUpstream(),
    ]);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  test('a pre plugin changes headers, parameters, body and path of the request', async () => {
    const definitions = pre(
      `request.SetHeaders['X-Plugin'] = request.Headers['X-In'][0] + config.config_data.suffix;
      request.DeleteHeaders.push('X-Gone');
      request.AddParams.added = '1'; request.DeleteParams.push('gone'); request.ExtendedParams.more = ['a', 'b'];
      request.Body = request.Body.toUpperCase();
      request.URL = request.URL.replace('/old', '/new');`,
      { data: { suffix: '!' } },
    );
    for (const { url, format } of await publishBoth(app, upstream, definitions)) {
      const reply = await fetch(`${url}/old?gone=1&kept=2`, {
        method: 'POST',
        body: 'text é',
        headers: { 'x-in': 'in', 'x-gone': '1' },
      });
      assert.equal(reply.status, 200, format);
      const seen = upstream.requests.at(-1)!;
      assert.equal(seen.headers['x-plugin'], 'in!', format);
      assert.equal(seen.headers['x-gone'], undefined);
      assert.match(seen.url, /\/new\?kept=2&added=1&more=a&more=b$/);
      assert.equal(seen.body, 'TEXT É');
    }
  });

  test('a plugin responds by itself: raw, as an error, or by a redirect to another API', async () => {
    const override = (text: string) => pre(`request.ReturnOverrides = ${text};`);
    const raw = override(`{ ResponseCode: 201, ResponseBody: '{"a":1}', ResponseHeaders: { 'X-Own': 'yes' } }`);
    const error = override(`{ ResponseCode: 403, ResponseError: 'not today', ResponseHeaders: { 'X-Own': 'no' } }`);
    const before = upstream.requests.length;
    for (const { url, format } of await publishBoth(app, upstream, raw)) {
      const reply = await fetch(`${url}/x`);
      assert.deepEqual([reply.status, reply.headers.get('x-own'), await reply.text()], [201, 'yes', '{"a":1}'], format);
    }
    for (const { url, format } of await publishBoth(app, upstream, error)) {
      const reply = await fetch(`${url}/x`);
      assert.deepEqual(
        [reply.status, reply.headers.get('x-own'), await reply.text()],
        [403, 'no', errorBody('not today')],
        format,
      );
    }
    assert.equal(upstream.requests.length, before);
  });

  test('plugins run in order, and one that responds ends the request', async () => {
    const definitions = plugins('pre', [
      { name: 'one', code: request(`request.SetHeaders['X-Order'] = '1';`, 'one') },
      { name: 'two', code: request(`request.SetHeaders['X-Order'] = request.Headers['X-Order'][0] + '2';`, 'two') },
    ]);
    for (const { url } of await publishBoth(app, upstream, definitions)) {
      await fetch(`${url}/x`);
      assert.equal(upstream.requests.at(-1)!.headers['x-order'], '12');
    }
  });

  test('a response plugin changes status, headers and body, also of a compressed response', async () => {
    const definitions = plugins('response', [
      {
        name: 'mw',
        code: response(`response.StatusCode = 202; response.SetHeaders['X-Seen'] = request.Method + response.Headers['Content-Type'][0];
        response.Body = response.Body + '!';`),
      },
    ]);
    for (const { url, format } of await publishBoth(app, upstream, definitions)) {
      const reply = await fetch(`${url}/x`);
      const text = await reply.text();
      assert.equal(reply.status, 202, format);
      assert.match(reply.headers.get('x-seen')!, /^GET/);
      assert.match(text, /!$/);
      assert.equal(Number(reply.headers.get('content-length')), Buffer.byteLength(text));
    }
  });

  test('a plugin that fails gets 500, and the next request works', async () => {
    const failures: Record<string, string> = {
      exception: `throw new Error('broken');`,
      'endless loop': `for (;;) {}`,
      'native loop, which no interrupt ends': `[].reverse.call({ length: 2 ** 40 });`,
      'memory bomb': `const a = []; for (;;) a.push(new Uint8Array(100000));`,
      'wrong type': `request.SetHeaders.a = 1;`,
      'header injection': `request.SetHeaders.a = 'x\\r\\ny: z';`,
      'path outside': `request.URL = 'http://other.example/';`,
    };
    for (const [name, code] of Object.entries(failures)) {
      const definitions = pre(`if (request.Headers['X-Fail']) { ${code} }`);
      const { url } = await publishOne(app, upstream, definitions);
      const failed = await fetch(`${url}/x`, { headers: { 'x-fail': '1' } });
      assert.deepEqual([failed.status, await failed.text()], [500, errorBody('Internal Server Error')], name);
      assert.equal((await fetch(`${url}/x`)).status, 200, name);
    }
  });

  test('an endless loop of one API does not delay another', async () => {
    const { url: bad } = await publishOne(app, upstream, pre(`for (;;) {}`));
    const { url: good } = await publishOne(app, upstream, pre(''));
    const spinning = Promise.all(Array.from({ length: 4 }, () => fetch(`${bad}/x`).then(reply => reply.status)));
    let isDone = false;
    void spinning.then(() => (isDone = true));
    do assert.equal((await fetch(`${good}/x`)).status, 200);
    while (!isDone);
    assert.deepEqual(await spinning, [500, 500, 500, 500]);
  });

  test('a plugin calls another server, and continues with its response', async () => {
    const code = `const reply = JSON.parse(GwMakeHttpRequest(JSON.stringify({ Method: 'POST', Body: 'ping', Headers: { 'X-From': 'plugin' }, Domain: config.config_data.server, Resource: '/side' })));
      request.SetHeaders['X-Side'] = String(reply.Code);`;
    const definitions = pre(code, { data: { server: upstream.url } });
    for (const { url, format } of await publishBoth(app, upstream, definitions)) {
      const before = upstream.requests.length;
      assert.equal((await fetch(`${url}/x`)).status, 200, format);
      const [side, proxied] = upstream.requests.slice(before);
      assert.deepEqual(
        [side!.method, side!.url, side!.body, side!.headers['x-from']],
        ['POST', '/side', 'ping', 'plugin'],
      );
      assert.equal(proxied!.headers['x-side'], '200');
      assert.equal(upstream.requests.length, before + 2);
    }
  });

  test('scripts come from files below the directory, and links cannot leave it', async () => {
    writeFileSync(join(directory, 'file.js'), request(`request.SetHeaders['X-File'] = 'yes';`, 'fromFile'));
    const definitions = plugins('post', [{ name: 'fromFile', path: 'file.js' }], { driver: 'otto' });
    for (const { url } of await publishBoth(app, upstream, definitions)) {
      await fetch(`${url}/x`);
      assert.equal(upstream.requests.at(-1)!.headers['x-file'], 'yes');
    }
    symlinkSync('/etc/hostname', join(directory, 'link.js'));
    for (const path of ['link.js', '../../etc/passwd.js', 'absent.js']) {
      const { url } = await publishOne(app, upstream, plugins('pre', [{ name: 'mw', path }]));
      assert.equal((await fetch(`${url}/x`)).status, 503, path);
    }
  });

  test('scripts of the driver otto have Underscore.js, those of javascript do not', async () => {
    const code = request(
      `request.SetHeaders['X-Sum'] = String(_.reduce(_.range(5), function (a, b) { return a + b; }, 0));`,
    );
    const definitions = (driver: string) => plugins('pre', [{ name: 'mw', code }], { driver });
    for (const { url, format } of await publishBoth(app, upstream, definitions('otto'))) {
      assert.equal((await fetch(`${url}/x`)).status, 200, format);
      assert.equal(upstream.requests.at(-1)!.headers['x-sum'], '10', format);
    }
    const { url } = await publishOne(app, upstream, definitions('javascript'));
    assert.equal((await fetch(`${url}/x`)).status, 500);
  });

  test('scripts in the folder of an API run without being named in the definition', async () => {
    const definition = openApi(upstream, {});
    mkdirSync(join(directory, definition.api_id, 'post'), { recursive: true });
    const code = request(`request.SetHeaders['X-Folder'] = '1';`, 'added');
    writeFileSync(join(directory, definition.api_id, 'post', 'added.js'), code);
    const url = await publish(app, definition);
    assert.equal((await fetch(`${url}/x`)).status, 200);
    assert.equal(upstream.requests.at(-1)!.headers['x-folder'], '1');
  });

  test('a script that does not load, or does not end, gets 503, and other APIs are served', async () => {
    const { url: endless } = await publishOne(app, upstream, plugins('pre', [{ name: 'mw', code: 'for (;;) {}' }]));
    assert.equal((await fetch(`${endless}/x`)).status, 503);
    const definitions = plugins('pre', [{ name: 'mw', code: 'const mw = ;' }]);
    for (const { url, format } of await publishBoth(app, upstream, definitions)) {
      const reply = await fetch(`${url}/x`);
      assert.deepEqual([reply.status, await reply.text()], [503, errorBody('This API is not available')], format);
    }
  });

  /** A protected API whose failed authentications run a script. */
  const failing = (name: string, path: string): BothFormats => ({
    classic: {
      use_keyless: false,
      event_handlers: {
        events: { AuthFailure: [{ handler_name: 'eh_dynamic_handler', handler_meta: { name, path } }] },
      },
    },
    oas: {
      server: {
        authentication: {
          enabled: true,
          securitySchemes: { key: { enabled: true, header: { enabled: true, name: 'Authorization' } } },
        },
        eventHandlers: [{ enabled: true, trigger: 'AuthFailure', type: 'custom', functionName: name, path }],
      },
    },
    document: {
      components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
      security: [{ key: [] }],
    },
  });
  const eventScript = (body: string) => `const onFailure = new GwJS.GwEventHandlers.NewEventHandler({});
onFailure.NewHandler(function (event, context) { ${body} });`;
  const failAuth = async (url: string) =>
    assert.equal((await fetch(`${url}/x`, { headers: { authorization: 'unknown-key' } })).status, 403);

  test('an event handler runs a script with the event and its context', async () => {
    const send = `const reply = GwMakeHttpRequest(JSON.stringify({ Method: 'POST', Domain: '${upstream.url}', Resource: '/event/' + context.APIID, Body: JSON.stringify([event, context]) })); if (reply === undefined) throw new Error('no response');`;
    writeFileSync(join(directory, 'on-failure.js'), eventScript(send));
    for (const { url, apiId, format } of await publishBoth(app, upstream, failing('onFailure', 'on-failure.js'))) {
      let sent = 0;
      const received = await eventually(async () => {
        const found = upstream.requests.find(it => it.url === `/event/${apiId}`);
        // On a slow machine one may exceed its time.
        const failed = lines.filter(it => it.includes('event script failed') && it.includes(apiId)).length;
        if (!found && failed === sent) await failAuth(url).then(() => sent++);
        assert.ok(found, format);
        return found;
      });
      const [event, context] = JSON.parse(received.body);
      assert.deepEqual(
        [event.Type, event.Meta.Message, event.Meta.Origin],
        ['AuthFailure', 'Auth Failure', '127.0.0.1'],
      );
      assert.doesNotMatch(received.body, /unknown-key/);
      assert.deepEqual(context, { APIID: apiId, OrgID: app.credentials.organisation_id });
    }
  });

  test('an event script that fails is logged, and neither requests nor later events notice', async () => {
    const failures: Record<string, [body: string, reason: RegExp]> = {
      throws: [`throw new Error('broken');`, /throws\.js:2: broken/],
      spins: [`for (;;) {}`, /did not end within/],
      outside: ['', /not below plugins\.directory/],
    };
    for (const [name, [body, reason]] of Object.entries(failures)) {
      writeFileSync(join(directory, `${name}.js`), eventScript(body));
      const path = name === 'outside' ? '../outside.js' : `${name}.js`;
      const { url, apiId } = await publishOne(app, upstream, failing('onFailure', path));
      await failAuth(url);
      const line = await eventually(() => {
        const found = lines.find(it => it.includes('event script failed') && it.includes(apiId));
        assert.ok(found, name);
        return found;
      });
      assert.match(JSON.parse(line).reason, reason);
    }
  });

  test('event scripts of a tenant come from its own folder, and reach its own storage only', async () => {
    const { accessKey, orgId } = await app.stranger();
    writeFileSync(join(directory, 'root.js'), eventScript(`GwStorageSet('root', 'ran', 0);`));
    mkdirSync(join(directory, orgId), { recursive: true });
    writeFileSync(join(directory, orgId, 'own.js'), eventScript(`log('ran for ' + context.OrgID);`));
    for (const [path, expected] of [
      ['root.js', /cannot be read: ENOENT/],
      ['own.js', new RegExp(`ran for ${orgId}`)],
    ] as const) {
      const definition = openApi(upstream, failing('onFailure', path).classic);
      const body = { api_definition: definition };
      assert.equal((await app.ask('POST', '/api/apis', { body, credential: accessKey })).status, 200);
      await waitUntilApplied(app);
      await failAuth(app.url.gateway + definition.proxy.listen_path);
      await eventually(() =>
        assert.ok(
          lines.some(it => it.includes(definition.api_id) && expected.test(it)),
          String(expected),
        ),
      );
    }
  });

  test('an API with plugins of the drivers python, lua, goplugin or grpc is not served', async () => {
    for (const driver of ['python', 'lua', 'goplugin', 'grpc']) {
      const definitions = plugins('pre', [{ name: 'mw', path: 'x.js' }], { driver });
      const { url } = await publishOne(app, upstream, definitions);
      assert.equal((await fetch(`${url}/x`)).status, 503, driver);
    }
  });
});

/** Authentication by a plugin, in both formats. */
function pluginAuth(code: string, more: { classic?: object; oas?: Record<string, unknown> } = {}): BothFormats {
  return {
    classic: {
      use_keyless: false,
      custom_plugin_auth_enabled: true,
      custom_middleware: { driver: 'javascript', auth_check: { name: 'auth', path: '', code: encode(code) } },
      ...more.classic,
    },
    oas: {
      server: {
        authentication: {
          enabled: true,
          custom: { enabled: true, config: { enabled: true, functionName: 'auth', code: encode(code) } },
          ...more.oas,
        },
      },
      middleware: { global: { pluginConfig: { driver: 'javascript' } } },
    },
  };
}

const auth = (body: string) => `const auth = new GwJS.GwMiddleware.NewMiddleware({});
auth.NewProcessRequest(function (request, session, config) {
  const token = (request.Headers.Authorization || [''])[0];
  ${body}
});`;

describe('Authentication by plugin', () => {
  let app: TestApp;
  let upstream: Upstream;
  const pluginDirectory = mkdtempSync(join(tmpdir(), 'gw-plugins-'));
  before(async () => {
    const settings = { 'plugins.directory': pluginDirectory };
    [app, upstream] = await Promise.all([startApp('sqlite', { settings }), startUpstream()]);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
    rmSync(pluginDirectory, { recursive: true, force: true });
  });
  const callAs = async (url: string, authorization = '') => {
    const reply = await fetch(`${url}/x`, { headers: authorization === '' ? {} : { authorization } });
    return [reply.status, await reply.text()] as const;
  };

  test('the session of the plugin limits the client, and what the plugin refuses is refused', async () => {
    const definitions = pluginAuth(
      auth(`if (!/^(ann|bob)-/.test(token)) {
        request.ReturnOverrides.ResponseCode = 401;
        request.ReturnOverrides.ResponseError = 'who are you';
        return auth.ReturnData(request, {});
      }
      const rights = {}; rights[config.APIID] = { api_id: config.APIID, api_name: 'x', versions: ['Default'] };
      return auth.ReturnAuthData(request, { rate: 2, per: 60, access_rights: rights, meta_data: { name: token } }, token);`),
    );
    for (const { url, format } of await publishBoth(app, upstream, definitions)) {
      assert.deepEqual(await callAs(url), [401, errorBody('who are you')], format);
      const statuses = [];
      for (const _ of [1, 2, 3]) statuses.push((await callAs(url, `ann-${format}`))[0]);
      assert.deepEqual(statuses, [200, 200, 429], format);
      assert.equal((await callAs(url, `bob-${format}`))[0], 200, format);
    }
  });

  const refused: Record<string, [code: string, status: number, message: string]> = {
    'no session': [`return auth.ReturnData(request, {});`, 403, 'Key not authorised'],
    'no value that identifies the client': [`return auth.ReturnAuthData(request, {});`, 403, 'Key not authorised'],
    'rights to another API only': [
      `return auth.ReturnAuthData(request, { access_rights: { other: { api_id: 'other', api_name: 'x', versions: [] } } }, 'a');`,
      403,
      'Access to this API has been disallowed',
    ],
    'a policy that does not exist': [
      `return auth.ReturnAuthData(request, { apply_policies: ['none'] }, 'a');`,
      403,
      'Key not authorised',
    ],
    'a session that is none': [
      `return auth.ReturnAuthData(request, { rate: 'many' }, 'a');`,
      500,
      'Internal Server Error',
    ],
    'an exception': [`throw new Error('x');`, 500, 'Internal Server Error'],
    'no end': [`for (;;) {}`, 500, 'Internal Server Error'],
  };
  for (const [what, [code, status, message]] of Object.entries(refused))
    test(`a plugin that returns ${what} refuses the request`, async () => {
      const { url } = await publishOne(app, upstream, pluginAuth(auth(code)));
      const before = upstream.requests.length;
      assert.deepEqual(await callAs(url, 'ann'), [status, errorBody(message)]);
      assert.equal(upstream.requests.length, before);
    });

  test('a script in the folder auth of an API authenticates where the definition names none', async () => {
    const code = `const login = new GwJS.GwMiddleware.NewMiddleware({});
      login.NewProcessRequest((request, session, { APIID }) => {
        const [name] = request.Headers.Authorization ?? [''];
        const access_rights = { [APIID]: { api_id: APIID, api_name: '', versions: ['Default'] } };
        return login.ReturnAuthData(request, name === 'ann' ? { access_rights } : undefined, name);
      });`;
    const publishWith = (...files: string[]) => {
      const custom_middleware = { driver: 'javascript' };
      const more = { use_keyless: false, custom_plugin_auth_enabled: true, custom_middleware };
      const definition = openApi(upstream, more);
      const folder = join(pluginDirectory, definition.api_id, 'auth');
      mkdirSync(folder, { recursive: true });
      for (const file of files) writeFileSync(join(folder, file), code);
      return publish(app, definition);
    };
    const url = await publishWith('login.js');
    assert.deepEqual([(await callAs(url, 'ann'))[0], (await callAs(url, 'eve'))[0]], [200, 403]);
    for (const [files, reason] of [
      [[], /no plugin is named for it/],
      [['login.js', 'second.js'], /several scripts of authentication/],
    ] as const)
      assert.match(await findUnavailableReason(app, await publishWith(...files)), reason);
  });

  test('a session of a plugin never belongs to another organisation or key', async () => {
    const rights = `const rights = {}; rights[config.APIID] = { api_id: config.APIID, api_name: 'x', versions: ['Default'] };`;
    const session = `{ org_id: 'another', rate: 1, per: 60, access_rights: rights }`;
    const code = auth(`${rights} return auth.ReturnAuthData(request, ${session}, token);`);
    const first = await publishOne(app, upstream, pluginAuth(code));
    assert.deepEqual([(await callAs(first.url, 'same'))[0], (await callAs(first.url, 'same'))[0]], [200, 429]);
  });
});

describe('Guide to plugins', () => {
  const guide = walkOf('docs/guide/plugins.md');

  test('works as documented, also with plugins.run_on: worker', async () => {
    const settings = { 'plugins.run_on': 'worker' };
    const [app, upstream] = await Promise.all([startApp('sqlite', { settings }), startUpstream()]);
    try {
      assert.equal(guide.promised.length, 7);
      const { dashboard: DASHBOARD, gateway: GATEWAY } = app.url;
      await guide.run({ DASHBOARD, GATEWAY, DATA: app.directory, UPSTREAM: upstream.url });
      // The first API runs a script, the second TypeScript.
      const greetings = upstream.requests.map(({ headers }) => headers['x-greeting']);
      assert.deepEqual(greetings, ['Hello Ann', 'Welcome Ann']);
    } finally {
      await app.close();
      await upstream.close();
    }
  });
});

describe('Virtual endpoints', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    [app, upstream] = await Promise.all([startApp('sqlite'), startUpstream()]);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });

  const virtual = (code: string, more: { proxyOnError?: boolean } = {}): BothFormats => ({
    classic: {
      version_data: {
        not_versioned: true,
        versions: {
          Default: {
            name: 'Default',
            use_extended_paths: true,
            extended_paths: {
              virtual: [
                {
                  path: '/virtual',
                  method: 'POST',
                  response_function_name: 'respond',
                  function_source_type: 'blob',
                  function_source_uri: encode(code),
                  proxy_on_error: more.proxyOnError ?? false,
                },
              ],
            },
          },
        },
      },
    },
    oas: {
      middleware: {
        operations: {
          virtual: {
            virtualEndpoint: {
              enabled: true,
              functionName: 'respond',
              body: encode(code),
              proxyOnError: more.proxyOnError ?? false,
            },
          },
        },
      },
    },
    document: { paths: { '/virtual': { post: { operationId: 'virtual', responses: {} } } } },
  });

  test('a script responds in place of the upstream', async () => {
    const definitions = virtual(`function respond(request, session, config) {
      return GwJsResponse({ Body: request.Body + request.Params.q[0] + config.APIID.length, Headers: { 'X-V': 'yes' }, Code: 203 }, {});
    }`);
    for (const { url, format } of await publishBoth(app, upstream, definitions)) {
      const before = upstream.requests.length;
      const reply = await fetch(`${url}/virtual?q=7`, { method: 'POST', body: 'b' });
      assert.deepEqual(
        [reply.status, reply.headers.get('x-v'), (await reply.text()).slice(0, 2)],
        [203, 'yes', 'b7'],
        format,
      );
      assert.equal(upstream.requests.length, before);
    }
  });

  test('an upgrade request gets the response of the script too', async () => {
    const { url } = await publishOne(
      app,
      upstream,
      virtual(`function respond() { return GwJsResponse({ Body: 'v', Code: 203 }, {}); }`),
    );
    const headers =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==';
    const { pathname, port, host } = new URL(url);
    const before = upstream.requests.length;
    const client = await call(Number(port));
    client.send(`POST ${pathname}/virtual HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n\r\n`);
    await eventually(() => assert.match(client.received(), /^HTTP\/1\.1 (203|400) /));
    client.leave();
    assert.equal(upstream.requests.length, before);
  });

  test('a script that fails gets 500, or the request is forwarded where the definition says so', async () => {
    const code = `function respond() { throw new Error('x'); }`;
    for (const { url, format } of await publishBoth(app, upstream, virtual(code))) {
      const reply = await fetch(`${url}/virtual`, { method: 'POST' });
      assert.deepEqual(
        [reply.status, await reply.text()],
        [500, errorBody('Error during virtual endpoint execution. Contact Administrator for more details.')],
        format,
      );
    }
    for (const { url, format } of await publishBoth(app, upstream, virtual(code, { proxyOnError: true })))
      assert.equal((await fetch(`${url}/virtual`, { method: 'POST' })).status, 200, format);
  });
});

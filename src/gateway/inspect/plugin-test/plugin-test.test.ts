import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { type Asked, onEveryEngine, startApp } from '../../../../tests/support/app.ts';
import { eventually, openApi, publish } from '../../../../tests/support/traffic.ts';
import { startUpstream } from '../../../../tests/support/upstream.ts';

const hook = (body: string) => `const mw = new GwJS.GwMiddleware.NewMiddleware({});
mw.NewProcessRequest(function (request, session, config) {
  ${body}
  return mw.ReturnData(request, session.meta_data || {});
});`;
const responseHook = `const mw = new GwJS.GwMiddleware.NewMiddleware({});
mw.NewProcessResponse(function (response, request, session, config) {
  response.SetHeaders['X-Length'] = String(response.Body.length);
  response.Body = response.Body.toUpperCase();
  return mw.ReturnResponseData(response, {});
});`;

onEveryEngine('Plugin test', app => {
  const onBoth = ['/gw/plugins/test', '/api/plugins/test'];
  const run = (body: object, more: Asked = {}, path = '/api/plugins/test') =>
    app().ask('POST', path, { body, ...more });

  test('a request hook: the answer has the exchange before and after, and its log lines', async () => {
    const code = hook(`log('seen ' + request.Headers['X-In'][0]);
      request.SetHeaders['X-Out'] = config.config_data.word; request.DeleteHeaders.push('X-In');
      request.AddParams.a = '2'; request.Body = request.Body + '!'; request.URL = '/new' + request.URL;`);
    const request = { Method: 'POST', URL: '/x?q=1', Headers: { 'X-In': 'in' }, Params: { p: ['1'] }, Body: 'text' };
    for (const path of onBoth)
      for (const driver of ['javascript', 'otto']) {
        const given = { code, driver, hook_type: 'pre', request, config_data: { word: 'hello' } };
        const { status, body, text } = await run(given, {}, path);
        assert.equal(status, 200, text);
        assert.equal(body.error, null, text);
        assert.deepEqual(
          body.logs.map(({ level, message }: { level: string; message: string }) => [level, message]),
          [['info', 'seen in']],
        );
        assert.deepEqual(body.request_before.Headers['X-In'], ['in']);
        assert.deepEqual(body.request_before.Params, { q: ['1'], p: ['1'] });
        const { request_after: changed } = body;
        assert.equal(changed.Headers['X-In'], undefined);
        assert.deepEqual(changed.Headers['X-Out'], ['hello']);
        assert.equal(changed.Body, 'text!');
        assert.equal(changed.URL, '/new/x?q=1&p=1&a=2');
        assert.ok(body.execution_ms >= 0);
      }
  });

  test('a response hook, a hook of authentication and a virtual endpoint run as in a definition', async () => {
    const changed = await run({
      code: responseHook,
      hook_type: 'response',
      response: { StatusCode: 201, Headers: { 'Content-Type': 'text/plain' }, Body: 'abc' },
    });
    assert.equal(changed.body.response_before.Body, 'abc', changed.text);
    assert.deepEqual(
      [changed.body.response_after.Body, changed.body.response_after.Headers['X-Length']],
      ['ABC', ['3']],
    );
    const auth = `const mw = new GwJS.GwMiddleware.NewMiddleware({});
      mw.NewProcessRequest(function (r) { return mw.ReturnAuthData(r, { alias: 'ann' }, 'ann'); });`;
    assert.deepEqual((await run({ code: auth, hook_type: 'auth_check' })).body.session_after, { alias: 'ann' });
    const virtual = `function hello(request, session, config) {
      return GwJsResponse({ Code: 202, Body: request.Body + config.APIID, Headers: { 'X-V': '1' } }, {});
    }`;
    const upstream = await startUpstream();
    const api = openApi(upstream);
    await publish(app(), api);
    await upstream.close();
    const served = await run({ code: virtual, hook_type: 'virtual', api_id: api.api_id, request: { Body: 'in ' } });
    assert.deepEqual(
      [served.body.response_after?.StatusCode, served.body.response_after?.Body],
      [202, `in ${api.api_id}`],
      served.text,
    );
  });

  test('a TypeScript hook gets the session with policies applied and its changes are returned', async () => {
    const code = `import type { RequestHook } from 'gatewright/plugin';
      export const mark: RequestHook = (request, context) => {
        request.headers.set('X-Alias', context.session!.alias);
        context.session!.meta_data.seen = 'yes';
      };`;
    const session = { alias: 'ann', meta_data: { first: '1' } };
    const { body, text } = await run({ code, driver: 'typescript', hook_type: 'post', session });
    assert.equal(body.error, null, text);
    assert.deepEqual(body.request_after.Headers['X-Alias'], ['ann']);
    assert.deepEqual(body.session_after.meta_data, { first: '1', seen: 'yes' });
  });

  test('an error has its type, file and line, and the lines logged before it', async () => {
    const failure = async (code: string, more = {}) => {
      const { body, text } = await run({ code, hook_type: 'pre', name: 'mw', ...more });
      assert.equal(body.request_after, null, text);
      return { ...body.error, logs: body.logs.length };
    };
    const thrown = await failure(hook("log('a');\n  throw new Error('broken');"));
    assert.deepEqual(thrown, { message: 'broken', type: 'runtime', file: 'mw.js', line: 4, logs: 1 });
    const { type, file, line } = await failure('const mw = {};\nlet = = 1;');
    assert.deepEqual([type, file, line], ['syntax', 'mw.js', 2]);
    const typed = await failure('export const mw = () => {};\nenum A { B }', { driver: 'typescript' });
    assert.deepEqual([typed.type, typed.line], ['syntax', 2]);
    assert.equal((await failure(hook("request.SetHeaders['bad name'] = 'x';"))).type, 'runtime');
    assert.equal((await failure(hook('const a = []; for (;;) a.push(new Array(1e5).fill(1));'))).type, 'memory');
  });

  test('keys and storage are those of the caller’s organisation, keys with their permission only', async () => {
    const upstream = await startUpstream();
    const { api_id } = openApi(upstream);
    await publish(app(), openApi(upstream, { api_id }));
    await upstream.close();
    const access_rights = { [api_id]: { api_id, versions: ['Default'] } };
    const { key_id } = (await app().ask('POST', '/api/keys', { body: { alias: 'mine', access_rights } })).body;
    const code = hook(`log(GwGetKeyData(${JSON.stringify(key_id)}, '')); GwStorageSet('plugin-test', 'here', 60);`);
    const given = { code, hook_type: 'pre' };
    const own = await run(given);
    assert.equal(JSON.parse(own.body.logs[0].message).alias, 'mine', own.text);
    const { accessKey: credential } = await app().stranger();
    const foreign = await run(given, { credential });
    assert.match(foreign.body.logs[0].message, /Key not found/);
    await run({ code: hook("GwStorageSet('plugin-test', 'there', 60);"), hook_type: 'pre' }, { credential });
    const reads = hook("log(String(GwStorageGet('plugin-test')));");
    const logged = async (more = {}) => (await run({ code: reads, hook_type: 'pre' }, more)).body.logs[0].message;
    assert.deepEqual([await logged(), await logged({ credential })], ['here', 'there']);
    const user = { email_address: `${createPublicId()}@example.org`, first_name: 'A', last_name: 'B', active: true };
    const made = await app().ask('POST', '/admin/users', { body: { ...user, user_permissions: { apis: 'write' } } });
    const limited = await run(given, { credential: made.body.Message });
    assert.match(limited.body.error.message, /GwGetKeyData needs the permission to write keys/);
  });

  test('policies of the session need the permission to read them, and access to all their APIs', async () => {
    const addUser = async (user_permissions: object) => {
      const user = { email_address: `${createPublicId()}@example.org`, first_name: 'A', last_name: 'B', active: true };
      const { body } = await app().ask('POST', '/admin/users', { body: { ...user, user_permissions } });
      return { id: body.Meta.id as string, credential: body.Message as string };
    };
    const owner = await addUser({ apis: 'write', policies: 'read' });
    const other = await addUser({ apis: 'write', policies: 'read' });
    const withoutPolicies = await addUser({ apis: 'write' });
    const addApi = async (more: object = {}) => {
      const api_definition = openApi({ url: 'http://127.0.0.1:9' });
      const { status, text } = await app().ask('POST', '/api/apis', { body: { api_definition, ...more } });
      assert.equal(status, 200, text);
      return api_definition.api_id;
    };
    const apiIds = [await addApi(), await addApi({ user_owners: [owner.id] })];
    const access_rights = Object.fromEntries(apiIds.map(api_id => [api_id, { api_id, versions: ['Default'] }]));
    const policy = { name: createPublicId(), active: true, access_rights, meta_data: { upstream: 'of-policy' } };
    const made = await app().ask('POST', '/api/portal/policies', { body: policy });
    assert.equal(made.status, 200, made.text);
    const code = hook('log(JSON.stringify(session));');
    for (const named of [{ apply_policies: [made.body.Message] }, { apply_policy_id: made.body.Message }]) {
      const given = { code, hook_type: 'post', session: { alias: 'ann', ...named } };
      await eventually(async () => {
        const allowed = await run(given, { credential: owner.credential });
        assert.match(allowed.text, /of-policy/);
      });
      for (const [{ credential }, reason] of [
        [other, /You do not own this API/],
        [withoutPolicies, /you need policies:read/],
      ] as const) {
        const refused = await run(given, { credential });
        assert.equal(refused.status, 403, refused.text);
        assert.match(refused.text, reason);
        assert.doesNotMatch(refused.text, /of-policy/);
      }
    }
    const plain = { code, hook_type: 'post', session: { alias: 'ann' } };
    assert.equal((await run(plain, { credential: withoutPolicies.credential })).status, 200);
  });

  test('what cannot run is refused with the place', async () => {
    const refuse = async (body: object, status: number, message: RegExp) => {
      for (const path of onBoth) {
        const reply = await run(body, {}, path);
        assert.equal(reply.status, status, reply.text);
        assert.match(reply.text, message);
      }
    };
    const code = hook('');
    await refuse(
      { code: `${code}\nconst other = new GwJS.GwMiddleware.NewMiddleware({});`, hook_type: 'pre' },
      400,
      /defines 2 hooks/,
    );
    await refuse({ code, hook_type: 'response' }, 400, /response: a hook of the type response needs one/);
    await refuse({ code, hook_type: 'pre', request: { Headers: { Host: 'a b' } } }, 400, /request: the Host header/);
    await refuse({ code, hook_type: 'pre', session: { rate: 'much' } }, 400, /session: rate/);
    await refuse({ code, hook_type: 'pre', api_id: createPublicId() }, 404, /API not found/);
    await refuse({ code, hook_typ: 'pre' }, 400, /hook_type/);
  });
});

describe('Plugin test without end', () => {
  test('a hook that does not end is stopped at the time limit, and requests are served meanwhile', async () => {
    const app = await startApp('sqlite', { settings: { 'plugins.timeout_ms': '500' } });
    const upstream = await startUpstream();
    try {
      const url = await publish(app, openApi(upstream));
      for (const loop of [
        'for (;;);',
        '[].reverse.call({ length: 2 ** 40 });',
        "/^(a+)+$/.test('a'.repeat(60) + 'b');",
      ]) {
        const pending = app.ask('POST', '/gw/plugins/test', { body: { code: hook(loop), hook_type: 'pre' } });
        assert.equal((await fetch(url)).status, 200);
        const { body, text } = await pending;
        assert.equal(body.error?.type, 'timeout', text);
      }
    } finally {
      await app.close();
      await upstream.close();
    }
  });
});

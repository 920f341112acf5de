import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createServer as createHttp2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { startApp, type TestApp } from './support/app.ts';
import { connectMcpClient, type McpUpstream, startMcpServer } from './support/mcp-server.ts';
import { ecPair, mint, pemOf } from './support/tokens.ts';
import { eventually, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

const on = { enabled: true };

interface Proxy {
  readonly id: string;
  readonly url: string;
}

interface ProxyOptions {
  readonly id?: string;
  readonly middleware?: object;
  readonly server?: object;
  readonly more?: object;
}

describe('MCP proxies', () => {
  let app: TestApp;
  let mcp: McpUpstream;
  let plain: Upstream;
  before(async () => {
    [app, mcp, plain] = await Promise.all([startApp('sqlite'), startMcpServer(), startUpstream()]);
  });
  after(() => Promise.all([app?.close(), mcp?.close(), plain?.close()]));

  async function publish(target: string, { id, middleware, server, more }: ProxyOptions = {}): Promise<Proxy> {
    const path = `/${createPublicId()}/`;
    const body = {
      openapi: '3.0.3',
      info: { title: 'Tools', version: '1' },
      paths: {},
      ...more,
      'x-gw-api-gateway': {
        info: { name: path, state: { active: true }, ...(id ? { id } : {}) },
        server: { listenPath: { value: path, strip: true }, ...server },
        upstream: { url: target },
        ...(middleware ? { middleware } : {}),
      },
    };
    const created = await app.ask('POST', '/api/mcps', { body });
    assert.equal(created.status, 200, created.text);
    await waitUntilApplied(app);
    return { id: created.body.ID, url: app.url.gateway + path };
  }

  const post = async (url: string, body: unknown, headers: Record<string, string> = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const type = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const reply = await fetch(url, { method: 'POST', headers: { ...type, ...headers }, body: text });
    const answer = await reply.text();
    return { status: reply.status, headers: reply.headers, text: answer, body: parse(answer) };
  };
  const parse = (text: string) => {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  };
  const call = (method: string, params?: object, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });
  const callTool = (name: string) => call('tools/call', { name, arguments: { text: 'hi' } });

  const withToken = { authentication: { enabled: true, securitySchemes: { authToken: { enabled: true } } } };
  const tokenDocument = {
    components: { securitySchemes: { authToken: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
    security: [{ authToken: [] }],
  };
  const publishGuarded = (target: string, middleware?: object) =>
    publish(target, { ...(middleware ? { middleware } : {}), server: withToken, more: tokenDocument });
  async function createKey(apiId: string, right: object): Promise<string> {
    const rights = { [apiId]: { api_id: apiId, api_name: 'Tools', versions: ['Default'], ...right } };
    const created = await app.ask('POST', '/api/keys', { body: { access_rights: rights } });
    assert.equal(created.status, 200, created.text);
    await waitUntilApplied(app);
    return created.body.key_id;
  }

  describe('clients and servers of the official SDK', () => {
    for (const isModern of [false, true])
      test(`a client of revision ${isModern ? '2026-07-28' : '2025-11-25'} lists and calls through the gateway`, async () => {
        const { url } = await publish(mcp.url);
        const { client } = await connectMcpClient(url, { isModern });
        assert.deepEqual(
          (await client.listTools()).tools.map(it => it.name),
          ['echo', 'danger'],
        );
        const result = await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
        assert.equal(result.content[0]!.text, 'echo hello');
        const read = await client.readResource({ uri: 'file:///pub/a' });
        assert.equal(read.contents[0]!.text, 'content of file:///pub/a');
        await client.close();
      });

    test('a session passes through, with its event stream', async () => {
      const { url } = await publish(mcp.sessionUrl, { middleware: { mcpTools: { danger: { block: on } } } });
      const { client, transport } = await connectMcpClient(url);
      assert.match(transport.sessionId ?? '', /^[0-9a-f-]{36}$/);
      assert.deepEqual(
        (await client.listTools()).tools.map(it => it.name),
        ['echo'],
      );
      assert.equal((await client.callTool({ name: 'echo', arguments: { text: 'x' } })).content[0]!.text, 'echo x');
      await assert.rejects(client.callTool({ name: 'danger', arguments: {} }), /Requested endpoint is forbidden/);
      await client.close();
    });

    for (const isModern of [false, true])
      test(`blocked primitives are neither listed nor called (${isModern ? '2026-07-28' : '2025-11-25'})`, async () => {
        const { url } = await publish(mcp.url, {
          middleware: {
            mcpTools: { danger: { block: on } },
            mcpResources: { 'file:///*': { block: on }, 'file:///pub/*': { allow: on } },
            mcpPrompts: { greet: { allow: on } },
          },
        });
        const { client } = await connectMcpClient(url, { isModern });
        assert.deepEqual(
          (await client.listTools()).tools.map(it => it.name),
          ['echo'],
        );
        assert.deepEqual(
          (await client.listResources()).resources.map(it => it.uri),
          ['file:///pub/a'],
        );
        assert.deepEqual(
          (await client.listPrompts()).prompts.map(it => it.name),
          ['greet'],
        );
        const before = mcp.calls.length;
        await assert.rejects(client.callTool({ name: 'danger', arguments: {} }), /forbidden/);
        await assert.rejects(client.readResource({ uri: 'file:///secret' }), /forbidden/);
        await assert.rejects(client.readResource({ uri: 'file:///pub/../secret' }), /forbidden/);
        await assert.rejects(client.readResource({ uri: 'FILE:///secret' }), /forbidden/);
        await assert.rejects(client.getPrompt({ name: 'hidden' }), /forbidden/);
        assert.equal(mcp.calls.length, before);
        assert.equal((await client.readResource({ uri: 'file:///pub/a' })).contents.length, 1);
        await client.close();
      });

    test('rights of a key decide what its clients see and call', async () => {
      const { id, url } = await publishGuarded(mcp.url);
      const key = await createKey(id, {
        json_rpc_methods_access_rights: { blocked: ['prompts/.*', 'completion/.*'] },
        mcp_access_rights: { tools: { allowed: ['ec.*'] }, resources: { blocked: ['file:///secret'] } },
      });
      const { client } = await connectMcpClient(url, { headers: { authorization: key } });
      const { prompts, tools, resources } = client.getServerCapabilities() ?? {};
      assert.deepEqual([prompts, typeof tools, typeof resources], [undefined, 'object', 'object']);
      assert.deepEqual(
        (await client.listTools()).tools.map(it => it.name),
        ['echo'],
      );
      assert.deepEqual(
        (await client.listResources()).resources.map(it => it.uri),
        ['file:///pub/a'],
      );
      await assert.rejects(client.callTool({ name: 'danger', arguments: {} }), /primitive has been disallowed/);
      await assert.rejects(client.readResource({ uri: 'file:///a/../secret' }), /primitive has been disallowed/);
      assert.equal((await client.callTool({ name: 'echo', arguments: { text: 'y' } })).content[0]!.text, 'echo y');
      await client.close();
      const denied = await post(url, call('prompts/list'), { authorization: key });
      assert.deepEqual([denied.status, denied.body.error.code], [403, -32002], denied.text);
      const other = await createKey(id, {});
      const whole = await connectMcpClient(url, { headers: { authorization: other } });
      assert.equal((await whole.client.listTools()).tools.length, 2);
      await whole.client.close();
    });
  });

  describe('JSON-RPC messages', () => {
    test('errors of the gateway are JSON-RPC errors with the HTTP status', async () => {
      const { url } = await publishGuarded(plain.url);
      const cases: readonly [unknown, number, number, unknown][] = [
        ['{', 400, -32700, null],
        [[call('ping')], 400, -32600, null],
        [{ id: 1, method: 'ping' }, 400, -32600, null],
        [{ jsonrpc: '2.0', id: 7 }, 400, -32600, 7],
        [call('tools/call', undefined, 'a"b'), 400, -32602, 'a"b'],
        [call('tools/call', {}), 400, -32602, 1],
        [call('resources/read', { name: 'x' }), 400, -32602, 1],
        [callTool('echo'), 401, -32001, 1],
      ];
      const before = plain.requests.length;
      for (const [body, status, code, id] of cases) {
        const answer = await post(url, body);
        assert.deepEqual(
          [answer.status, answer.body?.error?.code, answer.body?.error?.data, answer.body?.id],
          [status, code, { http_code: status }, id],
          `${JSON.stringify(body)}: ${answer.text}`,
        );
        assert.deepEqual([answer.body.jsonrpc, answer.headers.get('content-type')], ['2.0', 'application/json']);
      }
      assert.equal(plain.requests.length, before);
      const huge = await post(url, '{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}');
      assert.ok(huge.text.endsWith('"id":12345678901234567890}'), huge.text);
      const wrongKey = await post(url, callTool('echo'), { authorization: 'wrong-key-that-is-long' });
      assert.deepEqual([wrongKey.status, wrongKey.body.error.code], [403, -32002], wrongKey.text);
    });

    test('an unreachable server is a JSON-RPC error too', async () => {
      const { url } = await publish('http://127.0.0.1:9/');
      const answer = await post(url, callTool('echo'));
      assert.deepEqual([answer.body.error.code, answer.body.id], [-32004, 1], answer.text);
    });

    test('a message is forwarded as it was sent, with the headers of the protocol', async () => {
      const { url } = await publish(plain.url, { middleware: { mcpTools: { x: { block: on } } } });
      const text = ` {"jsonrpc" : "2.0", "id":1, "method":"tools/call", "params":{"name":"a","arguments":{"n":1e400}}} `;
      const headers = { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': 's1', 'last-event-id': '7' };
      assert.equal((await post(url, text, headers)).status, 200);
      const received = plain.requests.at(-1)!;
      assert.equal(received.body, text);
      for (const [name, value] of Object.entries(headers)) assert.equal(received.headers[name], value);
      const response = await post(url, { jsonrpc: '2.0', id: 's', result: {} });
      assert.equal(response.status, 200);
      assert.equal((await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' })).status, 200);
    });

    test('duplicate members, other spellings and other headers are refused', async () => {
      const { url } = await publish(plain.url, { middleware: { mcpTools: { danger: { block: on } } } });
      const before = plain.requests.length;
      for (const body of [
        '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"danger"}}',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"danger"}}',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","Name":"danger"}}',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"},"Params":{"name":"danger"}}',
        `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'['.repeat(1000)}${']'.repeat(1000)}}`,
      ])
        assert.equal((await post(url, body)).body.error.code, -32600, body.slice(0, 100));
      for (const headers of [
        { 'mcp-method': 'tools/list' },
        { 'mcp-method': 'tools/call', 'mcp-name': 'danger' },
        { 'mcp-name': `=?base64?${Buffer.from('danger').toString('base64')}?=` },
      ])
        assert.equal((await post(url, callTool('echo'), headers as never)).body.error.code, -32020);
      assert.equal(plain.requests.length, before);
      const right = { 'mcp-method': 'tools/call', 'mcp-name': `=?base64?${Buffer.from('echo').toString('base64')}?=` };
      assert.equal((await post(url, callTool('echo'), right)).status, 200);
    });

    test('a body that cannot be read does not pass rules', async () => {
      const { url } = await publish(plain.url, { middleware: { mcpTools: { danger: { block: on } } } });
      const before = plain.requests.length;
      const types = [
        'text/json',
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/json; charset=utf-16',
      ];
      for (const type of types)
        assert.equal((await post(url, callTool('danger'), { 'content-type': type })).status, 415, type);
      assert.equal((await post(url, callTool('danger'), { 'content-encoding': 'gzip' })).status, 415);
      for (const method of ['PUT', 'PATCH', 'DELETE']) {
        const headers = { 'content-type': 'application/json' };
        assert.equal((await fetch(url, { method, headers, body: '{}' })).status, 415, method);
      }
      assert.equal(await sendWithoutType(url, JSON.stringify(callTool('danger'))), 415);
      assert.equal(plain.requests.length, before);
      for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON'])
        assert.equal((await post(url, callTool('danger'), { 'content-type': type })).status, 403, type);
      assert.equal((await fetch(url, { method: 'DELETE' })).status, 200);
      const open = await publish(plain.url);
      assert.equal((await post(open.url, 'a=b', { 'content-type': 'application/x-www-form-urlencoded' })).status, 200);
    });

    test('virtual paths cannot be called', async () => {
      const { url } = await publish(plain.url, { middleware: { mcpTools: { danger: { allow: on } } } });
      const before = plain.requests.length;
      for (const path of ['mcp-tool:danger', 'json-rpc-method:tools/call', 'mcp-resource:a', 'mcp-prompt%3Aa'])
        assert.equal((await fetch(url + path)).status, 404, path);
      assert.equal(plain.requests.length, before);
    });
  });

  describe('rules of methods and primitives', () => {
    test('an allowed entry closes its category alone, and blocked entries win', async () => {
      const { url } = await publish(plain.url, {
        middleware: {
          operations: { 'prompts/getPOST': { block: on } },
          mcpTools: { a: { allow: on }, b: { allow: on, block: on }, c: {} },
        },
      });
      const cases: readonly [object, number][] = [
        [callTool('a'), 200],
        [callTool('b'), 403],
        [callTool('c'), 403],
        [callTool('A'), 403],
        [call('resources/read', { uri: 'x:y' }), 200],
        [call('prompts/get', { name: 'p' }), 403],
        [call('prompts/list'), 200],
        [call('ping'), 200],
      ];
      for (const [body, status] of cases) assert.equal((await post(url, body)).status, status, JSON.stringify(body));
    });

    test('an allowed method closes the others', async () => {
      const { url } = await publish(plain.url, { middleware: { operations: { 'tools/callPOST': { allow: on } } } });
      assert.equal((await post(url, callTool('a'))).status, 200);
      assert.equal((await post(url, call('tools/list'))).status, 403);
      assert.equal((await post(url, { jsonrpc: '2.0', id: 's', result: {} })).status, 200);
    });

    test('rate limits, sizes and headers apply to the primitive, else to the method', async () => {
      const { url } = await publish(plain.url, {
        middleware: {
          operations: {
            'tools/callPOST': { transformRequestHeaders: { ...on, add: [{ name: 'x-level', value: 'method' }] } },
          },
          mcpTools: {
            limited: { rateLimit: { ...on, rate: 1, per: '1h' } },
            small: { requestSizeLimit: { ...on, value: 120 } },
            own: {
              transformRequestHeaders: { ...on, add: [{ name: 'x-level', value: 'tool' }] },
              transformResponseHeaders: { ...on, add: [{ name: 'x-tool', value: 'own' }] },
            },
          },
        },
      });
      assert.equal((await post(url, callTool('limited'))).status, 200);
      const limited = await post(url, callTool('limited'));
      assert.deepEqual([limited.status, limited.body.error.code], [429, -32003], limited.text);
      assert.equal((await post(url, callTool('other'))).status, 200);
      assert.equal(plain.requests.at(-1)!.headers['x-level'], 'method');
      const own = await post(url, callTool('own'));
      assert.deepEqual([plain.requests.at(-1)!.headers['x-level'], own.headers.get('x-tool')], ['tool', 'own']);
      const large = JSON.stringify(call('tools/call', { name: 'small', arguments: { text: 'x'.repeat(200) } }));
      assert.match((await post(url, large)).body.error.message, /Request is too large/);
      assert.equal(await sendWithoutType(url, large, { 'content-type': 'application/json' }), 411);
      assert.equal((await post(url, callTool('small'))).status, 200);
    });

    test('timeouts, breakers, bodies and tracking apply to the primitive', async () => {
      const template = Buffer.from('{"jsonrpc":"2.0","id":{{.id}},"method":"tools/call","params":{"name":"changed"}}');
      const { id, url } = await publish(plain.url, {
        middleware: {
          global: { trafficLogs: on },
          mcpTools: {
            slow: { enforceTimeout: { ...on, value: 1 } },
            failing: { circuitBreaker: { ...on, threshold: 0.5, sampleSize: 1, coolDownPeriod: 3600 } },
            changed: { transformRequestBody: { ...on, format: 'json', body: template.toString('base64') } },
            tracked: { trackEndpoint: on },
            untracked: { doNotTrackEndpoint: on },
          },
        },
      });
      plain.answer = (_request, response, body) => {
        const { name } = JSON.parse(body).params;
        if (name === 'slow') return;
        response.writeHead(name === 'failing' ? 500 : 200);
        response.end(body);
      };
      const slow = await post(url, callTool('slow'));
      assert.deepEqual([slow.status, slow.body.error.code], [504, -32004], slow.text);
      assert.equal((await post(url, callTool('failing'))).status, 500);
      await eventually(async () => assert.equal((await post(url, callTool('failing'))).status, 503));
      assert.equal((await post(url, callTool('other'))).status, 200);
      assert.deepEqual((await post(url, callTool('changed'))).body.params, { name: 'changed' });
      await post(url, callTool('untracked'));
      await post(url, callTool('tracked'));
      plain.answer = undefined;
      const now = Math.floor(Date.now() / 1000);
      await eventually(async () => {
        const { body } = await app.ask('GET', `/api/logs?start=${now - 3600}&end=${now + 3600}&api_id=${id}&p=-1`);
        const found = body.data as Record<string, string>[];
        const tracked = found.find(it => it.mcp_primitive_name === 'tracked');
        assert.deepEqual([tracked?.path, tracked?.track_path], ['/mcp-tool:tracked', true]);
        assert.ok(!found.some(it => it.mcp_primitive_name === 'untracked'));
      });
    });

    test('a virtual endpoint answers in place of the server', async () => {
      const script = `function answer(request) {
        var message = JSON.parse(request.Body)
        return GwJsResponse({ Body: JSON.stringify({ jsonrpc: '2.0', id: message.id, result: 'own' }), Code: 200 })
      }`;
      const body = Buffer.from(script).toString('base64');
      const { url } = await publish(plain.url, {
        middleware: { mcpTools: { own: { virtualEndpoint: { ...on, functionName: 'answer', body } } } },
      });
      const before = plain.requests.length;
      // The first run of a script may exceed its time on a slow machine.
      await eventually(async () => {
        const answer = await post(url, callTool('own'));
        assert.deepEqual([answer.status, answer.body?.result], [200, 'own'], answer.text);
      });
      assert.equal(plain.requests.length, before);
      assert.equal((await post(url, callTool('other'))).status, 200);
    });

    test('a plugin of a primitive runs for its calls only', async () => {
      const script = `var mark = new GwJS.GwMiddleware.NewMiddleware({});
        mark.NewProcessRequest(function (request) {
          request.SetHeaders['X-Plugin'] = 'ran'; return mark.ReturnData(request, {}); });`;
      const code = Buffer.from(script).toString('base64');
      const { url } = await publish(plain.url, {
        middleware: { mcpTools: { marked: { postPlugins: [{ ...on, functionName: 'mark', code }] } } },
      });
      const readMark = async (tool: string) => {
        assert.equal((await post(url, callTool(tool))).status, 200);
        return plain.requests.at(-1)!.headers['x-plugin'];
      };
      // The first run of a script may exceed its time on a slow machine.
      await eventually(async () => assert.equal(await readMark('marked'), 'ran'));
      assert.equal(await readMark('other'), undefined);
    });

    test('scopes of the method and of the primitive are required', async () => {
      const { publicKey, privateKey } = ecPair();
      const header = { enabled: true, name: 'Authorization' };
      const apiId = createPublicId();
      const policy = await app.ask('POST', '/api/portal/policies', {
        body: {
          name: apiId,
          active: true,
          state: 'active',
          access_rights: { [apiId]: { api_id: apiId, api_name: 'Tools', versions: ['Default'] } },
        },
      });
      assert.equal(policy.status, 200, policy.text);
      const source = Buffer.from(pemOf(publicKey)).toString('base64');
      const jwt = { ...on, header, source, signingMethod: 'ecdsa', defaultPolicies: [policy.body.Message] };
      const { url } = await publish(plain.url, {
        id: apiId,
        more: {
          components: {
            securitySchemes: {
              jwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
              scoped: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: '/t', scopes: {} } } },
            },
          },
          security: [{ jwt: [], scoped: [] }],
          paths: { '/tools/call': { post: { responses: {}, security: [{ scoped: ['call'] }] } } },
        },
        server: {
          authentication: { ...on, securitySchemes: { jwt, scoped: { ...on, header, scopeCheck: { ...on } } } },
        },
        middleware: {
          mcpTools: {
            write: { security: [{ scoped: ['write'] }] },
            free: { security: [{ scoped: ['write'] }], scopeCheck: { enabled: false } },
          },
        },
      });
      const send = async (body: object, scope: string) => {
        const claims = { sub: 'me', scope, exp: Math.floor(Date.now() / 1000) + 3600 };
        const token = mint(claims, privateKey, { alg: 'ES256', header: {} });
        return (await post(url, body, { authorization: `Bearer ${token}` })).status;
      };
      assert.equal(await send(callTool('other'), ''), 403);
      assert.equal(await send(callTool('other'), 'call'), 200);
      assert.equal(await send(callTool('write'), 'call'), 403);
      assert.equal(await send(callTool('write'), 'write'), 403);
      assert.equal(await send(callTool('write'), 'call write'), 200);
      assert.equal(await send(callTool('free'), 'call'), 200);
      assert.equal(await send(call('tools/list'), ''), 200);
    });

    test('rights to primitives of an API that is no MCP proxy are refused', async () => {
      const body = {
        name: 'Plain',
        active: true,
        use_keyless: false,
        proxy: { listen_path: `/${createPublicId()}`, target_url: plain.url },
      };
      const { body: created } = await app.ask('POST', '/api/apis', { body: { api_definition: body } });
      const rights = { [created.ID]: { api_id: created.ID, mcp_access_rights: { tools: { blocked: ['a'] } } } };
      const answer = await app.ask('POST', '/api/keys', { body: { access_rights: rights } });
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.text, /mcp_access_rights: .* MCP prox/);
    });

    test('a primitive without authentication is open, the others are not', async () => {
      const { url } = await publishGuarded(plain.url, { mcpTools: { open: { ignoreAuthentication: on } } });
      assert.equal((await post(url, callTool('open'))).status, 200);
      assert.equal((await post(url, callTool('other'))).status, 401);
      assert.equal((await post(url, call('tools/list'))).status, 401);
    });

    test('limits of a key hold for a method and a primitive', async () => {
      const { id, url } = await publishGuarded(plain.url);
      const key = await createKey(id, {
        json_rpc_methods: [{ name: 'tools/list', limit: { rate: 1, per: 3600 } }],
        mcp_primitives: [{ type: 'tool', name: 'a', limit: { rate: 1, per: 3600 } }],
      });
      const headers = { authorization: key };
      for (const body of [callTool('a'), call('tools/list')]) {
        assert.equal((await post(url, body, headers)).status, 200);
        assert.equal((await post(url, body, headers)).status, 429);
      }
      assert.equal((await post(url, callTool('b'), headers)).status, 200);
    });

    test('a key with rights to primitives sends no body that cannot be read', async () => {
      const { id, url } = await publishGuarded(plain.url);
      const key = await createKey(id, { mcp_access_rights: { tools: { blocked: ['danger'] } } });
      const answer = await post(url, callTool('danger'), { authorization: key, 'content-type': 'text/json' });
      assert.equal(answer.status, 415, answer.text);
    });
  });

  describe('lists in responses', () => {
    const tools = { jsonrpc: '2.0', id: 1, result: { tools: [{ name: 'a' }, { name: 'b' }], nextCursor: 'c' } };
    const rules = { middleware: { mcpTools: { b: { block: on } } } };
    const nested = '['.repeat(100_000) + ']'.repeat(100_000);
    const listNames = (text: string): string[] =>
      [...text.matchAll(/"name":"(\w+)"/g)].map(([, name]) => name!).filter(Boolean);
    after(() => {
      plain.answer = undefined;
    });

    test('an event stream is filtered event by event, also where data is split over lines', async () => {
      const { url } = await publish(plain.url, rules);
      let finish = () => {};
      plain.answer = (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(': hello\n\nid: 1\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n');
        finish = () => {
          const parts = JSON.stringify(tools).split(/(?<=,)/);
          response.end(`event: message\r\nid: 2\r\n${parts.map(part => `data:${part}\r\n`).join('')}\r\n`);
        };
      };
      const reply = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify(call('tools/list')),
      });
      const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      while (!text.includes('progress')) text += (await reader.read()).value;
      finish();
      for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
      assert.deepEqual(listNames(text), ['a'], text);
      assert.match(text, /event: message\nid: 2\ndata: /);
    });

    test('the event stream of a GET request is filtered, since it may repeat a response', async () => {
      const { url } = await publish(plain.url, rules);
      plain.answer = (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`data: ${JSON.stringify(tools)}\n\ndata: ${JSON.stringify([tools])}\n\n`);
      };
      const text = await (await fetch(url, { headers: { accept: 'text/event-stream', 'last-event-id': '1' } })).text();
      assert.deepEqual(listNames(text), ['a', 'a'], text);
    });

    test('a JSON response keeps its other members; one that cannot be read is not sent', async () => {
      const { url } = await publish(plain.url, rules);
      let body: string | Buffer = JSON.stringify(tools);
      let headers: Record<string, string> = {};
      plain.answer = (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', ...headers });
        response.end(body);
      };
      const listed = await post(url, call('tools/list'), { 'accept-encoding': 'gzip' });
      assert.deepEqual(listed.body.result, { tools: [{ name: 'a' }], nextCursor: 'c' });
      assert.equal(plain.requests.at(-1)!.headers['accept-encoding'], 'identity');
      body = '{"tools":';
      assert.equal((await post(url, call('tools/list'))).body.error.code, -32004);
      headers = { 'content-encoding': 'zstd' };
      body = JSON.stringify(tools);
      const encoded = await post(url, call('tools/list'));
      assert.deepEqual([encoded.status, encoded.body.error.code], [502, -32004], encoded.text);
      headers = {};
      body = nested;
      const deep = await post(url, call('tools/list'));
      assert.deepEqual([deep.status, deep.body.error.code], [502, -32004], deep.text);
    });

    test('a deeply nested response of an HTTP/2 upstream fails its exchange alone', async t => {
      const server = createHttp2Server().on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
        const type = headers[':method'] === 'GET' ? 'text/event-stream' : 'application/json';
        stream.respond({ ':status': 200, 'content-type': type });
        stream.end(headers[':method'] === 'GET' ? `data: ${nested}\n\n` : nested);
      });
      t.after(() => server.close());
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { url } = await publish(`h2c://127.0.0.1:${(server.address() as AddressInfo).port}`, rules);
      const deep = await post(url, call('tools/list'));
      assert.deepEqual([deep.status, deep.body.error.code], [502, -32004], deep.text);
      await assert.rejects(fetch(url, { headers: { accept: 'text/event-stream' } }).then(reply => reply.text()));
      assert.equal((await post(url, call('tools/list'))).status, 502);
    });

    test('an event that is too large to filter ends the stream', async () => {
      const { url } = await publish(plain.url, rules);
      plain.answer = (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.on('error', () => undefined);
        response.write('data: "');
        const part = 'x'.repeat(1_048_576);
        for (let sent = 0; sent < 24; sent++) response.write(part);
      };
      const reply = await fetch(url, { headers: { accept: 'text/event-stream' } });
      await assert.rejects(reply.text());
    });
  });

  test('an upgrade to a WebSocket is refused, since no rule would see its messages', async () => {
    const { url } = await publish(plain.url, { middleware: { mcpTools: { b: { block: on } } } });
    const headers = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const key = { 'sec-websocket-key': Buffer.alloc(16).toString('base64'), 'sec-websocket-protocol': 'mcp' };
    const before = plain.requests.length;
    const sent = request(url, { headers: { ...headers, ...key } });
    sent.end();
    const [reply] = (await once(sent, 'response')) as [IncomingMessage];
    assert.deepEqual([reply.statusCode, plain.requests.length], [400, before]);
    reply.resume();
  });

  test('records have the method and the primitive', async () => {
    const { id, url } = await publish(plain.url, { middleware: { global: { trafficLogs: on } } });
    await post(url, callTool('t'));
    await post(url, call('tools/list'));
    const now = Math.floor(Date.now() / 1000);
    await eventually(async () => {
      const { body } = await app.ask('GET', `/api/logs?start=${now - 3600}&end=${now + 3600}&api_id=${id}`);
      const found = (body.data as Record<string, string>[]).map(
        it => `${it.mcp_method} ${it.mcp_primitive_type} ${it.mcp_primitive_name}`,
      );
      assert.deepEqual(found.sort(), ['tools/call tool t', 'tools/list undefined undefined']);
    });
  });
});

/** POST with a chunked body and exactly these headers. */
function sendWithoutType(url: string, body: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers: { ...headers, 'transfer-encoding': 'chunked' } }, reply => {
      reply.resume();
      resolve(reply.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

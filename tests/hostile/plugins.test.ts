import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { openApi, publish, waitUntilApplied } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** Scripts that attack the gateway, other organisations or its network. */

const encode = (code: string) => Buffer.from(code).toString('base64');
const script = (body: string) => `const mw = new GwJS.GwMiddleware.NewMiddleware({});
mw.NewProcessRequest(function (request, session, config) {
  ${body}
  return mw.ReturnData(request, {});
});`;
const plugin = (body: string, driver = 'javascript') => ({
  custom_middleware: { driver, pre: [{ name: 'mw', path: '', code: encode(script(body)) }] },
});
/** Responds with the value of an expression. */
const respond = (expression: string) =>
  plugin(`request.ReturnOverrides = { ResponseCode: 200, ResponseBody: String(${expression}) };`);

/** Upstream of tenants, which no request reaches: their plugins respond. */
const elsewhere = { url: 'http://192.0.2.1' };

const privateHosts = [
  '127.0.0.1',
  'localhost',
  '2130706433',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '0.0.0.0',
  '169.254.169.254',
];

describe('Hostile plugins', () => {
  let app: TestApp;
  let upstream: Upstream;
  let other: string;
  before(async () => {
    const grants = JSON.stringify({ networks: ['public'] });
    const settings = { 'plugins.timeout_ms': '1000', threads: '1', 'tenants.grants': grants };
    [app, upstream] = await Promise.all([startApp('sqlite', { settings }), startUpstream()]);
    other = await publish(app, openApi(upstream));
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });

  const exhausting: Readonly<Record<string, string>> = {
    'an endless loop': 'for (;;);',
    'a loop in native code': '[].reverse.call({ length: 2 ** 40 });',
    'an endless recursion': 'const f = () => f() + 1; f();',
    'a recursion through toString': 'const a = { toString: () => String(a) }; String(a);',
    'a memory bomb': 'const a = []; for (;;) a.push(new Array(1e5).fill(1));',
    'a doubling text': "let s = 'x'; for (;;) s += s;",
    'an output of 100 MB': "request.Body = 'x'.repeat(1e8);",
    'many small outputs': "for (let i = 0; i < 1e6; i++) request.SetHeaders['X-' + i] = 'v';",
    'thousands of headers': "for (let i = 0; i < 2e4; i++) request.SetHeaders['X-' + i] = 'v';",
    'thousands of parameters': "for (let i = 0; i < 2e4; i++) request.ExtendedParams['p' + i] = ['v'];",
    'a regular expression with backtracking': "/^(a+)+$/.test('a'.repeat(60) + 'b');",
    'a regular expression with nested groups': "/^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(60));",
    'a large number': "BigInt('9'.repeat(1e6)) ** 100n;",
    'a deep JSON text': "JSON.parse('['.repeat(1e6));",
  };
  for (const [name, body] of Object.entries(exhausting))
    for (const driver of ['javascript', 'otto'])
      test(`${name} (${driver}) ends in 500, while other APIs are served`, async () => {
        const url = await publish(app, openApi(upstream, plugin(body, driver)));
        const attacks = Array.from({ length: 3 }, () => fetch(url));
        assert.equal((await fetch(other)).status, 200);
        for (const attack of attacks) assert.equal((await attack).status, 500);
        assert.equal((await fetch(other)).status, 200);
      });

  /** Requests after which a plugin whose calls are short has left its worker. */
  const harmlessRequests = 60;
  for (const [name, body] of Object.entries(exhausting))
    test(`${name} after harmless calls ends in 500, while other APIs are served`, async () => {
      const attack = { headers: { 'x-attack': '1' } };
      const url = await publish(app, openApi(upstream, plugin(`if (request.Headers['X-Attack']) { ${body} }`)));
      for (let i = 0; i < harmlessRequests; i++) assert.equal((await fetch(url)).status, 200);
      const attacks = Array.from({ length: 3 }, () => fetch(url, attack));
      assert.equal((await fetch(other)).status, 200);
      for (const attacked of attacks) assert.equal((await attacked).status, 500);
      assert.equal((await fetch(url)).status, 200);
    });

  const escapes: Readonly<Record<string, string>> = {
    process: 'typeof process + typeof require + typeof globalThis.Buffer',
    'constructors of functions': "typeof (function () {}).constructor('return this.process')()",
    'constructors of host functions':
      'typeof log.constructor(\'return typeof process === "object" ? process : undefined\')()',
    import:
      "(() => { try { return typeof new Function('return import(\"node:fs\")')().then; } catch { return 'undefined'; } })()",
    WebAssembly: 'typeof WebAssembly + typeof SharedArrayBuffer.prototype.host',
  };
  for (const [name, expression] of Object.entries(escapes))
    test(`${name}: nothing of the host is reachable`, async () => {
      const reply = await fetch(await publish(app, openApi(upstream, respond(expression))));
      const text = await reply.text();
      assert.ok(reply.status === 500 || /^(undefined|function|object)+$/.test(text), text);
      assert.doesNotMatch(text, /object.*object/);
    });

  test('changed prototypes reach neither the gateway nor the next call', async () => {
    const url = await publish(
      app,
      openApi(
        upstream,
        plugin(`request.SetHeaders['X-Before'] = String({}.polluted);
        Object.prototype.polluted = 'yes'; Array.prototype.map = null; Object.prototype.toJSON = () => 'x';
        Object.defineProperty(Object.prototype, 'ResponseCode', { get: () => 418 });
        delete Object.prototype.toJSON;
        request.SetHeaders.__proto__ = { 'X-Inherited': '1' };`),
      ),
    );
    for (let i = 0; i < 3; i++) {
      assert.ok([200, 418, 500].includes((await fetch(url)).status));
      assert.equal((await fetch(other)).status, 200);
      assert.equal(upstream.requests.at(-1)!.headers['x-inherited'], undefined);
    }
    const seen = upstream.requests.map(({ headers }) => headers['x-before']).filter(it => it !== undefined);
    assert.ok(
      seen.every(it => it === 'undefined'),
      String(seen),
    );
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
  });

  test('memory returns after 10,000 calls that each leak 100 kB, on workers and on the traffic thread', async () => {
    const url = await publish(app, openApi(upstream, plugin(`globalThis.kept = 'x'.repeat(1e5) + Math.random();`)));
    const send = async (count: number) => {
      let left = count;
      const client = async () => {
        while (left-- > 0) assert.equal((await fetch(url)).status, 200);
      };
      await Promise.all(Array.from({ length: 8 }, client));
    };
    await send(1000);
    const before = process.memoryUsage().rss;
    await send(10_000);
    const grownMiB = (process.memoryUsage().rss - before) / 1_048_576;
    assert.ok(grownMiB < 400, `grew by ${grownMiB} MiB of the 950 that were leaked`);
    assert.equal((await fetch(other)).status, 200);
  });

  test('keys of another organisation do not exist for a plugin, read or written', async () => {
    const api = openApi(upstream);
    await publish(app, api);
    const access_rights = { [api.api_id]: { api_id: api.api_id, versions: ['Default'] } };
    const { key_id, key_hash } = (await app.ask('POST', '/api/keys', { body: { alias: 'mine', access_rights } })).body;
    const { accessKey: credential } = await app.stranger();
    for (const text of [key_id, key_hash]) {
      const definition = openApi(
        elsewhere,
        plugin(`let written = 'yes';
        const read = GwGetKeyData(${JSON.stringify(text)}, '');
        try { GwSetKeyData(${JSON.stringify(text)}, JSON.stringify({ alias: 'theirs', access_rights: ${JSON.stringify(access_rights)} }), '1'); }
        catch (error) { written = error.message; }
        request.ReturnOverrides = { ResponseCode: 200, ResponseBody: read + written };`),
      );
      const body = { api_definition: definition };
      assert.equal((await app.ask('POST', '/api/apis', { body, credential })).status, 200);
      await waitUntilApplied(app);
      const answer = await (await fetch(app.url.gateway + definition.proxy.listen_path)).text();
      assert.match(answer, /Key not found/);
      assert.doesNotMatch(answer, /mine/);
      assert.equal((await app.ask('GET', `/gw/keys/${key_id}`)).body.alias, 'mine');
    }
  });

  test('a plugin of a tenant reaches no private address, whatever its spelling', async () => {
    const { accessKey: credential } = await app.stranger();
    const { port } = new URL(upstream.url);
    for (const host of privateHosts) {
      const call = JSON.stringify({ Method: 'GET', Domain: `http://${host}:${port}`, Resource: '/secret-place' });
      const definition = openApi(elsewhere, respond(`GwMakeHttpRequest(${JSON.stringify(call)})`));
      const made = await app.ask('POST', '/api/apis', { body: { api_definition: definition }, credential });
      assert.equal(made.status, 200, made.text);
      await waitUntilApplied(app);
      const reply = await fetch(app.url.gateway + definition.proxy.listen_path);
      assert.doesNotMatch(await reply.text(), /"Code"/, host);
    }
    assert.ok(!upstream.requests.some(({ url }) => url.includes('secret-place')));
  });

  test('a plugin test for a tenant reaches no private address, while one of the operator does', async () => {
    const { accessKey: credential, orgId } = await app.stranger();
    const { port } = new URL(upstream.url);
    const listTests = (host: string) => {
      const url = `http://${host}:${port}/tested-place`;
      const request = JSON.stringify(JSON.stringify({ Method: 'GET', Domain: url }));
      const batch = JSON.stringify(JSON.stringify({ requests: [{ method: 'GET', relative_url: url }] }));
      const codes = [
        { code: script(`GwMakeHttpRequest(${request});`) },
        { code: script(`GwBatchRequest(${batch});`) },
        {
          code: `export const mw = async (_request, context) => { await context.fetch('${url}'); };`,
          driver: 'typescript',
        },
      ];
      return codes.map(it => ({ ...it, hook_type: 'pre', name: 'mw' }));
    };
    const countReached = () => upstream.requests.filter(({ url }) => url === '/tested-place').length;
    for (const body of listTests('127.0.0.1')) {
      const reached = countReached();
      const { text } = await app.ask('POST', '/api/plugins/test', { body });
      assert.equal(countReached(), reached + 1, text);
    }
    const reached = countReached();
    for (const host of privateHosts)
      for (const body of listTests(host)) {
        const own = await app.ask('POST', '/api/plugins/test', { body, credential });
        const operators = await app.ask('POST', '/gw/plugins/test', { body: { ...body, org_id: orgId } });
        for (const { status, text } of [own, operators]) assert.equal(status, 200, text);
        assert.equal(countReached(), reached, `${host}: ${own.text}`);
      }
  });
});

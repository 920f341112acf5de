import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { type Asked, onEveryEngine, startApp } from '../../../tests/support/app.ts';
import { eventually, startUpstream, type Upstream } from '../../../tests/support/upstream.ts';

onEveryEngine('Calls of the gateway through the dashboard', app => {
  let upstream: Upstream;
  let path: string;
  before(async () => {
    upstream = await startUpstream();
    path = await publish();
  });
  after(() => upstream.close());

  async function publish(more: Asked = {}, listenPath = `/p${createPublicId()}/`): Promise<string> {
    const proxy = { listen_path: listenPath, target_url: upstream.url, strip_listen_path: true };
    const body = { api_definition: { name: `Proxied ${createPublicId()}`, use_keyless: true, proxy } };
    const { status, text } = await app().ask('POST', '/api/apis', { body, ...more });
    assert.equal(status, 200, text);
    await app().ask('GET', '/admin/system/reload');
    return listenPath;
  }
  const call = (body: object, more: Asked = {}) => app().ask('POST', '/api/proxy', { body, ...more });
  const at = (rest = '', listenPath = path) => `${app().url.gateway}${listenPath}${rest}`;

  test('a request reaches the API with method, headers and body, and its response is returned', async () => {
    const headers = { 'X-Own': 'a', Accept: 'application/json' };
    const { status, body, text } = await call({ method: 'post', url: at('orders?a=1'), headers, body: { b: [1] } });
    assert.deepEqual([status, body.status_code], [200, 200], text);
    assert.equal(body.headers['content-type'], 'application/json');
    const { method, url, headers: sent, body: received } = body.body;
    assert.deepEqual([method, url, received], ['POST', '/orders?a=1', '{"b":[1]}']);
    assert.deepEqual([sent['x-own'], sent['content-type'], sent.authorization], ['a', 'application/json', undefined]);
    upstream.answer = (_request, response) =>
      void response.writeHead(418, { 'content-type': 'text/plain', 'set-cookie': ['a=1', 'b=2'] }).end('not JSON');
    const odd = (await call({ method: 'GET', url: at(), body: {} })).body;
    upstream.answer = undefined;
    assert.deepEqual([odd.status_code, odd.body, odd.headers['set-cookie']], [418, 'not JSON', 'a=1, b=2']);
    const plain = await call({ method: 'PUT', url: at(), headers: { 'content-type': 'text/plain' }, body: 'as is' });
    assert.deepEqual([plain.body.body.body, plain.body.body.headers['content-type']], ['as is', 'text/plain']);
  });

  test('no address but that of the gateway can be called', async () => {
    const { port, hostname } = new URL(app().url.gateway);
    const received = upstream.requests.length;
    for (const other of [
      app().url.dashboard,
      app().url.portal,
      upstream.url,
      'http://169.254.169.254/latest/meta-data',
      `https://${hostname}:${port}/`,
      `http://${hostname}:${port}.example/`,
      `http://${hostname}:${port}@127.0.0.1:9/`,
      `http://user:password@${hostname}:${port}${path}`,
      'file:///etc/passwd',
      '/relative',
      'http://[::1]:1/',
      '',
    ]) {
      const { status, body } = await call({ method: 'GET', url: other });
      assert.equal(status, 403, other);
      assert.match(body.Message, /only the gateway can be called/);
    }
    assert.equal(upstream.requests.length, received);
  });

  test('a redirect is returned and not followed', async () => {
    upstream.answer = (_request, response) => void response.writeHead(302, { location: app().url.dashboard }).end();
    const { body } = await call({ method: 'GET', url: at() });
    upstream.answer = undefined;
    assert.deepEqual([body.status_code, body.headers.location], [302, app().url.dashboard]);
  });

  test('an API of another organisation cannot be called, in any spelling of its path', async () => {
    const { accessKey: credential } = await app().stranger();
    const own = await publish({ credential });
    const received = upstream.requests.length;
    assert.equal((await call({ method: 'GET', url: at('', own) }, { credential })).body.status_code, 200);
    const encoded = path.replace(/p/, '%70');
    for (const spelling of [path, path.slice(0, -1), `/${path}`, encoded, `/./${path.slice(1)}`, `${own}..${path}`]) {
      const { status, body } = await call({ method: 'GET', url: `${app().url.gateway}${spelling}` }, { credential });
      assert.equal(status, 403, spelling);
      assert.match(body.Message, /can reach an API that is not yours/);
    }
    assert.equal(upstream.requests.length, received + 1);
  });

  test('a path of the listener that belongs to no API gets the response of the gateway', async () => {
    const { accessKey: credential } = await app().stranger();
    const url = `${app().url.gateway}/p${createPublicId()}/`;
    const { status, body } = await call({ method: 'GET', url }, { credential });
    assert.deepEqual([status, body.status_code], [200, 404]);
  });

  test('a response that is too deep for JSON of the dashboard is returned as text', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    upstream.answer = (_request, response) => void response.end(deep);
    const { status, body } = await call({ method: 'GET', url: at() });
    upstream.answer = undefined;
    assert.equal(status, 200);
    assert.ok(body.body === deep);
  });

  test('an API with owners can be called by them and by administrators only', async () => {
    async function addUser(): Promise<{ credential: string; id: string }> {
      const user = { email_address: `${createPublicId()}@example.org`, first_name: 'A', last_name: 'B', active: true };
      const { body } = await app().ask('POST', '/admin/users', {
        body: { ...user, user_permissions: { apis: 'write' } },
      });
      return { credential: body.Message, id: body.Meta.id };
    }
    const { credential } = await addUser();
    const owner = await addUser();
    const listenPath = `/p${createPublicId()}/`;
    const proxy = { listen_path: listenPath, target_url: upstream.url };
    const definition = { name: `Owned ${createPublicId()}`, use_keyless: true, proxy };
    const body = { api_definition: definition, user_owners: [owner.id] };
    assert.equal((await app().ask('POST', '/api/apis', { body })).status, 200);
    await app().ask('GET', '/admin/system/reload');
    assert.equal((await call({ method: 'GET', url: at('', listenPath) }, { credential })).status, 403);
    assert.equal(
      (await call({ method: 'GET', url: at('', listenPath) }, { credential: owner.credential })).status,
      200,
    );
    assert.equal((await call({ method: 'GET', url: at('', listenPath) })).status, 200);
    assert.equal((await call({ method: 'GET', url: at() }, { credential })).status, 200);
  });

  test('networks of an organisation do not stop calls of its own APIs', async () => {
    const { orgId, accessKey: credential } = await app().stranger();
    const own = await publish({ credential });
    const granted = await app().ask('PUT', `/admin/organisations/${orgId}/grants`, { body: { networks: ['public'] } });
    assert.equal(granted.status, 200, granted.text);
    const { status, text } = await call({ method: 'GET', url: at('', own) }, { credential });
    assert.equal(status, 200, text);
  });

  test('an unclear request is refused', async () => {
    for (const [body, message] of [
      [{ url: at() }, /method: is required/],
      [{ method: 'GET' }, /url: is required/],
      [{ method: 'CONNECT', url: at() }, /method/],
      [{ method: 'GET', url: at(), body: { a: 1 } }, /body: must be empty with GET/],
      [{ method: 'GET', url: at(), headers: { Host: 'a' } }, /headers\.Host: is set by the gateway/],
      [{ method: 'GET', url: at(), headers: { 'X-Forwarded-For': '1.2.3.4' } }, /is set by the gateway/],
      [{ method: 'GET', url: at(), headers: { 'X-Gw-Authorization': 'secret' } }, /is not forwarded/],
      [{ method: 'GET', url: at(), headers: { 'X-Gw-Explain': '1' } }, /is not forwarded/],
      [{ method: 'GET', url: at(), headers: { 'Admin-Auth': 'secret' } }, /is not forwarded/],
      [{ method: 'GET', url: at(), headers: { 'True-Client-IP': '1.2.3.4' } }, /only a trusted proxy may do/],
      [{ method: 'GET', url: at(), headers: { Remote_User: 'root' } }, /headers\.Remote_User: describes the client/],
      [{ method: 'GET', url: at(), headers: { 'X-Client-Cert': 'pem' } }, /describes the client/],
      [{ method: 'GET', url: at(), headers: { 'a b': 'c' } }, /header name/],
      [{ method: 'GET', url: at(), headers: { a: 'b\r\nhost: c' } }, /header value/],
      [{ method: 'GET', url: at(), headers: { a: 'b\nc' } }, /header value/],
      [{ method: 'GET', uri: at() }, /uri: no such member; did you mean url/],
    ] as const) {
      const { status, body: answer } = await call(body);
      assert.equal(status, 400, JSON.stringify(body));
      assert.match(answer.Message, message);
    }
  });

  test('a response beyond the bound and a lost connection are errors', async () => {
    upstream.answer = (_request, response) => void response.end('x'.repeat(6 * 1024 * 1024));
    const { status, body } = await call({ method: 'GET', url: at() });
    assert.equal(status, 502);
    assert.match(body.Message, /larger than/);
    upstream.answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('x', () => response.destroy());
    };
    assert.equal((await call({ method: 'GET', url: at() })).status, 502);
    upstream.answer = undefined;
  });

  test('more calls than an organisation may have at once are refused, and those of others are not', async () => {
    const { accessKey: credential } = await app().stranger();
    const own = await publish({ credential });
    const open: ServerResponse[] = [];
    upstream.answer = (_request, response) => void open.push(response);
    const slow = Array.from({ length: 10 }, () => call({ method: 'GET', url: at('', own) }, { credential }));
    await eventually(() => assert.equal(open.length, 10));
    upstream.answer = undefined;
    assert.equal((await call({ method: 'GET', url: at('', own) }, { credential })).status, 429);
    assert.equal((await call({ method: 'GET', url: at() })).status, 200);
    for (const response of open) response.end();
    for (const answer of await Promise.all(slow)) assert.equal(answer.status, 200);
    assert.equal((await call({ method: 'GET', url: at('', own) }, { credential })).status, 200);
  });
});

test('of a configured gateway URL only paths of own APIs below it can be called, compared without its path', async () => {
  const base = 'http://127.0.0.1:9/apis';
  const app = await startApp('sqlite', { settings: { 'gateway.url': base } });
  try {
    async function publish(credential?: string): Promise<string> {
      const listen_path = `/p${createPublicId()}/below/`;
      const proxy = { listen_path, target_url: 'http://127.0.0.1:9/' };
      const body = { api_definition: { name: `Proxied ${createPublicId()}`, use_keyless: true, proxy } };
      assert.equal((await app.ask('POST', '/api/apis', { body, ...(credential ? { credential } : {}) })).status, 200);
      return listen_path;
    }
    const { accessKey: credential } = await app.stranger();
    const [foreign, own] = [await publish(), await publish(credential)];
    for (const [url, message] of [
      [`http://127.0.0.1:9${own}`, /only the gateway can be called, at http:\/\/127\.0\.0\.1:9\/apis/],
      [`http://127.0.0.1:9/apisuffix${own}`, /only the gateway can be called/],
      [base + foreign, /can reach an API that is not yours/],
      [`${base}/hello`, /the path reaches none of your APIs/],
      [`${base}/p${createPublicId()}/`, /the path reaches none of your APIs/],
      [base + own.split('below')[0]!, /the path reaches none of your APIs/],
    ] as const) {
      const refused = await app.ask('POST', '/api/proxy', { body: { method: 'GET', url }, credential });
      assert.equal(refused.status, 403, url);
      assert.match(refused.body.Message, message);
    }
    for (const path of [own, `${own}deeper`]) {
      const { status } = await app.ask('POST', '/api/proxy', { body: { method: 'GET', url: base + path }, credential });
      assert.equal(status, 502, 'the request is sent, and nothing listens on the configured address');
    }
  } finally {
    await app.close();
  }
});

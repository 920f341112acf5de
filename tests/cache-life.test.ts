import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { type AppOptions, startApp, type TestApp } from './support/app.ts';
import { type Published, publishBoth } from './support/both-formats.ts';
import {
  type Ask,
  agent,
  type Options,
  type Origin,
  type ReceivedResponse,
  sendRequest,
  startOrigin,
  toDefinitions,
} from './support/cache-fixtures.ts';
import { httpCases } from './support/http-cache/all-cases.ts';
import { runOnWire, serveHttpCases } from './support/http-cache/run-on-wire.ts';
import { type TestProcess, testInstallation } from './support/installation.ts';
import { startRedis } from './support/services/redis.ts';
import { eventually, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import type { Upstream } from './support/upstream.ts';

/** What becomes of kept answers: who gets them, who waits for them, when they go. */

after(() => agent.destroy());

const options: Options = { cache: { enabled: true, timeout: 60, cacheAllSafeRequests: true } };
const isCached = ({ headers }: ReceivedResponse) => headers['x-gw-cached-response'] === '1';
const { classic: kept } = toDefinitions(options);

interface Place {
  readonly app: TestApp;
  readonly origin: Origin;
  readonly upstream: Upstream;
}

function inPlace(title: string, given: AppOptions, declare: (place: () => Place) => void): void {
  describe(title, () => {
    let place: Place;
    before(async () => {
      const origin = await startOrigin();
      place = { app: await startApp('sqlite', given), origin, upstream: origin.upstream };
    });
    after(async () => {
      await place?.app.close();
      await place?.upstream.close();
    });
    declare(() => place);
  });
}

/** An upstream whose answers wait until they are let go. */
function holdUpstream({ upstream }: Place) {
  const gate = Promise.withResolvers<void>();
  const plain = upstream.answer;
  upstream.answer = (...given) => void gate.promise.then(() => plain!(...given));
  return {
    open() {
      gate.resolve();
      upstream.answer = plain;
    },
  };
}

async function keyFor(app: TestApp, apiIds: readonly string[], more: object = {}): Promise<string> {
  const rights = Object.fromEntries(apiIds.map(id => [id, { api_id: id, versions: ['Default'] }]));
  const { status, body, text } = await app.ask('POST', '/api/keys', { body: { access_rights: rights, ...more } });
  assert.equal(status, 200, text);
  return body.key_id;
}

inPlace('one thread', {}, place => {
  const publishCached = async (more: object = {}) =>
    publish(place().app, openApi(place().upstream, { ...kept, ...more }));
  const fresh = (url: string) => ({ id: createPublicId(), url: `${url}/a?case=` });

  test('two API keys never share a response, nor does a request without one', async () => {
    const { app, origin } = place();
    const definition = openApi(place().upstream, {
      ...kept,
      use_keyless: false,
      version_data: {
        not_versioned: true,
        versions: {
          Default: {
            name: 'Default',
            use_extended_paths: true,
            extended_paths: { ignored: [{ path: '/open', method: 'GET' }] },
          },
        },
      },
    });
    const url = await publish(app, definition);
    const [one, two] = [await keyFor(app, [definition.api_id]), await keyFor(app, [definition.api_id])];
    const id = createPublicId();
    const call = (path: string, key?: string) =>
      sendRequest(`${url}${path}?case=${id}`, key ? { headers: { authorization: key } } : {});
    const bodies = [];
    for (const key of [one, two, one, two]) bodies.push(String((await call('/a', key)).body));
    assert.deepEqual(bodies, [`${id} 1`, `${id} 2`, `${id} 1`, `${id} 2`]);
    assert.equal((await call('/a')).status, 401);
    assert.equal(isCached(await call('/open')), false);
    assert.ok(isCached(await call('/open')));
    assert.equal(isCached(await call('/open', one)), false, 'on an open endpoint a credential is the upstream’s');
    assert.equal(origin.count(id), 4);
  });

  test('a deleted key gets no cached response', async () => {
    const { app } = place();
    const definition = openApi(place().upstream, { ...kept, use_keyless: false });
    const url = await publish(app, definition);
    const key = await keyFor(app, [definition.api_id]);
    const call = () => sendRequest(`${url}/a`, { headers: { authorization: key } });
    await call();
    assert.ok(isCached(await call()));
    assert.equal((await app.ask('DELETE', `/api/keys/${encodeURIComponent(key)}`)).status, 200);
    await waitUntilApplied(app);
    assert.equal((await call()).status, 403);
  });

  test('a cached response counts against limits and carries the rate limit headers', async () => {
    const { app } = place();
    const definition = openApi(place().upstream, { ...kept, use_keyless: false });
    const url = await publish(app, definition);
    const key = await keyFor(app, [definition.api_id], { quota_max: 3, quota_renewal_rate: 3600 });
    const call = () => sendRequest(`${url}/a`, { headers: { authorization: key } });
    const received = [await call(), await call(), await call(), await call()];
    assert.deepEqual(
      received.map(it => [it.status, isCached(it), it.headers['x-ratelimit-remaining']]),
      [
        [200, false, '2'],
        [200, true, '1'],
        [200, true, '0'],
        [403, false, undefined],
      ],
    );
  });

  test('request coalescing: of fifty concurrent requests one reaches the upstream and all get its response, in both formats', async () => {
    const { origin } = place();
    for (const { url, format } of await publishBoth(place().app, place().upstream, toDefinitions(options))) {
      const id = createPublicId();
      const gate = holdUpstream(place());
      const before = place().upstream.requests.length;
      const calls = Array.from({ length: 50 }, () => sendRequest(`${url}/a?case=${id}`));
      await eventually(() => assert.equal(place().upstream.requests.length, before + 1));
      gate.open();
      const received = await Promise.all(calls);
      assert.deepEqual(new Set(received.map(it => String(it.body))), new Set([`${id} 1`]), format);
      assert.equal(origin.count(id), 1, format);
      assert.equal(received.filter(isCached).length, 49, format);
    }
  });

  test('requests coalesced on an uncacheable response proceed alone, and later requests are not coalesced', async () => {
    const { origin } = place();
    const url = await publishCached();
    const id = createPublicId();
    origin.says.set(id, { headers: { 'cache-control': 'no-store' } });
    const received = await Promise.all(Array.from({ length: 10 }, () => sendRequest(`${url}/a?case=${id}`)));
    assert.equal(origin.count(id), 10);
    assert.deepEqual([...new Set(received.map(isCached))], [false]);
    const gate = holdUpstream(place());
    const before = place().upstream.requests.length;
    const calls = Array.from({ length: 5 }, () => sendRequest(`${url}/a?case=${id}`));
    await eventually(() => assert.equal(place().upstream.requests.length, before + 5));
    gate.open();
    await Promise.all(calls);
  });

  test('requests coalesced on one whose client disconnects proceed alone', async () => {
    const url = await publishCached();
    const { id, url: base } = fresh(url);
    const gate = holdUpstream(place());
    const before = place().upstream.requests.length;
    const first = request(base + id, { agent: false });
    first.on('error', () => undefined);
    first.end();
    await eventually(() => assert.equal(place().upstream.requests.length, before + 1));
    const second = sendRequest(base + id);
    const third = sendRequest(base + id);
    first.destroy();
    await eventually(() => assert.ok(place().upstream.requests.length > before + 1));
    gate.open();
    for (const it of await Promise.all([second, third])) assert.equal(it.status, 200);
  });

  test('requests coalesced on one that fails proceed alone, and the failure is not cached', async () => {
    const { upstream } = place();
    const { id, url } = fresh(await publishCached());
    const plain = upstream.answer;
    const gate = Promise.withResolvers<void>();
    // However often it is tried: a connection that was kept may be.
    upstream.answer = (received, response, body) =>
      void gate.promise.then(() => {
        if (received.headers['x-fails']) response.destroy();
        else plain!(received, response, body);
      });
    const before = upstream.requests.length;
    const first = sendRequest(url + id, { headers: { 'x-fails': 'yes' } });
    await eventually(() => assert.equal(upstream.requests.length, before + 1));
    const second = sendRequest(url + id);
    gate.resolve();
    assert.equal((await first).status, 502);
    const received = await second;
    assert.deepEqual([received.status, isCached(received), String(received.body)], [200, false, `${id} 1`]);
    upstream.answer = plain;
  });

  test('an incomplete response is not cached', async () => {
    const { upstream } = place();
    const url = await publishCached();
    const { id, url: base } = fresh(url);
    const plain = upstream.answer;
    upstream.answer = (_received, response) => {
      upstream.answer = plain;
      response.writeHead(200, { 'content-length': '100' });
      response.write('only this');
      setImmediate(() => response.destroy());
    };
    await assert.rejects(sendRequest(base + id));
    const received = await sendRequest(base + id);
    assert.equal(isCached(received), false);
    assert.equal(String(received.body), `${id} 1`);
  });

  test('an expired response is fetched again', async () => {
    const { origin } = place();
    const { id, url } = fresh(await publishCached());
    origin.says.set(id, { headers: { 'cache-control': 'max-age=1' } });
    await sendRequest(url + id);
    await eventually(async () => assert.equal(isCached(await sendRequest(url + id)), false));
    assert.equal(origin.count(id), 2);
  });

  test('a changed definition invalidates the cache, an unchanged one does not', async () => {
    const { app, origin } = place();
    const definition = openApi(place().upstream, kept);
    const { id, url } = fresh(await publish(app, definition));
    const write = async (more: object) => {
      const path = `/api/apis/${definition.api_id}`;
      const { status, text } = await app.ask('PUT', path, { body: { api_definition: { ...definition, ...more } } });
      assert.equal(status, 200, text);
      await waitUntilApplied(app);
    };
    await write({ name: 'Same' });
    await sendRequest(url + id);
    await write({ name: 'Same' });
    assert.ok(isCached(await sendRequest(url + id)));
    await write({ name: 'Other' });
    assert.equal(isCached(await sendRequest(url + id)), false);
    assert.equal(origin.count(id), 2);
  });

  test('a cache hit is recorded as such, without an upstream', async () => {
    const { app } = place();
    const definition = openApi(place().upstream, kept);
    const url = await publish(app, definition);
    const query = `/api/logs?start=0&end=9999999999&api_id=${definition.api_id}`;
    // The log stores a bounded number of requests at a time, which earlier tests may have used up: repeat.
    await eventually(async () => {
      const path = `${url}/${createPublicId()}`;
      await sendRequest(path);
      await sendRequest(path);
      const { body, text } = await app.ask('GET', query);
      const rows = (body.data ?? []) as { tags: string[] }[];
      const tagged = new Set(rows.map(({ tags }) => tags.includes('cached-response')));
      assert.deepEqual([...tagged].sort(), [false, true], text);
    });
  });

  test('CORS headers of a cache hit are those of the requesting origin', async () => {
    const { origin } = place();
    const cors = {
      enable: true,
      allowed_origins: ['https://a.example', 'https://b.example'],
      allowed_methods: ['GET'],
    };
    const { id, url } = fresh(await publishCached({ CORS: cors }));
    const from = (name: string) => sendRequest(url + id, { headers: { origin: `https://${name}.example` } });
    const allowed = 'access-control-allow-origin';
    assert.equal((await from('a')).headers[allowed], 'https://a.example');
    const received = await from('b');
    assert.ok(isCached(received));
    assert.equal(received.headers[allowed], 'https://b.example');
    assert.equal((await from('c')).headers[allowed], undefined);
    assert.equal((await from('a')).headers[allowed], 'https://a.example');
    assert.equal(origin.count(id), 1);
  });

  test('a looped request is cached by the API that answers it', async () => {
    const { app, upstream, origin } = place();
    const inner = openApi(upstream, { ...kept, name: `inner${createPublicId()}` });
    await publish(app, inner);
    const outer = openApi(upstream, { ...kept, proxy: { target_url: `gw://${inner.name}` } });
    const url = await publish(app, outer);
    const id = createPublicId();
    for (const expected of [false, true, true])
      assert.equal(isCached(await sendRequest(`${url}/case=${id}`)), expected);
    assert.equal(origin.count(id), 1);
  });

  test('versions have separate cache entries', async () => {
    const { app, upstream, origin } = place();
    const definition = openApi(upstream, {
      cache_options: kept.cache_options,
      definition: { location: 'header', key: 'x-version', strip_versioning_data: true },
      version_data: { not_versioned: false, versions: { v1: { name: 'v1' }, v2: { name: 'v2' } } },
    });
    const { id, url } = fresh(await publish(app, definition));
    const call = (version: string) => sendRequest(url + id, { headers: { 'x-version': version } });
    const received = [await call('v1'), await call('v2'), await call('v1'), await call('v2')];
    assert.deepEqual(received.map(isCached), [false, false, true, true]);
    assert.equal(origin.count(id), 2);
  });

  test('the legacy cache path list caches safe methods', async () => {
    const version = { name: 'Default', use_extended_paths: true, extended_paths: { cache: ['/listed'] } };
    const url = await publishCached({
      cache_options: { enable_cache: true, cache_timeout: 60 },
      version_data: { not_versioned: true, versions: { Default: version } },
    });
    const id = createPublicId();
    const twice = async (path: string, ask: Ask = {}) => {
      await sendRequest(`${url}${path}?case=${id}`, ask);
      return isCached(await sendRequest(`${url}${path}?case=${id}`, ask));
    };
    assert.ok(await twice('/listed'));
    assert.ok(await twice('/listed', { method: 'OPTIONS' }));
    assert.ok(await twice('/listed', { method: 'HEAD' }));
    assert.equal(await twice('/listed', { method: 'POST', body: 'x' }), false);
    assert.equal(await twice('/else'), false);
  });

  test('a body too long for a body cache key is forwarded, or refused without a content-length', async () => {
    const { app, upstream } = place();
    const posted: Options = {
      cache: { enabled: true, timeout: 60 },
      endpoints: [{ path: '/posted', method: 'POST' }],
    };
    const body = 'x'.repeat(11_000_000);
    for (const { url } of await publishBoth(app, upstream, toDefinitions(posted))) {
      for (const _time of [1, 2]) {
        const received = await sendRequest(`${url}/posted?case=${createPublicId()}`, { method: 'POST', body });
        assert.deepEqual([received.status, isCached(received)], [200, false]);
      }
      const asked = request(`${url}/posted`, {
        method: 'POST',
        agent: false,
        headers: { 'transfer-encoding': 'chunked' },
      });
      asked.on('error', () => undefined);
      asked.end(body);
      const [reply] = await once(asked, 'response');
      assert.equal(reply.statusCode, 413);
      reply.resume();
    }
  });

  test('a debug request neither reads nor writes the cache', async () => {
    const { app, origin } = place();
    const definition = openApi(place().upstream, kept);
    const { id, url } = fresh(await publish(app, definition));
    const path = `${definition.proxy.listen_path}/a?case=${id}`;
    const debug = () =>
      app.ask('POST', '/gw/debug', { body: { spec: definition, request: { method: 'GET', path, headers: {} } } });
    for (const _time of [1, 2]) assert.equal((await debug()).status, 200);
    assert.equal(origin.count(id), 2);
    assert.equal(isCached(await sendRequest(url + id)), false);
  });
});

inPlace('several threads', { settings: { threads: '3' } }, place => {
  test('invalidating the cache of an API applies to every thread and to no other API', async () => {
    const { app, upstream, origin } = place();
    const [one, other] = [openApi(upstream, kept), openApi(upstream, kept)];
    const urls = [await publish(app, one), await publish(app, other)];
    const id = createPublicId();
    const everywhere = (url: string) =>
      Promise.all(
        Array.from({ length: 60 }, async () => {
          const received = request(`${url}/a?case=${id}`, { agent: false });
          received.end();
          const [reply] = await once(received, 'response');
          reply.resume();
          await once(reply, 'end');
          return reply.headers['x-gw-cached-response'] === '1';
        }),
      );
    for (const url of urls) await eventually(async () => assert.ok((await everywhere(url)).every(Boolean)));
    const known = origin.count(id);
    const { status, body } = await app.ask('DELETE', `/gw/cache/${one.api_id}`);
    assert.deepEqual([status, body], [200, { status: 'ok', message: 'cache invalidated' }]);
    assert.ok((await everywhere(urls[1]!)).every(Boolean));
    assert.equal(origin.count(id), known);
    await everywhere(urls[0]!);
    const asked = origin.count(id) - known;
    assert.ok(asked >= 1 && asked <= 3, `each thread asks once: ${asked}`);
  });

  test('a response that one thread stored is a hit on every thread, until it is invalidated or purged', async () => {
    const { app, upstream, origin } = place();
    const definition = openApi(upstream, kept);
    const url = await publish(app, definition);
    const id = createPublicId();
    const call = (ask: Ask = {}) => sendRequest(`${url}/a?case=${id}`, { ...ask, headers: { connection: 'close' } });
    const callAll = async () => {
      const received = await Promise.all(Array.from({ length: 60 }, () => call()));
      return new Set(received.map(it => `${isCached(it)} ${it.body}`));
    };
    assert.equal(isCached(await call()), false);
    assert.deepEqual(await callAll(), new Set([`true ${id} 1`]));
    assert.equal(origin.count(id), 1);
    await call({ method: 'PUT', body: 'x' });
    assert.equal(String((await call()).body), `${id} 3`);
    assert.deepEqual(await callAll(), new Set([`true ${id} 3`]));
    assert.equal((await app.ask('DELETE', `/gw/cache/${definition.api_id}`)).status, 200);
    assert.equal(String((await call()).body), `${id} 4`);
    assert.deepEqual(await callAll(), new Set([`true ${id} 4`]));
    assert.equal(origin.count(id), 4);
    const { status, body } = await app.ask('DELETE', `/api/cache/${definition.api_id}`);
    assert.deepEqual([status, body], [200, { status: 'OK', message: 'cache invalidated' }]);
    assert.equal(String((await call()).body), `${id} 5`);
    assert.deepEqual(await callAll(), new Set([`true ${id} 5`]));
  });

  test('an unsafe request invalidates the entry on every thread', async () => {
    const { app, upstream } = place();
    const url = await publish(app, openApi(upstream, kept));
    const id = createPublicId();
    const call = (ask: Ask = {}) => sendRequest(`${url}/a?case=${id}`, { ...ask, headers: { connection: 'close' } });
    await eventually(async () => {
      for (let n = 0; n < 20; n++) assert.ok(isCached(await call()));
    });
    const readNumber = ({ body }: { body: Buffer }) => Number(String(body).split(' ')[1]);
    const invalidation = readNumber(await call({ method: 'PUT', body: 'x' }));
    // Threads notify each other; from then on no older response is served.
    await eventually(async () => {
      const received = await Promise.all(Array.from({ length: 20 }, () => call()));
      const numbers = received.map(readNumber);
      assert.ok(Math.min(...numbers) > invalidation, numbers.join());
    });
  });
});

inPlace('little room', { settings: { 'cache.max_memory_bytes': '20000', 'cache.max_entry_bytes': '5000' } }, place => {
  test('the cache is bounded and evicts the least recently used entry', async () => {
    const { app, upstream, origin } = place();
    const url = await publish(app, openApi(upstream, kept));
    const ids = Array.from({ length: 10 }, () => createPublicId());
    const call = (id: string) => sendRequest(`${url}/a?case=${id}`);
    for (const id of ids) origin.says.set(id, { body: Buffer.alloc(4000) });
    for (const id of ids) await call(id);
    assert.deepEqual(await Promise.all(ids.slice(-3).map(async id => isCached(await call(id)))), [true, true, true]);
    assert.equal(isCached(await call(ids[0]!)), false);
    const large = createPublicId();
    origin.says.set(large, { body: Buffer.alloc(5001) });
    await call(large);
    assert.equal(isCached(await call(large)), false);
  });
});

const httpSettings = { threads: '3', 'cache.default_mode': 'http', 'cache.status_header': 'true' } as const;

inPlace('cached by the rules of HTTP', { settings: httpSettings }, place => {
  let states: ReturnType<typeof serveHttpCases>;
  let published: readonly Published[];
  const declared = toDefinitions({ cache: { enabled: true, mode: 'http', cacheAllSafeRequests: true } });
  before(async () => {
    states = serveHttpCases(place().upstream);
    published = await publishBoth(place().app, place().upstream, declared);
  });

  for (const given of httpCases.filter(({ isOnWire }) => isOnWire))
    test(`through sockets: ${given.title}`, async () => {
      for (const { url } of published) await runOnWire(given, url, states);
    });

  test('the default mode is that of the setting, and Cache-Status names hits and misses', async () => {
    const { app, upstream, origin } = place();
    const url = await publish(
      app,
      openApi(upstream, { cache_options: { enable_cache: true, cache_all_safe_requests: true } }),
    );
    const id = createPublicId();
    origin.says.set(id, { headers: { 'cache-control': 'max-age=60' } });
    const received = [await sendRequest(`${url}/a?case=${id}`), await sendRequest(`${url}/a?case=${id}`)];
    assert.deepEqual(received.map(isCached), [false, true]);
    assert.equal(received[0]!.headers['cache-status'], 'Gatewright; fwd=uri-miss; fwd-status=200; stored');
    assert.match(String(received[1]!.headers['cache-status']), /^Gatewright; hit; ttl=\d+$/);
    const timed = await publish(
      app,
      openApi(upstream, {
        cache_options: { enable_cache: true, mode: 'timed', cache_timeout: 60, cache_all_safe_requests: true },
      }),
    );
    await sendRequest(`${timed}/a`);
    const hit = await sendRequest(`${timed}/a`);
    assert.deepEqual([isCached(hit), hit.headers['cache-status']], [true, undefined]);
  });

  test('a stale response is sent at once and refreshed in the background', async () => {
    const { upstream } = place();
    const { url } = published[0]!;
    const path = `/${createPublicId()}`;
    const plain = upstream.answer;
    const gate = Promise.withResolvers<void>();
    let requests = 0;
    upstream.answer = async (request, response, body) => {
      if (request.url !== path) return plain?.(request, response, body);
      const number = ++requests;
      if (number > 1) await gate.promise;
      response.writeHead(200, { 'cache-control': `max-age=${number > 1 ? 60 : 0}, stale-while-revalidate=600` });
      response.end(`body ${number}`);
    };
    const call = async () => {
      const { headers, body } = await sendRequest(url + path, { headers: { connection: 'close' } });
      return `${headers['x-gw-cached-response']} ${body}`;
    };
    assert.equal(await call(), 'undefined body 1');
    for (let n = 0; n < 5; n++) assert.equal(await call(), 'stale body 1', 'the refresh is still under way');
    gate.resolve();
    await eventually(async () => assert.match(await call(), /^1 body [2-6]$/));
    upstream.answer = plain;
  });

  test('a refresh in the background is signed, and not sent while the circuit breaker is open', async () => {
    const { app, upstream } = place();
    const path = `/${createPublicId()}`;
    const breaker = { path, method: 'GET', threshold_percent: 0.5, samples: 3, return_to_service_after: 600 };
    const Default = { name: 'Default', use_extended_paths: true, extended_paths: { circuit_breakers: [breaker] } };
    const definition = openApi(upstream, {
      cache_options: { enable_cache: true, mode: 'http', cache_all_safe_requests: true },
      request_signing: { is_enabled: true, secret: createPublicId(), key_id: 'edge', algorithm: 'hmac-sha256' },
      version_data: { not_versioned: true, versions: { Default } },
    });
    const url = (await publish(app, definition)) + path;
    const plain = upstream.answer;
    const signatures: string[] = [];
    let status = 200;
    upstream.answer = (request, response, body) => {
      if (!request.url!.startsWith(path)) return plain?.(request, response, body);
      signatures.push(String(request.headers.authorization));
      response.writeHead(status, { 'cache-control': 'max-age=0, stale-while-revalidate=600' }).end('kept');
    };
    const sendFor = async (target: string) => (await sendRequest(target)).headers['x-gw-cached-response'];
    assert.equal(await sendFor(url), undefined);
    assert.equal(await sendFor(url), 'stale');
    await eventually(() => assert.equal(signatures.length, 2));
    for (const signature of signatures) assert.match(signature, /^Signature keyId="edge"/);
    status = 500;
    for (let n = 0; n < 5; n++) await sendRequest(`${url}?failing=${n}`);
    assert.equal((await sendRequest(`${url}?failing`)).status, 503, 'the circuit breaker is open');
    const before = signatures.length;
    for (let n = 0; n < 5; n++) assert.equal(await sendFor(url), 'stale');
    assert.equal((await sendRequest(`${app.url.gateway}${definition.proxy.listen_path}/other`)).status, 200);
    assert.equal(signatures.length, before);
    upstream.answer = plain;
  });

  test('clients with different keys do not share a public response', async () => {
    const { app, upstream, origin } = place();
    const cache_options = { enable_cache: true, mode: 'http', cache_all_safe_requests: true };
    const definition = openApi(upstream, { cache_options, use_keyless: false, strip_auth_data: true });
    const url = await publish(app, definition);
    const keys = [await keyFor(app, [definition.api_id]), await keyFor(app, [definition.api_id])];
    const id = createPublicId();
    origin.says.set(id, { headers: { 'cache-control': 'public, max-age=60' } });
    const bodies = [];
    for (const key of [...keys, ...keys])
      bodies.push(String((await sendRequest(`${url}/a?case=${id}`, { headers: { authorization: key } })).body));
    assert.deepEqual(bodies, [`${id} 1`, `${id} 2`, `${id} 1`, `${id} 2`]);
  });
});

inPlace('callers have a say', { settings: { 'cache.honour_request_cache_control': 'true' } }, place => {
  test('only-if-cached does not reach the upstream', async () => {
    const { app, upstream, origin } = place();
    const url = await publish(app, openApi(upstream, kept));
    const id = createPublicId();
    const received = await sendRequest(`${url}/a?case=${id}`, { headers: { 'cache-control': 'only-if-cached' } });
    assert.equal(received.status, 504);
    assert.equal(String(received.body), '{\n    "error": "No cached response"\n}');
    assert.equal(origin.count(id), 0);
  });
});

test('gateways on one Redis share and invalidate cached responses, and serve requests without Redis', async () => {
  const redis = await startRedis();
  const origin = await startOrigin();
  const settings = { 'redis.url': redis.url, 'redis.timeout_ms': '5000' };
  const { start, close } = await testInstallation('postgres', settings);
  try {
    const gateways = [await start('one'), await start('two')] as const;
    const [one, two] = gateways;
    const api = openApi(origin.upstream, kept);
    await one.write('POST', '/api/apis', { api_definition: api });
    for (const it of gateways) await it.waitUntilApplied();
    const id = createPublicId();
    const call = ({ gateway }: TestProcess) =>
      sendRequest(`${gateway}${api.proxy.listen_path}/a?case=${id}`, { headers: { host: 'api.example' } });
    // What one finds again has been written: then the other finds it too.
    const inTurn = async () => [isCached(await call(one)), isCached(await call(one)), isCached(await call(two))];
    const secret = one.application.credentials!.gateway_secret;
    const forget = ({ application }: TestProcess) =>
      sendRequest(`${application.urls.dashboard}/gw/cache/${api.api_id}`, {
        method: 'DELETE',
        headers: { 'x-gw-authorization': secret },
      });

    assert.deepEqual(await inTurn(), [false, true, true]);
    assert.equal(origin.count(id), 1);
    assert.equal((await forget(two)).status, 200);
    assert.deepEqual(await inTurn(), [false, true, true]);
    assert.equal(origin.count(id), 2);

    await redis.kill();
    for (const it of [one, two, one]) {
      const received = await call(it);
      assert.deepEqual([received.status, isCached(received)], [200, false]);
    }
    const unsure = await forget(one);
    assert.equal(unsure.status, 503, 'what cannot be forgotten everywhere is not said to be');
    assert.match(String(unsure.body), /Cache invalidation failed/);
    await redis.restartOnSamePort();
    for (const it of gateways) await eventually(async () => assert.ok(isCached(await call(it))));
  } finally {
    await close();
    await origin.upstream.close();
    await redis.stop();
  }
});

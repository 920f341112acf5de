import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { serializeClientHeaders } from '#gateway/cache/client-headers.ts';
import { HeaderList } from '#gateway/http/headers.ts';
import { startApp, type TestApp } from './support/app.ts';
import { agent, type Origin, type ReceivedResponse, sendRequest, startOrigin } from './support/cache-fixtures.ts';
import { openApi, publish } from './support/traffic.ts';

const isHit = ({ headers }: ReceivedResponse) => headers['x-gw-cached-response'] === '1';

describe('Response caching of keyless APIs', () => {
  let app: TestApp;
  let origin: Origin;
  let url = '';
  before(async () => {
    [app, origin] = await Promise.all([startApp('sqlite'), startOrigin()]);
    const cache_options = { enable_cache: true, cache_timeout: 60, cache_all_safe_requests: true };
    url = await publish(app, openApi(origin.upstream, { cache_options }));
  });
  after(async () => {
    agent.destroy();
    await app?.close();
    await origin?.upstream.close();
  });

  const ask = (id: string, headers: Record<string, string> = {}, method = 'GET') =>
    sendRequest(`${url}/me?case=${id}`, { method, headers });

  const alternately: Record<string, string>[] = [{}, { 'X-Api-Key': 'alice' }];
  const credentials = ['X-Api-Key', 'Api-Key', 'X-Auth-Token', 'X-Amz-Security-Token', 'X-Csrf-Token', 'X-User'];
  for (const [at, name] of credentials.entries())
    test(`clients with different ${name} do not share responses, nor do clients without it`, async () => {
      const id = `credential${at}`;
      const bodies = [];
      for (const headers of [{}, { [name]: 'alice' }, { [name]: 'bob' }, { [name]: '' }])
        bodies.push((await ask(id, headers)).body.toString());
      assert.equal(new Set(bodies).size, 4, bodies.join());
      for (const [headers, body] of [
        [{ [name]: 'alice' }, bodies[1]],
        [{ [name]: 'bob' }, bodies[2]],
      ] as const) {
        const again = await ask(id, headers);
        assert.deepEqual([isHit(again), again.body.toString()], [true, body]);
      }
    });

  test('headers that do not identify the client are not part of the cache key', async () => {
    await ask('harmless', { 'User-Agent': 'a', 'X-Request-Id': '1', Traceparent: '00-1', 'Sec-Fetch-Mode': 'cors' });
    assert.ok(isHit(await ask('harmless', { 'User-Agent': 'b', 'X-Request-Id': '2', Referer: 'http://x/' })));
  });

  test('concurrent requests with different credentials are not coalesced', async () => {
    const names = ['', 'alice', 'bob', 'carol'];
    const received = await Promise.all(names.map(name => ask('together', name === '' ? {} : { 'X-Api-Key': name })));
    assert.equal(new Set(received.map(({ body }) => body.toString())).size, names.length);
  });

  test('an unsafe request invalidates all cached responses of its URL, for any headers', async () => {
    for (const headers of alternately) await ask('changed', headers);
    assert.ok(isHit(await ask('changed', { 'X-Api-Key': 'alice' })));
    await ask('changed', { 'X-Csrf-Token': 't' }, 'DELETE');
    for (const headers of alternately) assert.equal(isHit(await ask('changed', headers)), false);
  });

  for (const name of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'])
    test(`a request with ${name} is neither served from the cache nor cached, and invalidates the entry`, async () => {
      const id = name.replaceAll('-', '');
      await ask(id);
      assert.ok(isHit(await ask(id)));
      for (let n = 0; n < 2; n++) assert.equal(isHit(await ask(id, { [name]: 'DELETE' })), false);
      assert.equal(isHit(await ask(id)), false, 'it may have changed something');
    });

  test('a request with more identity headers than a cache key holds is not cached', async () => {
    const long = { 'X-Long': 'x'.repeat(9000) };
    for (let n = 0; n < 2; n++) assert.equal(isHit(await ask('long', long)), false);
    assert.equal(origin.count('long'), 2);
  });

  test('names and values of identity headers are separated in the cache key', () => {
    const of = (...flat: string[]) => serializeClientHeaders(new HeaderList(flat));
    assert.equal(of('Accept', 'x', 'HOST', 'y'), '');
    assert.notEqual(of('x-a', '1', 'x-b', '2'), of('x-a', '13:x-b1:2'));
    assert.notEqual(of('x-a', '1'), of('x_a', '1'));
  });
});

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, operatorActor, startApp } from '../../../tests/support/app.ts';
import { jwkOf, mint, type Publisher, rsaPair, startPublisher } from '../../../tests/support/tokens.ts';
import { eventually, openApi, publish, waitUntilApplied } from '../../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../../tests/support/upstream.ts';
import { changeApi } from '../api/changes.ts';

const refusal = (message: string) => ({ status: 'error', message });
const invalidated = { status: 'ok', message: 'cache invalidated' };
const one = rsaPair();

onEveryEngine(
  'gateway API: reload, status, health and caches',
  app => {
    let upstream: Upstream;
    let publisher: Publisher;
    before(async () => {
      [upstream, publisher] = await Promise.all([startUpstream(), startPublisher()]);
    });
    after(() => Promise.all([upstream.close(), publisher.close()]));

    const callControl = async (method: string, path: string) => {
      const { status, body } = await app().ask(method, path);
      return [status, body];
    };
    /** Over a connection of its own, so that any thread may take it. */
    const call = async (url: string, headers: Record<string, string> = {}) => {
      const { statusCode, body } = await request(url, { headers, reset: true });
      await body.dump();
      return statusCode;
    };

    test('a blocking reload returns when every thread serves earlier writes', async () => {
      for (let round = 0; round < 5; round++) {
        const definition = openApi(upstream);
        await app().ask('POST', '/gw/apis', { body: definition });
        assert.deepEqual(await callControl('GET', '/gw/reload?block=true'), [200, { status: 'ok', message: '' }]);
        const url = app().url.gateway + definition.proxy.listen_path;
        assert.deepEqual(await Promise.all([1, 2, 3, 4].map(() => call(url))), [200, 200, 200, 200]);
      }
      for (const path of ['/gw/reload', '/gw/reload/', '/gw/reload/group'])
        assert.deepEqual(await callControl('GET', path), [200, { status: 'ok', message: '' }]);
    });

    test('the status of an API is served, or the reason why not', async () => {
      const status = async (definition: { api_id: string; [member: string]: unknown }) => {
        const answer = await app().ask('POST', '/gw/apis', { body: definition });
        assert.equal(answer.status, 200, answer.text);
        const path = `apis/${definition.api_id}/status`;
        const seen = await callControl('GET', `/gw/${path}`);
        assert.deepEqual(await callControl('GET', `/api/${path}`), seen);
        return seen;
      };
      const definition = openApi(upstream);
      const { api_id } = definition;
      const toUnserved = (reason: string) => [200, { api_id, served: false, reason }];
      const served = [200, { api_id, served: true, reason: '' }];
      assert.deepEqual(await status(definition), served);
      const needing = { ...definition, use_keyless: false, enable_jwt: true, jwt_source: '***' };
      const reason = 'the JWT key source is neither a URL nor base64';
      assert.deepEqual(await status(needing), toUnserved(reason));
      assert.equal(await call(app().url.gateway + definition.proxy.listen_path), 503);
      assert.deepEqual(await status({ ...definition, active: false }), toUnserved('the API is inactive'));
      const pathless = { ...definition, proxy: { target_url: upstream.url } };
      // Older installations stored what a write refuses today: it is loaded and reported.
      const { services } = app().application.installation;
      const orgId = app().credentials.organisation_id;
      const target = { actor: operatorActor, orgId, ref: api_id };
      await changeApi(services, target, ({ wrapper }) => ({ kind: 'classic', definition: pathless, wrapper }));
      assert.deepEqual(await callControl('GET', `/gw/apis/${api_id}/status`), toUnserved('the API has no listen path'));
      assert.deepEqual(await status({ ...pathless, internal: true }), served);
      const { accessKey } = await app().stranger();
      const foreign = await app().ask('GET', `/api/apis/${api_id}/status`, { credential: accessKey });
      assert.deepEqual([foreign.status, foreign.body.Message], [404, 'Could not retrieve API detail']);
      assert.deepEqual(await callControl('GET', '/gw/apis/nobodys/status'), [404, refusal('API not found')]);
    });

    test('health reports request statistics of an API, summed over all threads', async () => {
      const definition = openApi(upstream, { global_rate_limit: { rate: 3, per: 3600 } });
      const guarded = openApi(upstream, { use_keyless: false, use_standard_auth: true });
      const [url, closed] = [await publish(app(), definition), await publish(app(), guarded)];
      const nothing = {
        throttle_reqests_per_second: 0,
        quota_violations_per_second: 0,
        key_failures_per_second: 0,
        average_upstream_latency: 0,
        average_requests_per_second: 0,
      };
      assert.deepEqual(await callControl('GET', `/gw/health?api_id=${guarded.api_id}`), [200, nothing]);
      const statuses = await Promise.all([1, 2, 3, 4, 5].map(() => call(url)));
      assert.deepEqual(statuses.sort(), [200, 200, 200, 429, 429]);
      assert.equal(await call(closed, { authorization: 'nobodys' }), 403);
      // Calls are counted when they have ended, which may be a moment after the caller has the answer.
      await eventually(async () => {
        const { body } = await app().ask('GET', `/gw/health?api_id=${definition.api_id}`);
        const seconds = 5 / body.average_requests_per_second;
        assert.ok(seconds >= 50 && seconds <= 60, String(seconds));
        assert.ok(Math.abs(body.throttle_reqests_per_second * seconds - 2) < 1e-6);
        assert.ok(body.average_upstream_latency > 0);
        assert.deepEqual([body.quota_violations_per_second, body.key_failures_per_second], [0, 0]);
        const other = (await app().ask('GET', `/gw/health?api_id=${guarded.api_id}`)).body;
        assert.equal(other.key_failures_per_second, other.average_requests_per_second);
        assert.ok(other.key_failures_per_second > 0 && other.average_upstream_latency === 0);
      });
      assert.deepEqual(await callControl('GET', '/gw/health'), [400, refusal('missing api_id parameter')]);
      assert.deepEqual(await callControl('GET', '/gw/health?api_id=nobodys'), [404, refusal('API ID not found')]);
    });

    test('cached responses of an API can be purged', async () => {
      const definition = openApi(upstream);
      await publish(app(), definition);
      assert.deepEqual(await callControl('DELETE', `/gw/cache/${definition.api_id}`), [200, invalidated]);
      assert.deepEqual(await callControl('DELETE', '/gw/cache/nobodys'), [404, refusal('API not found')]);
    });

    test('cached JWKS are cleared on every thread, for one API or all', async () => {
      const source = `/${createPublicId()}`;
      publisher.pages[source] = { keys: [jwkOf(one.publicKey, { kid: 'one' })] };
      const definition = openApi(upstream, {
        use_keyless: false,
        enable_jwt: true,
        jwt_signing_method: 'rsa',
        jwt_source: publisher.url + source,
      });
      const url = await publish(app(), definition);
      const other = openApi(upstream);
      await publish(app(), other);
      const authorization = mint({ sub: 'ann' }, one.privateKey, { header: { kid: 'one' } });
      const reads = () => publisher.asked.filter(path => path === source).length;
      const until = (count: number) =>
        eventually(async () => {
          await call(url, { authorization });
          assert.equal(reads(), count);
        });
      await until(2);
      assert.deepEqual(await callControl('DELETE', `/gw/cache/jwks/${other.api_id}`), [200, invalidated]);
      await Promise.all(Array.from({ length: 10 }, () => call(url, { authorization })));
      assert.equal(reads(), 2);
      assert.deepEqual(await callControl('DELETE', `/gw/cache/jwks/${definition.api_id}`), [200, invalidated]);
      await until(4);
      assert.deepEqual(await callControl('DELETE', '/gw/cache/jwks'), [200, invalidated]);
      await until(6);
      assert.deepEqual(await callControl('DELETE', `/api/cache/jwks/${definition.api_id}`), [
        200,
        { status: 'OK', message: 'success' },
      ]);
      await until(8);
      const { accessKey: credential } = await app().stranger();
      const foreign = await app().ask('DELETE', `/api/cache/jwks/${definition.api_id}`, { credential });
      assert.deepEqual([foreign.status, foreign.body.Message], [404, 'API not found']);
      assert.deepEqual(await callControl('DELETE', '/gw/cache/jwks/nobodys'), [404, refusal('API not found')]);
      await waitUntilApplied(app());
    });
  },
  { settings: { threads: '2' } },
);

test('a process without a data plane returns an error, and reloads nothing', async () => {
  const app = await startApp('sqlite', { settings: { role: 'dashboard' } });
  try {
    const { body } = await app.ask('POST', '/gw/apis', {
      body: { name: 'unserved', proxy: { listen_path: '/unserved/', target_url: 'http://127.0.0.1:9/' } },
    });
    const message = 'This process serves no API traffic; send the request to one that runs with --role gateway or all';
    for (const [method, path] of [
      ['GET', `/gw/apis/${body.key}/status`],
      ['GET', `/gw/health?api_id=${body.key}`],
      ['DELETE', '/gw/cache/jwks'],
    ] as const) {
      const answer = await app.ask(method, path);
      assert.deepEqual([answer.status, answer.body], [503, refusal(message)]);
    }
    assert.equal((await app.ask('GET', '/gw/reload?block=true')).status, 200);
  } finally {
    await app.close();
  }
});

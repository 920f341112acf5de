import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Pool } from 'undici';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, type TestApp } from '../../tests/support/app.ts';
import { eventually, openApi, publish, waitUntilApplied } from '../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../tests/support/upstream.ts';
import type { LoggedCall, UsageItem } from './schema.ts';

const range = '1/1/2020/31/12/2099';
const usagePath = (apiId: string, query = '') => `/api/usage/apis/${apiId}/${range}${query}`;

/** The counts of an API once they hold what was promised. */
const usageOf = (app: TestApp, apiId: string, query = '', credential?: string) =>
  app.ask('GET', usagePath(apiId, query), credential === undefined ? {} : { credential });

async function awaitHits(app: TestApp, apiId: string, hits: number): Promise<UsageItem> {
  return eventually(async () => {
    const { status, body, text } = await usageOf(app, apiId);
    assert.equal(status, 200, text);
    assert.equal(body.data[0]?.hits, hits);
    return body.data[0] as UsageItem;
  });
}

async function logsOf(app: TestApp, query: string, credential?: string) {
  return app.ask('GET', `/api/logs?start=0&end=9999999999${query}`, credential === undefined ? {} : { credential });
}

async function withKey(app: TestApp, upstream: Upstream, more: Record<string, unknown> = {}) {
  const definition = openApi(upstream, { use_keyless: false, use_standard_auth: true, ...more });
  const url = await publish(app, definition);
  const rights = { [definition.api_id]: { api_id: definition.api_id, versions: ['Default'] } };
  const { status, body, text } = await app.ask('POST', '/api/keys', {
    body: { alias: 'shop', allowance: 0, rate: 0, per: 0, quota_max: -1, access_rights: rights },
  });
  assert.equal(status, 200, text);
  await waitUntilApplied(app);
  return { url, apiId: definition.api_id, keyId: body.key_id as string, keyHash: body.key_hash as string };
}

onEveryEngine(
  'usage and logs',
  app => {
    let upstream: Upstream;
    before(async () => {
      upstream = await startUpstream();
    });
    after(() => upstream?.close());

    test('a call appears in the usage of its API, with every member of the response', async () => {
      const definition = openApi(upstream, { name: 'Orders' });
      const url = await publish(app(), definition);
      const reply = await fetch(`${url}/a/b`, { method: 'POST', body: '12345' });
      const size = (await reply.arrayBuffer()).byteLength;
      const item = await awaitHits(app(), definition.api_id, 1);
      const { latency, last_hit, ...rest } = item;
      assert.deepEqual(rest.id, {
        day: 0,
        month: 0,
        year: 0,
        hour: 0,
        minute: 0,
        start: '',
        code: 0,
        path: '',
        key: '',
        alias: '',
        url: '',
        iso_country: '',
        api_id: definition.api_id,
        api_name: 'Orders',
        api_version: '',
        oauth_id: '',
        refusal: '',
        method: '',
        user_agent: '',
        mcp_method: '',
        mcp_primitive_type: '',
        mcp_primitive_name: '',
        tag: '',
      });
      assert.deepEqual([rest.hits, rest.success, rest.error], [1, 1, 0]);
      assert.deepEqual([rest.request_bytes, rest.response_bytes], [5, size]);
      assert.equal(rest.request_time, latency);
      assert.ok(latency > 0 && rest.upstream_latency > 0 && rest.upstream_latency <= latency);
      assert.equal(rest.max_latency, rest.min_latency);
      assert.equal(rest.max_upstream_latency, rest.min_upstream_latency);
      assert.ok(Math.abs(Date.parse(last_hit) - Date.now()) < 60_000);
      const { body } = await usageOf(app(), definition.api_id);
      assert.deepEqual([body.pages, body.dropped], [1, 0]);
    });

    test('usage counts every one of 5000 calls on two threads', async () => {
      const definition = openApi(upstream);
      const url = new URL(await publish(app(), definition));
      const pool = new Pool(url.origin, { connections: 16 });
      let left = 5000;
      const caller = async () => {
        while (left-- > 0) {
          const path = `${url.pathname}/${left % 7}${left % 10 === 0 ? '?fail' : ''}`;
          await (await pool.request({ method: 'GET', path })).body.dump();
        }
      };
      upstream.answer = (request, response) =>
        response.writeHead(request.url!.endsWith('?fail') ? 500 : 200, { 'content-length': 2 }).end('ok');
      await Promise.all(Array.from({ length: 16 }, caller));
      upstream.answer = undefined;
      await pool.close();
      const item = await awaitHits(app(), definition.api_id, 5000);
      assert.deepEqual([item.success, item.error, item.response_bytes], [4500, 500, 10_000]);
      const byPath = (await usageOf(app(), definition.api_id, '?group_by=path,code&p=-1')).body.data as UsageItem[];
      assert.equal(byPath.length, 14);
      assert.equal(
        byPath.reduce((sum, { hits }) => sum + hits, 0),
        5000,
      );
      assert.equal(
        byPath.filter(({ id }) => id.code === 500).reduce((sum, { hits }) => sum + hits, 0),
        500,
      );
    });

    test('a refused call counts as an error with its refusal code', async () => {
      const { url, apiId } = await withKey(app(), upstream);
      assert.equal((await fetch(url)).status, 401);
      const item = await awaitHits(app(), apiId, 1);
      assert.deepEqual([item.success, item.error, item.upstream_latency, item.max_upstream_latency], [0, 1, 0, 0]);
      const { body } = await usageOf(app(), apiId, '?group_by=refusal,code,key,api_version');
      const { id } = body.data[0] as UsageItem;
      assert.deepEqual(
        [id.refusal, id.code, id.key, id.api_version],
        ['auth_field_missing', 401, '00000000', 'Non Versioned'],
      );
    });

    test('the activity of a key is grouped by API and path, and has only its hash', async () => {
      const { url, apiId, keyId, keyHash } = await withKey(app(), upstream);
      for (const path of ['/a', '/a', '/b']) await fetch(url + path, { headers: { authorization: keyId } });
      await awaitHits(app(), apiId, 3);
      const { status, body, text } = await app().ask('GET', `/api/activity/keys/${keyHash}/${range}`);
      assert.equal(status, 200, text);
      assert.deepEqual(
        body.data.map(({ id, hits }: UsageItem) => [id.api_id, id.path, id.key, id.alias, hits]),
        [
          [apiId, '/a', keyHash, 'shop', 2],
          [apiId, '/b', keyHash, 'shop', 1],
        ],
      );
      assert.ok(!text.includes(keyId));
      const logged = await logsOf(app(), `&key=${keyHash}`);
      assert.equal(logged.body.data.length, 3);
      assert.ok(!logged.text.includes(keyId));
    });

    test('the activity of an unused OAuth client is empty', async () => {
      const { status, body } = await app().ask('GET', `/api/activity/oauthid/nobody/${range}`);
      assert.deepEqual([status, body], [200, { data: [], pages: 1, dropped: 0 }]);
    });

    test('usage is grouped by day or hour, and a range includes exactly its days', async () => {
      const definition = openApi(upstream);
      await fetch(await publish(app(), definition));
      const now = new Date((await awaitHits(app(), definition.api_id, 1)).last_hit);
      const today = { day: now.getUTCDate(), month: now.getUTCMonth() + 1, year: now.getUTCFullYear() };
      const { body } = await usageOf(app(), definition.api_id, '?res=day');
      const { day, month, year, hour } = body.data[0].id;
      assert.deepEqual([{ day, month, year }, hour], [today, 0]);
      const byHour = (await usageOf(app(), definition.api_id, '?res=hour')).body.data[0].id;
      assert.equal(byHour.hour, now.getUTCHours());
      const past = `/api/usage/apis/${definition.api_id}/1/1/2020/31/12/2020`;
      assert.deepEqual((await app().ask('GET', past)).body, { data: [], pages: 1, dropped: 0 });
    });

    test('usage of APIs has pages, sorted by the requested order', async () => {
      const { accessKey } = await app().stranger();
      const credential = accessKey;
      const ids: string[] = [];
      for (let calls = 1; calls <= 3; calls++) {
        const definition = openApi(upstream);
        const asked = { body: { api_definition: definition }, credential };
        assert.equal((await app().ask('POST', '/api/apis', asked)).status, 200);
        await waitUntilApplied(app());
        for (let n = 0; n < calls; n++) await fetch(app().url.gateway + definition.proxy.listen_path);
        ids.push(definition.api_id);
      }
      const list = (query: string) => app().ask('GET', `/api/usage/apis/${range}${query}`, { credential });
      const listApiIds = ({ body }: Awaited<ReturnType<typeof list>>) =>
        body.data.map(({ id }: UsageItem) => id.api_id);
      await eventually(async () =>
        assert.deepEqual(
          (await list('')).body.data.map(({ hits }: UsageItem) => hits),
          [3, 2, 1],
        ),
      );
      assert.deepEqual(listApiIds(await list('')), [...ids].reverse());
      assert.deepEqual(listApiIds(await list('?sort=1&by=Hits')), ids);
      assert.deepEqual(listApiIds(await list('?by=Error&p=7')), []);
      assert.deepEqual((await list('?p=-1')).body.pages, 1);
      assert.equal((await list('?by=Nothing')).status, 400);
    });

    test('calls of another organisation are not visible', async () => {
      const definition = openApi(upstream);
      await fetch(await publish(app(), definition));
      await awaitHits(app(), definition.api_id, 1);
      const { accessKey } = await app().stranger();
      assert.equal((await usageOf(app(), definition.api_id, '', accessKey)).status, 404);
      const all = await app().ask('GET', `/api/usage/apis/${range}`, { credential: accessKey });
      assert.deepEqual(all.body.data, []);
      const anonymous = `/api/activity/keys/00000000/${range}`;
      assert.deepEqual((await app().ask('GET', anonymous, { credential: accessKey })).body.data, []);
      assert.deepEqual((await logsOf(app(), `&api_id=${definition.api_id}`, accessKey)).body, { data: [], pages: 1 });
    });

    test('APIs and endpoints with tracking disabled are not recorded', async () => {
      const silent = openApi(upstream, { do_not_track: true });
      const partly = openApi(upstream, {
        version_data: {
          not_versioned: true,
          versions: {
            Default: {
              name: 'Default',
              use_extended_paths: true,
              extended_paths: {
                do_not_track_endpoints: [{ path: '/private', method: 'GET' }],
                track_endpoints: [{ path: '/orders/{id}', method: 'GET' }],
              },
            },
          },
        },
      });
      await fetch(await publish(app(), silent));
      const url = await publish(app(), partly);
      for (const path of ['/private', '/orders/17', '/orders/18']) await fetch(url + path);
      await awaitHits(app(), partly.api_id, 2);
      const { body } = await usageOf(app(), partly.api_id, '?group_by=path');
      assert.deepEqual(
        body.data.map(({ id, hits }: UsageItem) => [id.path, hits]),
        [['/orders/{id}', 2]],
      );
      assert.deepEqual((await usageOf(app(), silent.api_id)).body.data, []);
      assert.deepEqual((await logsOf(app(), `&api_id=${silent.api_id}`)).body.data, []);
    });

    test('the log lists calls, newest first, filtered by API, status, failure and time', async () => {
      const definition = openApi(upstream, { name: 'Logged', tags: ['eu'] });
      const url = await publish(app(), definition);
      upstream.answer = (request, response) =>
        response.writeHead(request.url === '/bad' ? 503 : 200, { 'content-length': 2 }).end('ok');
      for (const path of ['/good', '/bad', '/last?secret=1'])
        await fetch(url + path, { headers: { 'user-agent': 'tester' } });
      upstream.answer = undefined;
      const found = await eventually(async () => {
        const { status, body, text } = await logsOf(app(), `&api_id=${definition.api_id}`);
        assert.equal(status, 200, text);
        assert.equal(body.data.length, 3);
        assert.ok(!text.includes('secret=1'));
        return body.data as LoggedCall[];
      });
      assert.deepEqual(
        found.map(({ path, response_code }) => [path, response_code]),
        [
          ['/last', 200],
          ['/bad', 503],
          ['/good', 200],
        ],
      );
      const [{ method, user_agent, ip_address, api_name, org_id, api_key, listen_path, tags, response_length }] =
        found as [LoggedCall];
      assert.deepEqual(
        [method, user_agent, ip_address, api_name, org_id, api_key, listen_path, response_length],
        [
          'GET',
          'tester',
          '127.0.0.1',
          'Logged',
          app().credentials.organisation_id,
          '00000000',
          definition.proxy.listen_path,
          2,
        ],
      );
      assert.deepEqual(tags, ['key-00000000', `org-${org_id}`, `api-${definition.api_id}`, 'eu']);
      const only = async (query: string) =>
        (await logsOf(app(), `&api_id=${definition.api_id}${query}`)).body.data.map(({ path }: LoggedCall) => path);
      assert.deepEqual(await only('&errors=true'), ['/bad']);
      assert.deepEqual(await only('&status=503'), ['/bad']);
      assert.deepEqual(await only('&status=201'), []);
      assert.deepEqual(await only('&p=2'), []);
      assert.deepEqual(await only('&key=abcdef01'), []);
      const past = await app().ask('GET', `/api/logs?start=0&end=1000&api_id=${definition.api_id}`);
      assert.deepEqual(past.body, { data: [], pages: 1 });
    });

    test('detailed recording stores the request head without credentials', async () => {
      const { url, apiId, keyId } = await withKey(app(), upstream, { enable_detailed_recording: true });
      await fetch(url, { headers: { authorization: keyId, 'x-shown': 'yes' } });
      const { body, text } = await eventually(async () => {
        const answer = await logsOf(app(), `&api_id=${apiId}`);
        assert.equal(answer.body.data.length, 1);
        return answer;
      });
      const [request, response] = [body.data[0].raw_request, body.data[0].raw_response].map(it =>
        Buffer.from(it, 'base64').toString(),
      );
      assert.match(request!, /^GET \/\w+ HTTP\/1\.1\r\n.*x-shown: yes\r\n/is);
      assert.match(request!, /^authorization: \*\*\*\r$/im);
      assert.match(response!, /^HTTP\/1\.1 200\r\n/);
      assert.ok(!text.includes(keyId) && !request!.includes(keyId));
    });

    test('invalid query members are refused by name', async () => {
      const cases: [string, RegExp][] = [
        ['/api/usage/apis/31/2/2026/1/3/2026', /startDay: the month has no such day/],
        ['/api/usage/apis/2/3/2026/1/3/2026', /endDay: the end must not be before the start/],
        ['/api/usage/apis/x/3/2026/1/3/2026', /startDay/],
        ['/api/usage/apis/1/13/2026/1/3/2026', /startMonth/],
        [`/api/usage/apis/${range}?sort=2`, /sort/],
        [`/api/usage/apis/${range}?group_by=color`, /group_by/],
        [`/api/usage/apis/${range}?p=x`, /p/],
        [`/api/activity/keys/no-hash/${range}`, /keyHash: must be the hash of a key/],
        ['/api/logs', /^start: is required \(unix seconds\); end: is required \(unix seconds, inclusive\)/],
        ['/api/logs?start=2&end=1', /end: must not be before start/],
        ['/api/logs?start=x&end=1', /^start: must be a number$/],
        ['/api/logs?start=0&end=1&status=abc', /status/],
      ];
      for (const [path, message] of cases) {
        const { status, body } = await app().ask('GET', path);
        assert.equal(status, 400, path);
        assert.match(body.Message, message);
      }
      assert.equal((await usageOf(app(), createPublicId())).status, 404);
    });

    test('metrics need an installation secret, and are not on the traffic port', async () => {
      const { admin_secret, gateway_secret, admin_access_key } = app().credentials;
      const metrics = (headers: Record<string, string>) => fetch(`${app().url.dashboard}/metrics`, { headers });
      assert.equal((await metrics({})).status, 401);
      assert.equal((await metrics({ authorization: admin_access_key })).status, 401);
      assert.equal((await metrics({ 'admin-auth': 'wrong' })).status, 401);
      const right: Record<string, string>[] = [
        { 'admin-auth': admin_secret },
        { 'x-gw-authorization': gateway_secret },
        { authorization: `Bearer ${admin_secret}` },
        { authorization: `Bearer ${gateway_secret}` },
      ];
      for (const headers of right) assert.equal((await metrics(headers)).status, 200);
      assert.equal((await fetch(`${app().url.gateway}/metrics`)).status, 404);
      assert.equal((await fetch(`${app().url.portal}/metrics`)).status, 404);
    });

    test('metrics include calls, durations, refusals, records, threads and parts', async () => {
      const { url, apiId } = await withKey(app(), upstream);
      await fetch(url);
      const text = await eventually(async () => {
        const reply = await fetch(`${app().url.dashboard}/metrics`, {
          headers: { 'admin-auth': app().credentials.admin_secret },
        });
        assert.equal(reply.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
        const found = await reply.text();
        assert.match(found, new RegExp(`^gw_requests_total\\{api="${apiId}",status="4xx"\\} 1$`, 'm'));
        assert.match(found, /^gw_thread_event_loop_lag_seconds\{thread="\d+"\} /m);
        assert.match(found, /^gw_thread_heap_bytes\{thread="main"\} /m);
        return found;
      });
      for (const line of [
        new RegExp(`^gw_request_duration_seconds_bucket\\{api="${apiId}",le="\\+Inf"\\} 1$`, 'm'),
        new RegExp(`^gw_gateway_duration_seconds_count\\{api="${apiId}"\\} 1$`, 'm'),
        /^gw_upstream_duration_seconds_count\{api="\w+"\} [1-9]/m,
        new RegExp(`^gw_responses_total\\{api="${apiId}",code="401"\\} 1$`, 'm'),
        /^gw_refusals_total\{code="auth_field_missing"\} [1-9]/m,
        /^gw_records_total [1-9]/m,
        /^gw_records_dropped_total\{where="thread"\} 0$/m,
        /^gw_counters_evicted_total 0$/m,
        /^gw_threads 2$/m,
        /^gw_thread_restarts_total 0$/m,
        /^gw_component_up\{part="database"\} 1$/m,
        /^process_resident_memory_bytes \d+$/m,
      ])
        assert.match(text, line);
    });
  },
  { settings: { threads: '2' } },
);

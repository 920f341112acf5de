import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { HostUptime } from '#analytics/uptime/schema.ts';
import { onEveryEngine } from './support/app.ts';
import { type BothFormats, publishBoth } from './support/both-formats.ts';
import { waitUntilApplied } from './support/traffic.ts';
import { eventually, startUpstream, type Upstream } from './support/upstream.ts';

onEveryEngine(
  'results of uptime tests',
  app => {
    let upstream: Upstream;
    before(async () => {
      upstream = await startUpstream();
    });
    after(() => upstream?.close());

    const createTestedApi = (timeout: object): BothFormats => ({
      classic: { uptime_tests: { check_list: [{ url: `${upstream.url}/health?secret=canary`, ...timeout }] } },
      oas: {
        upstream: {
          url: upstream.url,
          uptimeTests: { enabled: true, tests: [{ url: `${upstream.url}/health?secret=canary` }] },
        },
      },
    });
    const healthy = (isHealthy: boolean) => {
      upstream.answer = (_request, response) => response.writeHead(isHealthy ? 200 : 500).end();
    };
    const hosts = async (query: string, credential?: string): Promise<HostUptime[]> => {
      const asked = credential === undefined ? {} : { credential };
      const { status, body, text } = await app().ask('GET', `/api/uptime?${query}`, asked);
      assert.equal(status, 200, text);
      assert.ok(!text.includes('canary'));
      return body.data;
    };
    const hostOf = (apiId: string, isUp: boolean) =>
      eventually(async () => {
        const [host, ...others] = await hosts(`api_id=${apiId}`);
        assert.deepEqual([host?.up, others], [isUp, []]);
        return host!;
      });
    const gauge = async (apiId: string) => {
      const credential = app().credentials.gateway_secret;
      const { text } = await app().ask('GET', '/metrics', { headers: { authorization: `Bearer ${credential}` } });
      return new RegExp(`^gw_upstream_up\\{api="${apiId}",host="(.*)"\\} (\\d)$`, 'm').exec(text)?.slice(1);
    };

    test('a host is reported up, down after failed tests, and up again, in both formats', async () => {
      healthy(true);
      const name = upstream.url.slice('http://'.length);
      const apis = await publishBoth(app(), upstream, createTestedApi({ timeout: 2000 }));
      for (const { apiId } of apis) {
        const { host, uptime, failed, last, results, since } = await hostOf(apiId, true);
        assert.deepEqual([host, uptime, failed, results.length, results[0]?.at], [name, 1, 0, 1, since]);
        assert.deepEqual([last.url, last.response_code], [`${upstream.url}/health`, 200]);
        assert.deepEqual(await gauge(apiId), [name, '1']);
      }
      healthy(false);
      for (const { apiId } of apis) {
        const { uptime, tests, failed, results, since } = await hostOf(apiId, false);
        assert.deepEqual(
          results.map(({ up, response_code }) => [up, response_code]),
          [
            [false, 500],
            [true, 200],
          ],
        );
        assert.ok(uptime < 1 && failed >= 2 && tests > failed);
        assert.equal(since, results[0]?.at);
        assert.deepEqual(await gauge(apiId), [name, '0']);
      }
      healthy(true);
      for (const { apiId } of apis) {
        const { results } = await hostOf(apiId, true);
        assert.deepEqual(
          results.map(({ up }) => up),
          [true, false, true],
        );
      }
    });

    test('an unreachable host has no status code and an error', async () => {
      const gone = await startUpstream();
      await gone.close();
      const definitions: BothFormats = {
        classic: { uptime_tests: { check_list: [{ url: gone.url }] } },
        oas: { upstream: { url: upstream.url, uptimeTests: { enabled: true, tests: [{ url: gone.url }] } } },
      };
      for (const { apiId } of await publishBoth(app(), upstream, definitions)) {
        const { last, latency, uptime } = await hostOf(apiId, false);
        assert.deepEqual([last.response_code, latency], [0, 0]);
        assert.match(last.error, /^The request to 127\.0\.0\.1:\d+ failed|ECONNREFUSED/);
        // One failed test is not enough for a host to be down.
        assert.ok(uptime < 1);
      }
    });

    test('a host that stops moves from the list of state=up to that of state=down', async () => {
      const stopping = await startUpstream();
      const definitions: BothFormats = {
        classic: { uptime_tests: { check_list: [{ url: stopping.url }] } },
        oas: { upstream: { url: upstream.url, uptimeTests: { enabled: true, tests: [{ url: stopping.url }] } } },
      };
      const apis = await publishBoth(app(), upstream, definitions);
      const countIn = async (apiId: string, state: string) => (await hosts(`api_id=${apiId}&state=${state}`)).length;
      try {
        for (const { apiId } of apis) {
          await hostOf(apiId, true);
          assert.deepEqual([await countIn(apiId, 'up'), await countIn(apiId, 'down')], [1, 0]);
        }
      } finally {
        await stopping.close();
      }
      for (const { apiId } of apis) {
        await hostOf(apiId, false);
        assert.deepEqual([await countIn(apiId, 'up'), await countIn(apiId, 'down')], [0, 1]);
        const [host] = await hosts(`api_id=${apiId}&state=down`);
        assert.deepEqual([host!.host, host!.up], [stopping.url.slice('http://'.length), false]);
      }
    });

    test('hosts can be restricted to those of APIs with all of some tags', async () => {
      healthy(true);
      const tagged = (...tags: string[]): BothFormats => ({
        classic: { ...createTestedApi({}).classic, tags },
        oas: { ...createTestedApi({}).oas, server: { gatewayTags: { enabled: true, tags } } },
      });
      const [both, one] = await Promise.all([
        publishBoth(app(), upstream, tagged('Blue', 'edge%')),
        publishBoth(app(), upstream, tagged('edge%')),
      ]);
      for (const { apiId } of [...both, ...one]) await hostOf(apiId, true);
      const idsOf = (apis: readonly { apiId: string }[]) => apis.map(({ apiId }) => apiId).sort();
      const find = async (tags: string) =>
        (await hosts(`tags=${encodeURIComponent(tags)}&p=-1`)).map(({ api_id }) => api_id).sort();
      assert.deepEqual(await find('edge%'), idsOf([...both, ...one]));
      assert.deepEqual(await find('edge%, Blue'), idsOf(both));
      assert.deepEqual(await find(`Blue,api-${both[0]!.apiId}`), [both[0]!.apiId]);
      for (const none of ['blue', 'edge', 'Blu', 'Blue,other']) assert.deepEqual(await find(none), [], none);
      const all = await hosts('p=-1');
      assert.equal((await find(`org-${app().credentials.organisation_id}`)).length, all.length);
      assert.deepEqual(await hosts('tags=edge%25', (await app().stranger()).accessKey), []);
    });

    test('a host is down when one of its tests fails, also where an earlier test of the round passes', async () => {
      upstream.answer = (request, response) => response.writeHead(request.url!.endsWith('/bad') ? 500 : 200).end();
      const tests = ['/good', '/bad'].map(path => ({ url: upstream.url + path }));
      const definitions: BothFormats = {
        classic: { uptime_tests: { check_list: tests } },
        oas: { upstream: { url: upstream.url, uptimeTests: { enabled: true, tests } } },
      };
      for (const { apiId } of await publishBoth(app(), upstream, definitions)) {
        const { last } = await hostOf(apiId, false);
        assert.deepEqual([last.up, last.url, last.response_code], [false, `${upstream.url}/bad`, 500]);
        assert.equal((await gauge(apiId))?.[1], '0');
      }
    });

    test('hosts of another organisation are hidden, and invalid parameters are refused by name', async () => {
      healthy(true);
      const [api] = await publishBoth(app(), upstream, createTestedApi({}));
      await hostOf(api!.apiId, true);
      const { accessKey } = await app().stranger();
      assert.deepEqual(await hosts('', accessKey), []);
      assert.deepEqual(await hosts(`api_id=${api!.apiId}`, accessKey), []);
      assert.deepEqual(await hosts(`api_id=${api!.apiId}&from=0&to=1000`), []);
      const upHosts = await hosts(`api_id=${api!.apiId}&state=up`);
      assert.equal(upHosts.length, 1);
      assert.deepEqual(await hosts(`api_id=${api!.apiId}&state=down`), []);
      for (const [query, fault] of [
        ['from=x', /from/],
        ['state=off', /state/],
        ['from=10&to=9', /to: must not be before from/],
      ] as const) {
        const { status, text } = await app().ask('GET', `/api/uptime?${query}`);
        assert.equal(status, 400);
        assert.match(text, fault);
      }
    });

    test('uptime results stay after their API is deleted', async () => {
      healthy(true);
      const [api] = await publishBoth(app(), upstream, createTestedApi({}));
      await hostOf(api!.apiId, true);
      assert.equal((await app().ask('DELETE', `/api/apis/${api!.apiId}`)).status, 200);
      await waitUntilApplied(app());
      assert.equal((await hostOf(api!.apiId, true)).results.length, 1);
    });
  },
  { settings: { threads: '2', 'uptime.interval_ms': '60', 'uptime.failures': '2' } },
);

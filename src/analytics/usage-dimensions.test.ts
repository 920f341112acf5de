import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, type TestApp } from '../../tests/support/app.ts';
import { cityRecord, encodeMaxmindDatabase } from '../../tests/support/maxmind-database.ts';
import { batchOf, type GivenCall, someApi } from '../../tests/support/records.ts';
import { eventually, openApi, publish } from '../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../tests/support/upstream.ts';
import { forEachCall } from './batch.ts';
import { createUsageRollUp } from './roll-up.ts';
import type { LoggedCall, UsageItem } from './schema.ts';

const directory = mkdtempSync(join(tmpdir(), 'gw-geo-'));
const geoDatabase = join(directory, 'city.mmdb');
writeFileSync(geoDatabase, encodeMaxmindDatabase({ '81.2.69.0/24': cityRecord('GB', 'London', 51.5, -0.1) }));
after(() => rmSync(directory, { recursive: true }));

const range = '1/6/2025/30/6/2025';
const at = Date.UTC(2025, 5, 1, 12);
const between = `start=${at / 1000}&end=${at / 1000 + 3600}`;

async function store(app: TestApp, calls: readonly GivenCall[], retentionSeconds = 0): Promise<string> {
  const api = { ...someApi, id: createPublicId(), orgId: app.credentials.organisation_id, retentionSeconds };
  const made = createUsageRollUp({ rowsPerMinute: 10_000, normalisePaths: false });
  forEachCall(batchOf(calls.map(call => ({ ...call, api }))), made.add);
  await app.application.installation.services.usage.add(made.drain(0));
  return api.id;
}

const latenciesFrom1To100 = Array.from({ length: 100 }, (_, n) => ({ atMs: at, totalMs: n + 1 }));

onEveryEngine(
  'Usage dimensions and percentiles',
  app => {
    let upstream: Upstream;
    before(async () => {
      upstream = await startUpstream();
    });
    after(() => upstream?.close());

    const list = async (path: string) => {
      const { status, body, text } = await app().ask('GET', path);
      assert.equal(status, 200, `${path}: ${text}`);
      return body.data as UsageItem[];
    };

    test('requests are counted by method, country of a trusted proxy, and agent', async () => {
      const definition = openApi(upstream);
      const url = await publish(app(), definition);
      for (const [method, country, agent] of [
        ['GET', 'de', 'curl/8.5'],
        ['GET', 'DE', 'curl/8.6'],
        ['POST', 'FR', 'Mozilla/5.0 (X11) Gecko/20100101 Firefox/128.0'],
        ['GET', '=x', 'curl/8.6'],
      ])
        await fetch(url, { method: method!, headers: { 'x-country': country!, 'user-agent': agent! } });
      const read = async (group: string, query = '') =>
        (await list(`/api/usage?start=0&end=3000000000&api_id=${definition.api_id}&group_by=${group}${query}`))
          .map(({ id, hits }) => [id.method, id.iso_country, id.user_agent, hits].join('/'))
          .sort();
      await eventually(async () =>
        assert.deepEqual(await read('method,country,user_agent'), [
          'GET//curl/1',
          'GET/DE/curl/2',
          'POST/FR/Firefox/1',
        ]),
      );
      assert.deepEqual(await read('method'), ['GET///3', 'POST///1']);
      assert.deepEqual(await read('country', '&method=post'), ['/FR//1']);
      assert.deepEqual(await read('method', '&country=de'), ['GET///2']);
      assert.deepEqual(await read('user_agent', '&user_agent=Firefox'), ['//Firefox/1']);
    });

    test('percentiles are those of the histogram, merged over rows and writes, within its error', async () => {
      const apiId = await store(app(), latenciesFrom1To100);
      const api = { ...someApi, id: apiId, orgId: app().credentials.organisation_id };
      const made = createUsageRollUp({ rowsPerMinute: 100, normalisePaths: false });
      forEachCall(
        batchOf(
          latenciesFrom1To100.flatMap(call => [
            { ...call, api },
            { ...call, api, path: '/other', atMs: at + 120_000 },
          ]),
        ),
        made.add,
      );
      await app().application.installation.services.usage.add(made.drain(0));
      const [item] = await list(`/api/usage/apis/${apiId}/${range}?percentiles=true`);
      const { samples, ...ranks } = item!.percentiles!;
      assert.deepEqual([item!.hits, samples], [300, 300]);
      for (const [name, exact] of [
        ['p50', 50],
        ['p75', 75],
        ['p95', 95],
        ['p99', 99],
      ] as const)
        assert.ok(Math.abs(ranks[name] - exact) <= exact * 0.045, `${name}: ${ranks[name]}`);
      assert.equal((await list(`/api/usage/apis/${apiId}/${range}`))[0]!.percentiles, undefined);
    });

    test('percentiles belong to their group, by page, time and filter', async () => {
      const apiId = await store(app(), [
        { atMs: at, path: '/fast', totalMs: 1 },
        { atMs: at, path: '/fast', totalMs: 1 },
        { atMs: at, path: '/slow', totalMs: 1000, status: 500 },
        { atMs: at + 60_000, path: '/slow', totalMs: 3000, upstreamMs: 0 },
      ]);
      const read = async (query: string) =>
        (await list(`/api/usage?${between}&api_id=${apiId}&percentiles=1${query}`)).map(({ id, percentiles }) => [
          id.path,
          id.minute,
          percentiles!.p50,
          percentiles!.samples,
        ]);
      assert.deepEqual(await read('&group_by=path&res=minute&by=Time&sort=1'), [
        ['/fast', 0, 1, 2],
        ['/slow', 0, 1000, 1],
        ['/slow', 1, 3000, 1],
      ]);
      assert.deepEqual(await read('&group_by=path&res=minute&by=Time&sort=1&p=-1'), [
        ['/fast', 0, 1, 2],
        ['/slow', 0, 1000, 1],
        ['/slow', 1, 3000, 1],
      ]);
      assert.deepEqual(await read('&code=5xx'), [['', 0, 1000, 1]]);
      assert.deepEqual(await read('&group_by=path&tz=Asia/Kolkata&res=hour&path=/fast'), [['/fast', 0, 1, 2]]);
      const { text } = await app().ask(
        'GET',
        `/api/usage?${between}&api_id=${apiId}&percentiles=1&type=csv&path=/fast`,
      );
      assert.match(text, /,p50,p75,p95,p99,samples\r\n.*,1,1,1,1,2\r\n$/);
    });

    test('country, city and location of a client come from its address, and are counted by country', async () => {
      const definition = openApi(upstream);
      const url = await publish(app(), definition);
      const send = (headers: Record<string, string>) => fetch(url, { headers });
      await send({ 'x-forwarded-for': '81.2.69.142' });
      await send({ 'x-forwarded-for': '81.2.69.143', 'x-country': 'DE' });
      await send({});
      const calls = await eventually(async () => {
        const { body } = await app().ask('GET', `/api/logs?start=0&end=9999999999&api_id=${definition.api_id}`);
        assert.equal(body.data.length, 3);
        return body.data as LoggedCall[];
      });
      const place = {
        country: { iso_code: 'GB' },
        city: { geoname_id: 2_643_743, names: { en: 'London' } },
        location: { latitude: 51.5, longitude: -0.1, time_zone: 'Europe/London' },
      };
      const byAddress = new Map(calls.map(({ ip_address, geo }) => [ip_address, geo]));
      assert.deepEqual(
        ['81.2.69.142', '81.2.69.143', '127.0.0.1'].map(address => byAddress.get(address)),
        [place, place, undefined],
      );
      const now = Math.floor(Date.now() / 1000);
      const items = await list(
        `/api/usage?start=${now - 3600}&end=${now + 3600}&api_id=${definition.api_id}&group_by=country`,
      );
      assert.deepEqual(items.map(({ id, hits }) => [id.iso_country, hits]).sort(), [
        ['', 1],
        ['DE', 1],
        ['GB', 1],
      ]);
    });

    test('rows without a histogram, of an earlier version, have no samples', async () => {
      const apiId = await store(app(), [{ atMs: at, totalMs: 7 }]);
      const { records } = app().application.installation;
      await records.write(async () => {
        await sql`delete from usage_latencies where id in (select id from usage where api_id = ${apiId})`.execute(
          records.db,
        );
      });
      const [item] = await list(`/api/usage/apis/${apiId}/${range}?percentiles=true`);
      assert.deepEqual(item!.percentiles, { p50: 0, p75: 0, p95: 0, p99: 0, samples: 0 });
    });

    test('percentiles of too many items are refused, and served by page', async () => {
      const calls = Array.from({ length: 1001 }, (_, n) => ({ atMs: at, path: `/${n}` }));
      const apiId = await store(app(), calls);
      const path = `/api/usage/apis/${apiId}/${range}?group_by=path&percentiles=true`;
      const { status, body } = await app().ask('GET', `${path}&p=-1`);
      assert.deepEqual([status, body.Message], [400, 'More than 1000 items: request them in pages']);
      assert.equal((await list(path)).length, 10);
      assert.equal((await list(`/api/usage/apis/${apiId}/${range}?group_by=path&p=-1`)).length, 1001);
    });

    test('histograms are pruned with their rows', async () => {
      const apiId = await store(app(), [{ atMs: at }], 60);
      const { services, records } = app().application.installation;
      const count = async () => {
        const { rows } = await sql<{ n: number }>`select count(*) as n from usage_latencies
          where expires_at > 0 and minute = ${at}`.execute(records.db);
        return Number(rows[0]!.n);
      };
      await services.usage.prune(0, at + 3_600_000, 2000);
      assert.equal(await count(), 0);
      assert.equal((await app().ask('GET', `/api/usage/apis/${apiId}/${range}`)).status, 404);
      await store(app(), [{ atMs: Date.UTC(1990, 0, 1) }]);
      await services.usage.prune(Date.UTC(1991, 0, 1), 0, 2000);
      const { rows } = await sql<{ n: number }>`select count(*) as n from usage_latencies
        where minute < ${Date.UTC(1991, 0, 1)}`.execute(records.db);
      assert.equal(Number(rows[0]!.n), 0);
    });
  },
  {
    settings: {
      'analytics.retention_days': '0',
      'analytics.country_header': 'X-Country',
      'analytics.geo_database': geoDatabase,
      'gateway.trusted_proxies': '127.0.0.1',
    },
  },
);

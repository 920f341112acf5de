import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, type TestApp } from '../../tests/support/app.ts';
import { batchOf, type GivenCall, someApi } from '../../tests/support/records.ts';
import { eventually, openApi, publish } from '../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../tests/support/upstream.ts';
import { forEachCall, tagSeparator } from './batch.ts';
import { createUsageRollUp } from './roll-up.ts';
import type { UsageItem } from './schema.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** The last hour of a day in Kolkata (UTC+05:30), and half an hour of the next one. */
const at = Date.UTC(2025, 5, 1, 17, 30);
const range = '1/6/2025/2/6/2025';
const between = `start=${at / 1000 - 3600}&end=${at / 1000 + 7200}`;
const hash = 'abcdef0123456789';

const withTags = (...tags: string[]): GivenCall => ({ tags: tags.join(tagSeparator) });

async function store(app: TestApp, calls: readonly GivenCall[], orgId?: string): Promise<string> {
  const api = { ...someApi, id: createPublicId(), orgId: orgId ?? app.credentials.organisation_id, tags: ['eu'] };
  const made = createUsageRollUp({ rowsPerMinute: 10_000, normalisePaths: false });
  forEachCall(batchOf(calls.map(call => ({ atMs: at, ...call, api }))), made.add);
  await app.application.installation.services.usage.add(made.drain(0));
  return api.id;
}

onEveryEngine(
  'Usage by tag',
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
    const countHits = async (path: string) => (await list(path)).reduce((sum, { hits }) => sum + hits, 0);

    test('tags restrict the counts to requests with all of them, each counted once', async () => {
      const calls = [
        withTags('vip', 'beta'),
        withTags('vip'),
        { ...withTags('VIP'), status: 500 },
        withTags('vi%'),
        {},
      ];
      const apiId = await store(app(), calls);
      const count = (tags: string) =>
        countHits(`/api/usage/apis/${range}?api_id=${apiId}&tags=${encodeURIComponent(tags)}`);
      assert.equal(await count('vip'), 2);
      assert.equal(await count('VIP'), 1);
      assert.equal(await count('vi%'), 1);
      assert.equal(await count('vip, beta'), 1);
      assert.equal(await count('vip,VIP'), 0);
      assert.equal(await count('eu'), 5);
      assert.equal(await count('none'), 0);
      assert.equal(await count(''), 5);
      assert.equal(await count(`api-${apiId}`), 5);
      assert.equal(await count(`key-00000000,vip,org-${app().credentials.organisation_id}`), 2);
      assert.equal(await count(`key-${hash}`), 0);
    });

    test('grouped by tag, a request counts once for each tag, and in totals once', async () => {
      const apiId = await store(app(), [
        withTags('a', 'b'),
        { ...withTags('a'), status: 500, totalMs: 8 },
        withTags('b', 'c'),
      ]);
      const path = `/api/usage/apis/${apiId}/${range}`;
      const format = ({ id, hits, error }: UsageItem) => [id.tag, hits, error].join('|');
      assert.deepEqual((await list(`${path}?group_by=tag`)).map(format), ['eu|3|1', 'a|2|1', 'b|2|0', 'c|1|0']);
      assert.deepEqual((await list(`${path}?group_by=tag&tags=c`)).map(format), ['b|1|0', 'c|1|0', 'eu|1|0']);
      assert.deepEqual((await list(path)).map(format), ['|3|1']);
      const paged = await app().ask('GET', `/api/usage?${between}&api_id=${apiId}&group_by=tag&p=1`);
      assert.deepEqual([paged.body.data.length, paged.body.pages], [4, 1]);
      const [, a] = await list(`${path}?group_by=tag&percentiles=true`);
      assert.deepEqual([a!.id.tag, a!.percentiles?.samples], ['a', 2]);
      assert.ok(a!.percentiles!.p50 < 5 && a!.percentiles!.p99 > 7);
      const csv = await app().ask('GET', `${path}?group_by=tag&type=csv`);
      const [head, ...lines] = csv.text.trimEnd().split('\r\n');
      assert.match(head!, /,mcp_primitive_name,tag,hits,/);
      assert.equal(lines.length, 4);
      assert.match(lines[0]!, /,eu,3,2,1,/);
    });

    test('requests without tags are counted under the empty tag', async () => {
      const api = { ...someApi, id: createPublicId(), orgId: app().credentials.organisation_id };
      const made = createUsageRollUp({ rowsPerMinute: 10, normalisePaths: false });
      forEachCall(
        batchOf([
          { atMs: at, api },
          { atMs: at, api, ...withTags('a') },
          { atMs: at, api },
        ]),
        made.add,
      );
      await app().application.installation.services.usage.add(made.drain(0));
      const items = await list(`/api/usage/apis/${api.id}/${range}?group_by=tag`);
      assert.deepEqual(
        items.map(({ id, hits }) => [id.tag, hits]),
        [
          ['', 2],
          ['a', 1],
        ],
      );
    });

    test('minutes, hours and days of a time zone have their tags', async () => {
      const times = [0, 59 * minuteMs, hourMs, hourMs + minuteMs, 2 * hourMs - minuteMs];
      const apiId = await store(
        app(),
        times.flatMap((more, n) => [
          { ...withTags('a', ...(n % 2 ? ['b'] : [])), atMs: at + more },
          { ...withTags('b'), atMs: at + more },
        ]),
      );
      const read = async (res: string, tags: string) =>
        (
          await list(`/api/usage/apis/${apiId}/${range}?tags=${tags}&res=${res}&tz=Asia/Kolkata&by=Time&sort=1&p=-1`)
        ).map(({ id, hits }) => `${id.start.slice(5, 16)} ${hits}`);
      assert.deepEqual(await read('day', 'a'), ['06-01T00:00 2', '06-02T00:00 3']);
      assert.deepEqual(await read('day', 'b'), ['06-01T00:00 3', '06-02T00:00 4']);
      assert.deepEqual(await read('hour', 'a,b'), ['06-01T23:00 1', '06-02T00:00 1']);
      assert.deepEqual(await read('minute', 'a'), [
        '06-01T23:00 1',
        '06-01T23:59 1',
        '06-02T00:00 1',
        '06-02T00:01 1',
        '06-02T00:59 1',
      ]);
      const days = await list(
        `/api/usage?${between}&api_id=${apiId}&group_by=tag&res=day&tz=Asia/Kolkata&by=Time&sort=1`,
      );
      assert.deepEqual(
        days.map(({ id, hits }) => `${id.day} ${id.tag} ${hits}`),
        ['1 a 2', '1 b 3', '1 eu 4', '2 a 3', '2 b 4', '2 eu 6'],
      );
    });

    test('every usage and activity operation filters by tag', async () => {
      const call = { keyHash: hash, oauthId: 'client', mcpMethod: 'tools/call', mcpPrimitiveType: 'tool' };
      const named = { ...call, mcpPrimitiveName: 'a', status: 500 };
      const apiId = await store(app(), [{ ...named, ...withTags('vip') }, named, named]);
      for (const path of [
        `/api/usage/apis/${range}`,
        `/api/usage/apis/${apiId}/${range}`,
        `/api/usage/mcp/${range}`,
        `/api/activity/mcp/primitives/${range}`,
        `/api/activity/mcp/primitives/errors/${range}`,
        `/api/activity/mcp/keys/${hash}/${range}`,
        `/api/activity/keys/${hash}/${range}`,
        `/api/activity/keys/endpoint/${hash}/${range}`,
        `/api/activity/keys/aggregate/${hash}/${range}`,
        `/api/activity/oauthid/client/${range}`,
        `/api/activity/oauthid/endpoint/client/${range}`,
      ]) {
        const narrow = path.includes(apiId) ? '' : `&api_id=${apiId}`;
        assert.equal(await countHits(`${path}?tags=vip${narrow}`), 1, path);
        assert.equal(await countHits(`${path}?tags=eu${narrow}`), 3, path);
      }
      assert.equal(await countHits(`/api/usage?${between}&api_id=${apiId}&key=${hash}&tags=vip&errors=true`), 1);
      const ofKeys = async (query: string) =>
        countHits(`/api/usage?${between}&api_id=${apiId}&tags=vip&errors=true&${query}`);
      assert.equal(await ofKeys(`keys=${hash.toUpperCase()},abcdef01`), 1);
      assert.equal(await ofKeys(`keys=${hash}&key=${hash}`), 1);
      assert.equal(await ofKeys(`keys=abcdef01&key=${hash}`), 0);
    });

    test('tags of another organisation have no counts', async () => {
      const apiId = await store(app(), [withTags('foreign')], createPublicId());
      assert.deepEqual(await list(`/api/usage?${between}&tags=foreign`), []);
      assert.deepEqual(await list(`/api/usage?${between}&tags=api-${apiId}`), []);
      const items = await list(`/api/usage?${between}&group_by=tag&p=-1`);
      assert.ok(items.every(({ id }) => id.tag !== 'foreign'));
    });

    test('too many tags are refused', async () => {
      const tags = Array.from({ length: 11 }, (_, n) => `t${n}`).join();
      const { status, body } = await app().ask('GET', `/api/usage?${between}&tags=${tags}`);
      assert.equal(status, 400);
      assert.match(body.Message, /^tags: must be at most 10/);
    });

    test('tags are removed with the usage they are of, not before', async () => {
      const { usage } = app().application.installation.services;
      const { db } = app().application.installation.records;
      const findTag = () => db.selectFrom('usage_tags').select('tag').where('tag', '=', 'pruned').execute();
      const apiId = await store(app(), [{ ...withTags('pruned'), atMs: at - 40 * 24 * hourMs }]);
      const row = await db.selectFrom('usage').select('minute').where('api_id', '=', apiId).executeTakeFirstOrThrow();
      await usage.prune(Number(row.minute), Number(row.minute), 1000);
      assert.equal((await findTag()).length, 1);
      await store(app(), [{ ...withTags('pruned'), atMs: at - 38 * 24 * hourMs }]);
      await usage.prune(at - 39 * 24 * hourMs, 0, 1000);
      assert.equal((await findTag()).length, 1);
      await usage.prune(at - 37 * 24 * hourMs, 0, 1000);
      assert.deepEqual(await findTag(), []);
    });

    test('requests through the gateway are counted by the tags of their API and their headers', async () => {
      const definition = openApi(upstream, { tags: ['edge'], tag_headers: ['x-team'] });
      const url = await publish(app(), definition);
      for (const team of ['red', 'red', 'blue'])
        assert.equal((await fetch(url, { headers: { 'x-team': team } })).status, 200);
      const day = new Date();
      const today = `${day.getUTCDate()}/${day.getUTCMonth() + 1}/${day.getUTCFullYear()}`;
      await eventually(async () => {
        const path = `/api/usage/apis/${definition.api_id}/1/1/2026/${today}`;
        assert.equal(await countHits(path), 3);
        assert.equal(await countHits(`${path}?tags=x-team-red`), 2);
        const items = await list(`${path}?group_by=tag`);
        assert.deepEqual(
          items.map(({ id, hits }) => `${id.tag} ${hits}`),
          ['edge 3', 'x-team-red 2', 'x-team-blue 1'],
        );
      });
    });
  },
  { settings: { 'analytics.retention_days': '0' } },
);

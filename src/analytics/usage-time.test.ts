import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, type TestApp } from '../../tests/support/app.ts';
import { batchOf, type GivenCall, someApi } from '../../tests/support/records.ts';
import { forEachCall } from './batch.ts';
import { createUsageRollUp } from './roll-up.ts';
import type { UsageItem } from './schema.ts';

const minuteMs = 60_000;

/** Stores calls as the main thread does, at times of the past. */
async function store(app: TestApp, apiId: string, calls: readonly GivenCall[]): Promise<void> {
  const made = createUsageRollUp({ rowsPerMinute: 100_000, normalisePaths: false });
  const api = { ...someApi, id: apiId, orgId: app.credentials.organisation_id };
  forEachCall(batchOf(calls.map(call => ({ ...call, api }))), made.add);
  await app.application.installation.services.usage.add(made.drain(0));
}

interface Case {
  readonly what: string;
  readonly tz: string;
  readonly range: string;
  readonly res: 'minute' | 'hour' | 'day' | 'month';
  /** One call every so many minutes, the end exclusive. */
  readonly calls: readonly [from: string, to: string, everyMinutes: number];
  /** Start and hits of each bucket. */
  readonly buckets: readonly string[];
}

const hours = (date: string, offset: string, from: number, to: number, hits: number) =>
  Array.from(
    { length: to - from + 1 },
    (_, n) => `${date}T${String(from + n).padStart(2, '0')}:00:00${offset} ${hits}`,
  );

const cases: readonly Case[] = [
  {
    what: 'a day in UTC excludes the minutes before and after it',
    tz: 'UTC',
    range: '31/12/2024/31/12/2024',
    res: 'day',
    calls: ['2024-12-30T23:00Z', '2025-01-01T01:00Z', 1],
    buckets: ['2024-12-31T00:00:00Z 1440'],
  },
  {
    what: 'the day on which clocks go forward has 23 hours',
    tz: 'Europe/Berlin',
    range: '30/3/2025/30/3/2025',
    res: 'hour',
    calls: ['2025-03-29T20:00Z', '2025-03-31T01:00Z', 30],
    buckets: [...hours('2025-03-30', '+01:00', 0, 1, 2), ...hours('2025-03-30', '+02:00', 3, 23, 2)],
  },
  {
    what: 'the day on which clocks go back has 25 hours, one of them twice',
    tz: 'Europe/Berlin',
    range: '26/10/2025/26/10/2025',
    res: 'hour',
    calls: ['2025-10-25T20:00Z', '2025-10-27T01:00Z', 30],
    buckets: [...hours('2025-10-26', '+02:00', 0, 2, 2), ...hours('2025-10-26', '+01:00', 2, 23, 2)],
  },
  {
    what: 'days around a change are counted whole',
    tz: 'Europe/Berlin',
    range: '25/10/2025/27/10/2025',
    res: 'day',
    calls: ['2025-10-24T00:00Z', '2025-10-29T00:00Z', 60],
    buckets: ['2025-10-25T00:00:00+02:00 24', '2025-10-26T00:00:00+02:00 25', '2025-10-27T00:00:00+01:00 24'],
  },
  {
    what: 'hours of a half-hour zone start at the half hour of UTC',
    tz: 'Asia/Kolkata',
    range: '1/2/2025/1/2/2025',
    res: 'hour',
    calls: ['2025-01-31T18:00Z', '2025-01-31T20:45Z', 15],
    buckets: ['2025-02-01T00:00:00+05:30 4', '2025-02-01T01:00:00+05:30 4', '2025-02-01T02:00:00+05:30 1'],
  },
  {
    what: 'days of a zone with three quarters of an hour',
    tz: 'Asia/Kathmandu',
    range: '28/2/2025/1/3/2025',
    res: 'day',
    calls: ['2025-02-27T18:00Z', '2025-03-01T19:00Z', 15],
    buckets: ['2025-02-28T00:00:00+05:45 96', '2025-03-01T00:00:00+05:45 96'],
  },
  {
    what: 'clocks that go back by half an hour cut an hour',
    tz: 'Australia/Lord_Howe',
    range: '6/4/2025/6/4/2025',
    res: 'hour',
    calls: ['2025-04-05T13:00Z', '2025-04-05T16:30Z', 10],
    buckets: [
      '2025-04-06T00:00:00+11:00 6',
      '2025-04-06T01:00:00+11:00 6',
      '2025-04-06T01:30:00+10:30 3',
      '2025-04-06T02:00:00+10:30 6',
    ],
  },
  {
    what: 'clocks that go forward by half an hour shorten an hour',
    tz: 'Australia/Lord_Howe',
    range: '5/10/2025/5/10/2025',
    res: 'hour',
    calls: ['2025-10-04T14:30Z', '2025-10-04T17:00Z', 10],
    buckets: ['2025-10-05T01:00:00+10:30 6', '2025-10-05T02:30:00+11:00 3', '2025-10-05T03:00:00+11:00 6'],
  },
  {
    what: 'a change a minute after midnight leaves an hour of one minute',
    tz: 'America/St_Johns',
    range: '14/3/2010/14/3/2010',
    res: 'hour',
    calls: ['2010-03-14T03:25Z', '2010-03-14T04:35Z', 1],
    buckets: ['2010-03-14T00:00:00-03:30 1', '2010-03-14T01:01:00-02:30 59', '2010-03-14T02:00:00-02:30 5'],
  },
  {
    what: 'a day without midnight starts an hour later',
    tz: 'America/Sao_Paulo',
    range: '4/11/2018/4/11/2018',
    res: 'day',
    calls: ['2018-11-04T00:00Z', '2018-11-05T06:00Z', 60],
    buckets: ['2018-11-04T01:00:00-02:00 23'],
  },
  {
    what: 'a day that the zone skipped is empty',
    tz: 'Pacific/Apia',
    range: '29/12/2011/31/12/2011',
    res: 'day',
    calls: ['2011-12-29T00:00Z', '2012-01-02T00:00Z', 60],
    buckets: ['2011-12-29T00:00:00-10:00 24', '2011-12-31T00:00:00+14:00 24'],
  },
  {
    what: 'the last day of February in a leap year',
    tz: 'America/Los_Angeles',
    range: '29/2/2024/29/2/2024',
    res: 'day',
    calls: ['2024-02-29T00:00Z', '2024-03-02T00:00Z', 60],
    buckets: ['2024-02-29T00:00:00-08:00 24'],
  },
  {
    what: 'months start at midnight of their zone, across a change and a year',
    tz: 'Pacific/Auckland',
    range: '15/9/2024/31/1/2025',
    res: 'month',
    calls: ['2024-08-31T00:00Z', '2025-02-02T00:00Z', 60],
    buckets: [
      '2024-09-01T00:00:00+12:00 383',
      '2024-10-01T00:00:00+13:00 744',
      '2024-11-01T00:00:00+13:00 720',
      '2024-12-01T00:00:00+13:00 744',
      '2025-01-01T00:00:00+13:00 744',
    ],
  },
  {
    what: 'months of one month',
    tz: 'Asia/Kolkata',
    range: '1/4/2025/30/4/2025',
    res: 'month',
    calls: ['2025-03-31T18:00Z', '2025-04-30T19:00Z', 30],
    buckets: ['2025-04-01T00:00:00+05:30 1440'],
  },
  {
    what: 'minutes around a change',
    tz: 'Europe/Berlin',
    range: '26/10/2025/26/10/2025',
    res: 'minute',
    calls: ['2025-10-26T00:58Z', '2025-10-26T01:02Z', 1],
    buckets: [
      '2025-10-26T02:58:00+02:00 1',
      '2025-10-26T02:59:00+02:00 1',
      '2025-10-26T02:00:00+01:00 1',
      '2025-10-26T02:01:00+01:00 1',
    ],
  },
  {
    what: 'an offset in place of a zone',
    tz: '-03:30',
    range: '1/1/2025/1/1/2025',
    res: 'hour',
    calls: ['2025-01-01T03:00Z', '2025-01-01T05:00Z', 15],
    buckets: ['2025-01-01T00:00:00-03:30 4', '2025-01-01T01:00:00-03:30 2'],
  },
];

onEveryEngine(
  'Usage by time',
  app => {
    for (const { what, tz, range, res, calls, buckets } of cases)
      test(`${what} (${tz}, by ${res})`, async () => {
        const apiId = createPublicId();
        const [from, to, everyMinutes] = calls;
        const times = [];
        for (let at = Date.parse(from); at < Date.parse(to); at += everyMinutes * minuteMs) times.push({ atMs: at });
        await store(app(), apiId, times);
        const query = `api_id=${apiId}&res=${res}&tz=${encodeURIComponent(tz)}&by=Time&sort=1&p=-1`;
        const { status, body, text } = await app().ask('GET', `/api/usage/apis/${range}?${query}`);
        assert.equal(status, 200, text);
        const items = body.data as UsageItem[];
        assert.deepEqual(
          items.map(({ id, hits }) => `${id.start} ${hits}`),
          buckets,
        );
        for (const { id } of items) {
          const [, year, month, day, hour, minute] = /^(\d+)-(\d+)-(\d+)T(\d+):(\d+)/.exec(id.start)!.map(Number);
          const local = { month: [0, 0, 0], day: [day, 0, 0], hour: [day, hour, 0], minute: [day, hour, minute] }[res];
          // A day without midnight starts at one, and has no hour of its own.
          assert.deepEqual([id.year, id.month, id.day, id.hour, id.minute], [year, month, ...local]);
        }
      });

    test('a range of minutes rounds its start down and its end up', async () => {
      const apiId = createPublicId();
      const at = Date.UTC(2025, 5, 1, 12);
      await store(
        app(),
        apiId,
        Array.from({ length: 60 }, (_, n) => ({ atMs: at + n * minuteMs })),
      );
      const count = async (start: number, end: number) => {
        const query = `start=${at / 1000 + start}&end=${at / 1000 + end}&api_id=${apiId}`;
        const { status, body, text } = await app().ask('GET', `/api/usage?${query}`);
        assert.equal(status, 200, text);
        return body.data[0]?.hits ?? 0;
      };
      assert.deepEqual(
        [await count(0, 900), await count(59, 61), await count(60, 120), await count(0, 1), await count(3600, 7200)],
        [15, 2, 1, 1, 0],
      );
    });

    test('invalid zones, resolutions and ranges are refused by name', async () => {
      const week = '1/6/2025/7/6/2025';
      const refused: [string, RegExp][] = [
        [`/api/usage/apis/${week}?tz=Mars/Olympus`, /^tz: must be a time zone such as Europe\/Berlin/],
        [`/api/usage/apis/${week}?tz=+05:30`, /^tz: /],
        [`/api/usage/apis/${week}?res=second`, /^res: /],
        ['/api/usage/apis/1/6/2025/8/6/2025?res=minute', /^res: minute is for ranges of at most 7 days/],
        ['/api/usage/apis/29/2/2025/1/3/2025?tz=Asia/Kolkata', /^startDay: the month has no such day/],
        ['/api/usage/apis/1/1/1970/1/1/9999', /^endDay: the range is longer than 36525 days/],
        ['/api/usage', /^start: is required .*; end: is required /],
        ['/api/usage?start=60&end=60', /^end: must be after start/],
        ['/api/usage?start=0&end=9999999999', /^end: the range is longer than 36525 days/],
        ['/api/usage?start=0&end=60&code=4x', /^code: must be a status/],
        ['/api/usage?start=0&end=60&group_by=colour', /^group_by/],
      ];
      for (const [path, message] of refused) {
        const { status, body, text } = await app().ask('GET', path);
        assert.equal(status, 400, `${path}: ${text}`);
        assert.match(body.Message, message, path);
      }
      assert.equal((await app().ask('GET', `/api/usage/apis/${week}?res=minute&tz=Europe/Berlin`)).status, 200);
    });

    test('filters restrict the counts, and dimensions combine with time', async () => {
      const apiId = createPublicId();
      const at = Date.UTC(2025, 6, 1, 12);
      await store(app(), apiId, [
        { atMs: at, path: '/a', keyHash: 'aaaaaaaa', status: 200 },
        { atMs: at, path: '/a', keyHash: 'aaaaaaaa', status: 404 },
        { atMs: at, path: '/b', keyHash: 'bbbbbbbb', status: 429, refusal: 'rate_exceeded' },
        { atMs: at + 60 * minuteMs, path: '/b', oauthId: 'client', status: 503, version: 'v2' },
      ]);
      const ask = async (query: string) => {
        const between = `start=${at / 1000}&end=${at / 1000 + 7200}&api_id=${apiId}`;
        const { status, body, text } = await app().ask('GET', `/api/usage?${between}${query}`);
        assert.equal(status, 200, text);
        return body.data as UsageItem[];
      };
      const sum = async (query: string) => (await ask(query)).map(({ hits }) => hits);
      assert.deepEqual(await sum(''), [4]);
      assert.deepEqual(await sum('&code=4xx'), [2]);
      assert.deepEqual(await sum('&code=404'), [1]);
      assert.deepEqual(await sum('&errors=true'), [3]);
      assert.deepEqual(await sum('&path=/a'), [2]);
      assert.deepEqual(await sum('&key=BBBBBBBB'), [1]);
      assert.deepEqual(await sum('&oauth_id=client'), [1]);
      assert.deepEqual(await sum('&refusal=rate_exceeded'), [1]);
      assert.deepEqual(await sum('&api_version=v2'), [1]);
      const items = await ask('&group_by=path&res=hour&by=Time&sort=1');
      assert.deepEqual(
        items.map(({ id, hits }) => [id.path, id.hour, hits]),
        [
          ['/a', 12, 2],
          ['/b', 12, 1],
          ['/b', 13, 1],
        ],
      );
    });
  },
  { settings: { 'analytics.retention_days': '0' } },
);

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, type TestApp } from '../../tests/support/app.ts';
import { batchOf, type GivenCall, someApi } from '../../tests/support/records.ts';
import { forEachCall } from './batch.ts';
import { createUsageRollUp } from './roll-up.ts';
import type { UsageItem } from './schema.ts';

const range = '31/5/2025/3/6/2025';
const at = Date.UTC(2025, 5, 1, 12);
const dayMs = 86_400_000;

async function store(app: TestApp, calls: readonly GivenCall[]): Promise<string> {
  const api = { ...someApi, id: createPublicId(), orgId: app.credentials.organisation_id };
  const made = createUsageRollUp({ rowsPerMinute: 100, normalisePaths: false });
  forEachCall(batchOf(calls.map(call => ({ ...call, api }))), made.add);
  await app.application.installation.services.usage.add(made.drain(0));
  return api.id;
}

const createHash = () => createPublicId().slice(0, 16);

onEveryEngine(
  'Activity of keys and clients',
  app => {
    const ask = async (path: string) => {
      const { status, body, text } = await app().ask('GET', path);
      assert.equal(status, 200, `${path}: ${text}`);
      return body.data as UsageItem[];
    };

    test('the activity of several keys is summed by day, hour or month', async () => {
      const [one, two, three] = [createHash(), createHash(), createHash()];
      const apiId = await store(app(), [
        { atMs: at, keyHash: one },
        { atMs: at + 1000, keyHash: two, version: 'v2' },
        { atMs: at + dayMs, keyHash: two },
        { atMs: at, keyHash: three },
      ]);
      const path = (hashes: string, query = '') => `/api/activity/keys/aggregate/${hashes}/${range}${query}`;
      const read = async (query: string) =>
        (await ask(path(`${one},${two.toUpperCase()}`, query))).map(({ id, hits }) => [id.start, hits]);
      const days = [
        ['2025-06-01T00:00:00Z', 2],
        ['2025-06-02T00:00:00Z', 1],
      ];
      assert.deepEqual(await read('?by=Time&sort=1'), days);
      assert.deepEqual(await read('?by=Time&sort=1&p=-1'), days);
      assert.deepEqual(await read('?res=month'), [['2025-06-01T00:00:00Z', 3]]);
      assert.deepEqual(await read('?res=month&group_by=api_id'), [['2025-06-01T00:00:00Z', 3]]);
      assert.deepEqual(await read('?res=hour&api_version=v2'), [['2025-06-01T12:00:00Z', 1]]);
      assert.deepEqual(await read(`?res=month&api_id=${apiId}`), [['2025-06-01T00:00:00Z', 3]]);
      assert.deepEqual(await read(`?res=month&api_id=${createPublicId()}`), []);
    });

    test('the endpoints of a key or client have the older spelling of their activity', async () => {
      const [keyHash, oauthId] = [createHash(), createPublicId()];
      await store(app(), [
        { atMs: at, keyHash, oauthId, path: '/a' },
        { atMs: at, keyHash, oauthId, path: '/b' },
      ]);
      for (const [older, current] of [
        [`keys/endpoint/${keyHash}`, `keys/${keyHash}`],
        [`oauthid/endpoint/${oauthId}`, `oauthid/${oauthId}`],
      ]) {
        const items = await ask(`/api/activity/${older}/${range}`);
        assert.deepEqual(items.map(({ id }) => id.path).sort(), ['/a', '/b']);
        assert.deepEqual(items, await ask(`/api/activity/${current}/${range}`));
      }
    });

    test('activity can be restricted to one API, by either of its ids', async () => {
      const keyHash = createHash();
      const apiId = await store(app(), [{ atMs: at, keyHash }]);
      await store(app(), [{ atMs: at, keyHash }]);
      assert.equal((await ask(`/api/activity/keys/${keyHash}/${range}`)).length, 2);
      assert.equal((await ask(`/api/activity/keys/${keyHash}/${range}?api_id=${apiId}`)).length, 1);
    });

    test('wrong hashes and too many of them are refused', async () => {
      for (const hashes of [
        'no-hash',
        'aaaaaaaa,',
        Array.from({ length: 16 }, (_, n) => `aaaaaaa${n.toString(16)}`).join(),
      ]) {
        const { status, body } = await app().ask('GET', `/api/activity/keys/aggregate/${hashes}/${range}`);
        assert.equal(status, 400, hashes);
        assert.match(body.Message, /^keyHashes/);
      }
    });
  },
  { settings: { 'analytics.retention_days': '0' } },
);

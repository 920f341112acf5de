import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Key } from '#access/keys/schema.ts';
import type { SettingName } from '#base/settings.ts';
import { openBench, orgId, startMs } from '../../../tests/support/step-harness.ts';

const rights = { access_rights: { bench: {} } };
const start = startMs / 1000;

interface Case {
  readonly when: string;
  readonly key?: Key;
  readonly api?: object;
  readonly settings?: Partial<Record<SettingName, string>>;
  /** Seconds after which it is unknown; undefined is never. */
  readonly seconds: number | undefined;
}

const cases: readonly Case[] = [
  { when: 'nobody says', seconds: undefined },
  { when: 'the key says', key: { session_lifetime: 60 }, seconds: 60 },
  { when: 'its API says', api: { session_lifetime: 70 }, seconds: 70 },
  { when: 'the key and its API say', key: { session_lifetime: 60 }, api: { session_lifetime: 70 }, seconds: 60 },
  { when: 'the settings say', settings: { 'keys.lifetime_seconds': '80' }, seconds: 80 },
  {
    when: 'its API and the settings say',
    api: { session_lifetime: 70 },
    settings: { 'keys.lifetime_seconds': '80' },
    seconds: 70,
  },
  {
    when: 'the settings insist',
    key: { session_lifetime: 60, expires: start + 10, post_expiry_action: 'delete' },
    api: { session_lifetime: 70 },
    settings: { 'keys.lifetime_seconds': '80', 'keys.force_lifetime': 'true' },
    seconds: 80,
  },
  {
    when: 'its API waits for the expiry',
    key: { expires: start + 90 },
    api: { session_lifetime: 70, session_lifetime_respects_key_expiration: true },
    seconds: 90,
  },
  {
    when: 'the settings wait for the expiry',
    key: { expires: start + 90, session_lifetime: 60 },
    settings: { 'keys.lifetime_respects_expiry': 'true' },
    seconds: 90,
  },
  { when: 'it goes when it expires', key: { expires: start + 50, post_expiry_action: 'delete' }, seconds: 50 },
];

for (const { when, key = {}, api = {}, settings, seconds } of cases) {
  test(`a key lives ${seconds === undefined ? 'without limit' : `${seconds} seconds`} when ${when}`, async () => {
    const bench = await openBench(settings);
    try {
      await bench.compile(api);
      const keyId = await bench.key({ ...rights, ...key });
      const isKnown = async (after: number) => {
        bench.time.nowMs = startMs + after * 1000;
        return (await bench.services.keyCache.find(orgId, keyId)) !== undefined;
      };
      assert.equal(await isKnown(seconds ?? 1e9), true);
      assert.equal(await isKnown((seconds ?? 1e9) + 1), seconds === undefined);
    } finally {
      await bench.close();
    }
  });
}

test('a changed lifetime of an API applies to cached keys', async () => {
  const bench = await openBench();
  try {
    await bench.compile();
    const keyId = await bench.key(rights);
    bench.time.nowMs += 100_000;
    assert.ok(await bench.services.keyCache.find(orgId, keyId));
    await bench.compile({ session_lifetime: 70 });
    assert.equal(await bench.services.keyCache.find(orgId, keyId), undefined);
  } finally {
    await bench.close();
  }
});

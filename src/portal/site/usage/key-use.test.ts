import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UsageQuery } from '#analytics/usage-sums-store.ts';
import { type KeyCallServices, lastUseDays, readKeyCalls } from './key-use.ts';

test('calls of keys whose hashes need several queries are counted, those of rotated keys included', async () => {
  const now = 1_800_000_000_000;
  const sizes: number[] = [];
  const usage = {
    async page({ keyHashes = [] }: UsageQuery, { size }: { size: number }) {
      sizes.push(size);
      return { items: keyHashes.slice(0, size).map(key => ({ key, hits: 2, last_hit: now - 1000 })) };
    },
  };
  const services = {
    usage,
    clock: { now: () => now },
    portal: { providers: { get: async () => ({ MetaData: { OrgID: 'org' } }) } },
    defaultOrgId: async () => 'org',
  } as unknown as KeyCallServices;
  const keys = Array.from({ length: 120 }, (_, ID) => ({
    credential: {
      ID,
      CredentialHash: `${ID}`,
      FormerHashes: Array.from({ length: 20 }, (_former, place) => `${ID}-${place}`),
    },
    request: { ProviderID: 1 },
  }));
  const calls = await readKeyCalls(keys, lastUseDays, services);
  assert.deepEqual(sizes, [1000, 1000, 520]);
  assert.equal(calls.size, keys.length);
  for (const it of calls.values()) assert.deepEqual(it, { calls: 42, lastUsedMs: now - 1000 });
});

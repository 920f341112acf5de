import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LiveCounts } from './live-reader.ts';
import { createLiveUsage } from './live-usage.ts';
import type { UsageSum } from './usage-sums-store.ts';

const toSum = (api_id: string, hits: number, bucket = 0): UsageSum => ({
  ...{ api_id, api_name: api_id, alias: '', bucket, hits, error: 0, last_hit: 0, total_us: 0, min_us: 0, max_us: 0 },
  ...{ upstream_hits: 0, upstream_us: 0, min_upstream_us: 0, max_upstream_us: 0, request_bytes: 0, answer_bytes: 0 },
  latencies: new Map([[8, hits]]),
});
const toRead = (at: number, sums: UsageSum[], isComplete = true): LiveCounts => ({ at, sums, isComplete });
const toHits = (event: ReturnType<ReturnType<typeof createLiveUsage>>) => {
  const { apis, ...rest } = event!.data as { apis: { api_id: string; hits: number }[] };
  return [apis.map(({ api_id, hits }) => [api_id, hits]), rest];
};

describe('Live usage', () => {
  test('an event has the difference to the last read, and a read that was sent has none', () => {
    const next = createLiveUsage(toRead(1000, [toSum('a', 5)]));
    const read = toRead(3000, [toSum('a', 7), toSum('a', 1, 60_000), toSum('b', 2)]);
    assert.deepEqual(toHits(next(read)), [
      [
        ['a', 3],
        ['b', 2],
      ],
      { at: '1970-01-01T00:00:03Z', seconds: 2 },
    ]);
    assert.equal(next(read), undefined);
  });

  test('an API that an incomplete read may have left out is not counted as new, but from the next read on', () => {
    const next = createLiveUsage(toRead(1000, [toSum('a', 5)], false));
    const second = toHits(next(toRead(2000, [toSum('a', 6), toSum('b', 400)], false)));
    assert.deepEqual(second, [[['a', 1]], { at: '1970-01-01T00:00:02Z', seconds: 1, truncated: true }]);
    const third = toHits(next(toRead(3000, [toSum('a', 6), toSum('b', 403)])));
    assert.deepEqual(third, [[['b', 3]], { at: '1970-01-01T00:00:03Z', seconds: 1 }]);
  });
});

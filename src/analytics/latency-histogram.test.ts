import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { findLatencyBucket, lastLatencyBucket, readPercentiles } from './latency-histogram.ts';

function histogramOf(latencies: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const micros of latencies) {
    const bucket = findLatencyBucket(micros);
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
  }
  return counts;
}

const percentilesOf = (latencies: readonly number[]) =>
  readPercentiles(histogramOf(latencies), Math.min(...latencies), Math.max(...latencies));

describe('Latency histogram', () => {
  test('every percentile is within 4.5 % or a tenth of a millisecond of the exact one', () => {
    const latency = fc.oneof(fc.integer({ min: 0, max: 10_000 }), fc.integer({ min: 0, max: 6_000_000_000 }));
    fc.assert(
      fc.property(fc.array(latency, { minLength: 1, maxLength: 300 }), latencies => {
        const sorted = latencies.toSorted((a, b) => a - b);
        const found = percentilesOf(latencies);
        assert.equal(found.samples, latencies.length);
        for (const [name, rank] of [
          ['p50', 0.5],
          ['p75', 0.75],
          ['p95', 0.95],
          ['p99', 0.99],
        ] as const) {
          const exact = sorted[Math.ceil(rank * sorted.length) - 1]!;
          assert.ok(Math.abs(found[name] - exact) <= Math.max(100, exact * 0.045), `${name} ${found[name]} ${exact}`);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('buckets grow with latency and are bounded', () => {
    let last = 0;
    for (let micros = 0; micros < 1e12; micros = micros * 1.01 + 1) {
      const bucket = findLatencyBucket(micros);
      assert.ok(Number.isInteger(bucket) && bucket >= last && bucket <= lastLatencyBucket, String(micros));
      last = bucket;
    }
    assert.equal(last, lastLatencyBucket);
  });

  test('one latency is every percentile exactly', () => {
    assert.deepEqual(percentilesOf([12_345]), { p50: 12_345, p75: 12_345, p95: 12_345, p99: 12_345, samples: 1 });
  });

  test('merged histograms equal that of all latencies', () => {
    const [one, two] = [
      Array.from({ length: 50 }, (_, n) => n * 997),
      Array.from({ length: 70 }, (_, n) => n * 31_013),
    ];
    const merged = histogramOf(one);
    for (const [bucket, count] of histogramOf(two)) merged.set(bucket, (merged.get(bucket) ?? 0) + count);
    const all = [...one, ...two];
    assert.deepEqual(readPercentiles(merged, 0, Math.max(...all)), percentilesOf(all));
  });

  test('without latencies every percentile is 0', () => {
    assert.deepEqual(readPercentiles(new Map(), 0, 0), { p50: 0, p75: 0, p95: 0, p99: 0, samples: 0 });
  });
});

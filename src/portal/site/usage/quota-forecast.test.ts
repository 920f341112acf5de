import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { forecastQuota } from './quota-forecast.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const now = 1_800_000_000_000;

/** Forecast of a quota of 100 calls a day that renews in some hours. */
const forecast = (used: number, renewsInHours: number) =>
  forecastQuota({ used, max: 100, renewsAtMs: now + renewsInHours * hourMs }, dayMs, 0, now);

describe('quota forecast', () => {
  test('a quota that is used faster than it renews ends at the mean rate of the period', () => {
    // Half of it in six hours: the other half ends six hours later.
    assert.deepEqual(forecast(50, 18), { state: 'ends', atMs: now + 6 * hourMs });
  });

  test('a quota whose rest is enough until it renews lasts', () => {
    assert.deepEqual(forecast(50, 12), { state: 'lasts' });
  });

  test('a quota without calls is unused, whether it renews or not', () => {
    assert.deepEqual(forecast(0, 12), { state: 'unused' });
    const use = { used: 0, max: 100, renewsAtMs: 0 };
    assert.deepEqual(forecastQuota(use, 0, now - 2 * dayMs, now), { state: 'unused' });
  });

  test('a used quota is used up, also at the beginning of its period', () => {
    assert.deepEqual(forecast(100, 24), { state: 'used-up' });
  });

  test('a period that has just begun, and one that is over, have no forecast', () => {
    assert.deepEqual(forecast(50, 23), { state: 'unknown' });
    assert.deepEqual(forecast(50, 22.8), { state: 'ends', atMs: now + 1.2 * hourMs });
    assert.deepEqual(forecast(50, 0), { state: 'unknown' });
  });

  test('a quota that does not renew is counted from the creation of its key, after a day', () => {
    const use = { used: 25, max: 100, renewsAtMs: 0 };
    assert.deepEqual(forecastQuota(use, 0, now - 2 * dayMs, now), { state: 'ends', atMs: now + 6 * dayMs });
    assert.deepEqual(forecastQuota(use, 0, now - hourMs, now), { state: 'unknown' });
  });
});

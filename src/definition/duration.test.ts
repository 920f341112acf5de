import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatIsoDuration, formatShorthand, parseDurationMs } from './duration.ts';

test('ISO 8601 and shorthand durations parse to the same value', () => {
  for (const [text, ms] of [
    ['PT1M', 60_000],
    ['1m', 60_000],
    ['P1DT2H', 93_600_000],
    ['1h30m', 5_400_000],
    ['PT0.5S', 500],
    ['1m30s500ms', 90_500],
    ['', 0],
    ['0', 0],
  ] as const)
    assert.equal(parseDurationMs(text), ms, text);
});

test('a text that is no duration parses to undefined', () => {
  for (const text of ['soon', '10', '-1s', 'P', 'PT', 'P1DT', '1h banana', '99999999999999h', '1 m'])
    assert.equal(parseDurationMs(text), undefined, text);
});

test('a formatted duration parses back to itself in both notations', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e12 }), ms => {
      assert.equal(parseDurationMs(formatShorthand(ms)), ms);
      assert.equal(parseDurationMs(formatIsoDuration(ms)), ms);
    }),
  );
});

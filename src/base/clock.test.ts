import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatIsoTime, formatPortalTime, systemClock, toUnixSeconds, zeroTime } from './clock.ts';

test('a time is printed in UTC, with milliseconds only when there are some', () => {
  assert.equal(formatIsoTime(0), '1970-01-01T00:00:00Z');
  assert.equal(formatIsoTime(1_700_000_000_123), '2023-11-14T22:13:20.123Z');
  assert.equal(Date.parse(formatIsoTime(1_700_000_000_123)), 1_700_000_000_123);
});

test('the zero time is before every other time', () => {
  assert.ok(Date.parse(zeroTime) < 0);
  assert.equal(formatIsoTime(Date.parse(zeroTime)), zeroTime);
});

test('Unix seconds are whole and never ahead', () => {
  assert.equal(toUnixSeconds(1999), 1);
  assert.equal(toUnixSeconds(-1), -1);
});

test('a portal time keeps its format for any date', () => {
  for (const ms of [8e15, 1e18, Number.MAX_SAFE_INTEGER])
    assert.match(formatPortalTime(ms), /^9999-12-\d\d \d\d:\d\d$/);
});

test('the portal’s times are minutes in the zone of the server', () => {
  const zone = process.env.TZ;
  try {
    for (const [name, shown] of [
      ['UTC', '2023-11-14 22:13'],
      ['Asia/Kolkata', '2023-11-15 03:43'],
    ] as const) {
      process.env.TZ = name;
      assert.equal(formatPortalTime(1_700_000_000_123), shown);
    }
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

test('the system clock is Date.now', () => {
  const before = Date.now();
  const now = systemClock.now();
  assert.ok(before <= now && now <= Date.now());
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setFormats } from '../../kit/format.ts';
import { sumWeekHours } from './week-hours.ts';

const count = (start: string, hits: number) => ({ id: { start } as never, hits });

describe('Requests by hour of the week', () => {
  test('hours are those of the zone of the user, and weeks begin on Monday', () => {
    setFormats({ timeZone: 'Europe/Berlin', language: 'en' });
    // 2026-01-04 is a Sunday; 23:00 UTC is Monday 00:00 in Berlin.
    const sums = sumWeekHours([
      count('2026-01-04T22:00:00Z', 1),
      count('2026-01-04T23:00:00Z', 2),
      count('2026-01-11T23:00:00Z', 3),
    ]);
    assert.deepEqual([sums[6]![23], sums[0]![0]], [1, 5]);
    assert.equal(
      sums.flat().reduce((total, hits) => total + hits),
      6,
    );
    assert.deepEqual([sums.length, sums[0]!.length], [7, 24]);
  });
});

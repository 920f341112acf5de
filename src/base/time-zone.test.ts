import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findTimeZone, formatZonedTime } from './time-zone.ts';

const hourMs = 3_600_000;
const iso = (ms: number) => new Date(ms).toISOString().replace(':00.000Z', 'Z');

describe('Time zone', () => {
  const days: [string, string, [number, number, number], string, number][] = [
    ['UTC', 'an ordinary day', [2025, 2, 28], '2025-02-28T00:00Z', 24],
    ['UTC', 'a leap day', [2024, 2, 29], '2024-02-29T00:00Z', 24],
    ['Europe/Berlin', 'clocks go forward', [2025, 3, 30], '2025-03-29T23:00Z', 23],
    ['Europe/Berlin', 'clocks go back', [2025, 10, 26], '2025-10-25T22:00Z', 25],
    ['Asia/Kolkata', 'half an hour', [2025, 12, 31], '2025-12-30T18:30Z', 24],
    ['Asia/Kathmandu', 'three quarters of an hour', [2026, 1, 1], '2025-12-31T18:15Z', 24],
    ['Australia/Lord_Howe', 'clocks go back by half an hour', [2025, 4, 6], '2025-04-05T13:00Z', 24.5],
    ['Australia/Lord_Howe', 'clocks go forward by half an hour', [2025, 10, 5], '2025-10-04T13:30Z', 23.5],
    ['America/Sao_Paulo', 'a day without midnight', [2018, 11, 4], '2018-11-04T03:00Z', 23],
    ['Pacific/Apia', 'a skipped day', [2011, 12, 30], '2011-12-30T10:00Z', 0],
    ['Pacific/Apia', 'the day after it', [2011, 12, 31], '2011-12-30T10:00Z', 24],
    ['+05:30', 'an offset', [2025, 1, 1], '2024-12-31T18:30Z', 24],
    ['-09:30', 'a negative offset', [2025, 1, 1], '2025-01-01T09:30Z', 24],
  ];
  for (const [name, what, [year, month, day], start, hours] of days)
    test(`${name}, ${what}: ${day}/${month}/${year} starts at ${start} and has ${hours} hours`, () => {
      const { from, to } = findTimeZone(name)!.findDay(year, month, day)!;
      assert.deepEqual([iso(from), (to - from) / hourMs], [start, hours]);
    });

  test('days that their month does not have are undefined', () => {
    const zone = findTimeZone('Europe/Berlin')!;
    for (const [year, month, day] of [
      [2025, 2, 29],
      [2100, 2, 29],
      [2025, 4, 31],
      [2025, 2, 30],
    ] as const)
      assert.equal(zone.findDay(year, month, day), undefined, `${day}/${month}/${year}`);
  });

  test('unknown names, offsets out of range and ISO texts are no zones', () => {
    const wrong = [
      '',
      'Mars/Olympus',
      '+25:00',
      '+5:30',
      '05:30',
      '2025-01-01T00:00Z',
      'Europe/Berlin[x]',
      'x'.repeat(70),
    ];
    for (const name of wrong) assert.equal(findTimeZone(name), undefined, name);
  });

  test('offsets of a year are listed with their changes', () => {
    const [from, to] = [Date.UTC(2025, 0, 1), Date.UTC(2026, 0, 1)];
    const list = (name: string) =>
      findTimeZone(name)!
        .listOffsets(from, to)
        .map(({ from: start, to: end, offsetMs }) => [
          Number.isFinite(start) ? iso(start) : '',
          Number.isFinite(end) ? iso(end) : '',
          offsetMs / hourMs,
        ]);
    assert.deepEqual(list('Europe/Berlin'), [
      ['2024-10-27T01:00Z', '2025-03-30T01:00Z', 1],
      ['2025-03-30T01:00Z', '2025-10-26T01:00Z', 2],
      ['2025-10-26T01:00Z', '2026-03-29T01:00Z', 1],
    ]);
    assert.deepEqual(list('UTC'), [['', '', 0]]);
    assert.deepEqual(list('+05:30'), [['', '', 5.5]]);
    assert.deepEqual(list('Asia/Kolkata').at(-1)!.slice(1), ['', 5.5]);
  });

  test('a range that starts at a change begins with the new offset', () => {
    const change = Date.UTC(2025, 9, 26, 1);
    const [first] = findTimeZone('Europe/Berlin')!.listOffsets(change, change + hourMs);
    assert.deepEqual([first!.from, first!.offsetMs], [change, hourMs]);
  });

  test('a time is formatted with the offset of its zone', () => {
    const at = Date.UTC(2025, 9, 26, 1);
    assert.equal(formatZonedTime(at, 0), '2025-10-26T01:00:00Z');
    assert.equal(formatZonedTime(at, 5.75 * hourMs), '2025-10-26T06:45:00+05:45');
    assert.equal(formatZonedTime(at, -3.5 * hourMs), '2025-10-25T21:30:00-03:30');
  });
});

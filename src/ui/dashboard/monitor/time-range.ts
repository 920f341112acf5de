import { useCallback, useState } from 'react';
import { nowMs } from '../../kit/browser-clock.ts';
import { formatTime } from '../../kit/format.ts';
import { texts } from '../../texts/texts.ts';

/** Range of time in the address: `range` relative to the last read, or `start` and `end` in Unix seconds. */
export interface RangeSearch {
  readonly range?: string;
  readonly start?: string;
  readonly end?: string;
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const rangeSeconds: Readonly<Record<string, number>> = {
  '15m': 15 * minute,
  '1h': hour,
  '24h': day,
  '7d': 7 * day,
  '30d': 30 * day,
};
const defaultRange = '1h';

export interface TimeRange {
  /** Unix seconds. */
  readonly start: number;
  readonly end: number;
  /** Name of a relative range; undefined for an exact one. */
  readonly name: string | undefined;
}

export function toTimeRange({ range, start, end }: RangeSearch, nowSeconds: number): TimeRange {
  const [from, to] = [Number(start), Number(end)];
  if (start && end && Number.isInteger(from) && Number.isInteger(to) && from >= 0 && from < to)
    return { start: from, end: to, name: undefined };
  const name = range && range in rangeSeconds ? range : defaultRange;
  return { start: nowSeconds - rangeSeconds[name]!, end: nowSeconds, name };
}

/** Range of the address. A relative one ends at the last refresh, so that pages of a list do not shift. */
export function useTimeRange(search: RangeSearch) {
  const [nowSeconds, setNow] = useState(() => Math.floor(nowMs() / 1000));
  const refresh = useCallback(() => setNow(Math.floor(nowMs() / 1000)), []);
  return { range: toTimeRange(search, nowSeconds), refresh };
}

const exactValue = 'exact';

/** Options of the choice of a range; an exact range is an option of its own. */
export function listRangeOptions(range: TimeRange | undefined) {
  const relative = Object.entries(texts.logs.ranges).map(([value, label]) => ({ value, label }));
  if (range === undefined) return { value: '', options: relative };
  const { start, end, name } = range;
  if (name !== undefined) return { value: name, options: relative };
  const label = texts.logs.exactRange(formatTime(start * 1000), formatTime(end * 1000));
  return { value: exactValue, options: [{ value: exactValue, label }, ...relative] };
}

/** Change of the address for a chosen option. */
export const toRangeChange = (value: string) =>
  value === exactValue ? {} : { range: value, start: undefined, end: undefined };

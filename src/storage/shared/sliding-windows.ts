import { withSlot } from './fixed-windows.ts';
import type { Table } from './memory.ts';
import {
  type CounterResult,
  maxClockSkewMs,
  maxSlidingRuns,
  remaining,
  slidingGranularityMs,
  type Window,
} from './shared.ts';

/**
 * Sliding window log in shared memory: a ring of runs, each a time and a hit count. Hits within the granularity join
 * the newest run and move it to their own time; a full ring merges its two oldest runs at the later time. Both make a
 * hit count longer, never shorter, so no period exceeds the limit.
 *
 * With a granularity of 0 (limits up to `maxSlidingRuns`) only hits of one millisecond join. A full ring then means
 * that at least the limit is in the window anyway (counted refused hits included), so the decision stays exact.
 */
export interface SlidingWindows {
  slide(name: string, window: Window, nowMs: number, cost: number, isOffline: boolean): CounterResult;
  /** Mirrors a hit that the shared engine decided about. */
  record(name: string, window: Window, nowMs: number, cost: number): void;
  /** Returns the newest hits, as many as are pending, as time and count in turn, and clears them. */
  takePending(name: string): number[];
  addPending(name: string, cost: number): void;
  reset(name: string): void;
}

const headOffset = 0;
const lengthOffset = 1;
const totalOffset = 2;
const newestStartOffset = 3;
const pendingOffset = 4;
const timesOffset = 5;
const countsOffset = timesOffset + maxSlidingRuns;

export function createSlidingWindows(table: Table): SlidingWindows {
  return {
    slide: (name, window, nowMs, cost, isOffline) => slide(table, name, window, nowMs, cost, isOffline),
    record(name, window, nowMs, cost) {
      slide(table, name, { ...window, countsRefused: true }, nowMs, cost, false);
    },
    takePending: name =>
      withSlot(table, name, (bucket, way) => takePending(table.numbers, table.fieldsAt(bucket, way))) ?? [],
    addPending: (name, cost) =>
      withSlot(table, name, (bucket, way) => addPending(table.numbers, table.fieldsAt(bucket, way), cost)),
    reset: name => withSlot(table, name, table.free),
  };
}

function slide(
  table: Table,
  name: string,
  window: Window,
  nowMs: number,
  cost: number,
  isOffline: boolean,
): CounterResult {
  const { numbers } = table;
  const { limit, periodMs } = window;
  const bucket = table.lock(name);
  let way = table.find(bucket);
  if (way < 0 && cost > 0) way = table.allocate(bucket, nowMs);
  if (way < 0) {
    table.unlock(bucket);
    return { allowed: limit > 0, used: 0, remaining: remaining(limit, 0), resetsAtMs: nowMs + periodMs };
  }
  const at = table.fieldsAt(bucket, way);
  expire(numbers, at, nowMs, periodMs);
  const before = numbers[at + totalOffset]!;
  const allowed = cost > 0 ? before + cost <= limit : before < limit;
  if (cost > 0 && (allowed || window.countsRefused === true)) {
    append(numbers, at, nowMs, cost, slidingGranularityMs(window));
    if (isOffline) addPending(numbers, at, cost);
    numbers[table.endAt(bucket, way)] = newestMoment(numbers, at) + periodMs;
  }
  const used = numbers[at + totalOffset]!;
  const oldestMs = numbers[at + lengthOffset]! > 0 ? numbers[at + timesOffset + runIndex(numbers, at, 0)]! : nowMs;
  table.unlock(bucket);
  return { allowed, used, remaining: remaining(limit, used), resetsAtMs: oldestMs + periodMs };
}

/** Ring position of the run at this distance from the oldest. */
const runIndex = (numbers: Float64Array, at: number, index: number): number =>
  (numbers[at + headOffset]! + index) % maxSlidingRuns;

const newestMoment = (numbers: Float64Array, at: number): number =>
  numbers[at + timesOffset + runIndex(numbers, at, numbers[at + lengthOffset]! - 1)]!;

function dropOldest(numbers: Float64Array, at: number): void {
  numbers[at + headOffset] = runIndex(numbers, at, 1);
  numbers[at + lengthOffset]! -= 1;
}

function expire(numbers: Float64Array, at: number, nowMs: number, periodMs: number): void {
  const setBack = numbers[at + lengthOffset]! > 0 && newestMoment(numbers, at) > nowMs + maxClockSkewMs;
  while (numbers[at + lengthOffset]! > 0) {
    const oldest = runIndex(numbers, at, 0);
    if (!setBack && numbers[at + timesOffset + oldest]! > nowMs - periodMs) return;
    numbers[at + totalOffset]! -= numbers[at + countsOffset + oldest]!;
    dropOldest(numbers, at);
  }
  numbers[at + pendingOffset] = 0;
}

function append(numbers: Float64Array, at: number, nowMs: number, cost: number, granularityMs: number): void {
  numbers[at + totalOffset]! += cost;
  const filled = numbers[at + lengthOffset]!;
  if (filled > 0) {
    const timeMs = Math.max(nowMs, newestMoment(numbers, at));
    const newest = runIndex(numbers, at, filled - 1);
    if (timeMs === numbers[at + timesOffset + newest]! || timeMs - numbers[at + newestStartOffset]! < granularityMs) {
      numbers[at + timesOffset + newest] = timeMs;
      numbers[at + countsOffset + newest]! += cost;
      return;
    }
    if (filled === maxSlidingRuns) {
      numbers[at + countsOffset + runIndex(numbers, at, 1)]! += numbers[at + countsOffset + runIndex(numbers, at, 0)]!;
      dropOldest(numbers, at);
    }
  }
  const next = runIndex(numbers, at, numbers[at + lengthOffset]!);
  numbers[at + lengthOffset]! += 1;
  numbers[at + timesOffset + next] = nowMs;
  numbers[at + countsOffset + next] = cost;
  numbers[at + newestStartOffset] = nowMs;
}

function takePending(numbers: Float64Array, at: number): number[] {
  const hits: number[] = [];
  let rest = numbers[at + pendingOffset]!;
  for (let index = numbers[at + lengthOffset]! - 1; index >= 0 && rest > 0; index--) {
    const here = runIndex(numbers, at, index);
    const some = Math.min(rest, numbers[at + countsOffset + here]!);
    hits.push(numbers[at + timesOffset + here]!, some);
    rest -= some;
  }
  numbers[at + pendingOffset] = 0;
  return hits;
}

function addPending(numbers: Float64Array, at: number, cost: number): void {
  numbers[at + pendingOffset]! += cost;
}

import { withSlot } from './fixed-windows.ts';
import type { Table } from './memory.ts';
import { clockStepMs, logGrainMs, logRuns, remaining, type Taken, type Window } from './shared.ts';

/**
 * Sliding windows in shared memory. A log is a ring of runs: a moment and how many hits it stands for. Hits closer than
 * the grain join the newest run and move it to their own moment; when the ring is full the two oldest runs become one
 * at the later moment. Both make a hit count longer, never shorter, so no period ever sees more than the limit.
 *
 * With a grain of 0 (limits up to `logRuns`) only hits of one millisecond join. A full ring then means that at least
 * the limit is in the window anyway (refused hits that are counted too), so the decision stays exact.
 */
export interface Logs {
  slide(name: string, window: Window, nowMs: number, cost: number, owing: boolean): Taken;
  /** Writes down a hit that the shared engine decided about. */
  note(name: string, window: Window, nowMs: number, cost: number): void;
  /** The newest hits, as many as are owed, as moment and count in turn; they are owed no longer. */
  settle(name: string): number[];
  owe(name: string, cost: number): void;
  reset(name: string): void;
}

const head = 0;
const length = 1;
const total = 2;
const newestBegan = 3;
const owed = 4;
const moments = 5;
const counts = moments + logRuns;

export function logs(table: Table): Logs {
  return {
    slide: (name, window, nowMs, cost, owing) => slide(table, name, window, nowMs, cost, owing),
    note(name, window, nowMs, cost) {
      slide(table, name, { ...window, countsRefused: true }, nowMs, cost, false);
    },
    settle: name => withSlot(table, name, (bucket, way) => settle(table.numbers, table.fieldsAt(bucket, way))) ?? [],
    owe: (name, cost) => withSlot(table, name, (bucket, way) => owe(table.numbers, table.fieldsAt(bucket, way), cost)),
    reset: name => withSlot(table, name, table.free),
  };
}

function slide(table: Table, name: string, window: Window, nowMs: number, cost: number, owing: boolean): Taken {
  const { numbers } = table;
  const { limit, periodMs } = window;
  const bucket = table.enter(name);
  let way = table.find(bucket);
  if (way < 0 && cost > 0) way = table.claim(bucket, nowMs);
  if (way < 0) {
    table.leave(bucket);
    return { allowed: limit > 0, used: 0, remaining: remaining(limit, 0), resetsAtMs: nowMs + periodMs };
  }
  const at = table.fieldsAt(bucket, way);
  expire(numbers, at, nowMs, periodMs);
  const before = numbers[at + total]!;
  const allowed = cost > 0 ? before + cost <= limit : before < limit;
  if (cost > 0 && (allowed || window.countsRefused === true)) {
    append(numbers, at, nowMs, cost, logGrainMs(window));
    if (owing) owe(numbers, at, cost);
    numbers[table.endAt(bucket, way)] = newestMoment(numbers, at) + periodMs;
  }
  const used = numbers[at + total]!;
  const oldestMs = numbers[at + length]! > 0 ? numbers[at + moments + run(numbers, at, 0)]! : nowMs;
  table.leave(bucket);
  return { allowed, used, remaining: remaining(limit, used), resetsAtMs: oldestMs + periodMs };
}

/** Where in the ring the run stands that is so many after the oldest. */
const run = (numbers: Float64Array, at: number, index: number): number => (numbers[at + head]! + index) % logRuns;

const newestMoment = (numbers: Float64Array, at: number): number =>
  numbers[at + moments + run(numbers, at, numbers[at + length]! - 1)]!;

function dropOldest(numbers: Float64Array, at: number): void {
  numbers[at + head] = run(numbers, at, 1);
  numbers[at + length]! -= 1;
}

function expire(numbers: Float64Array, at: number, nowMs: number, periodMs: number): void {
  const setBack = numbers[at + length]! > 0 && newestMoment(numbers, at) > nowMs + clockStepMs;
  while (numbers[at + length]! > 0) {
    const oldest = run(numbers, at, 0);
    if (!setBack && numbers[at + moments + oldest]! > nowMs - periodMs) return;
    numbers[at + total]! -= numbers[at + counts + oldest]!;
    dropOldest(numbers, at);
  }
  numbers[at + owed] = 0;
}

function append(numbers: Float64Array, at: number, nowMs: number, cost: number, grainMs: number): void {
  numbers[at + total]! += cost;
  const filled = numbers[at + length]!;
  if (filled > 0) {
    const moment = Math.max(nowMs, newestMoment(numbers, at));
    const newest = run(numbers, at, filled - 1);
    if (moment === numbers[at + moments + newest]! || moment - numbers[at + newestBegan]! < grainMs) {
      numbers[at + moments + newest] = moment;
      numbers[at + counts + newest]! += cost;
      return;
    }
    if (filled === logRuns) {
      numbers[at + counts + run(numbers, at, 1)]! += numbers[at + counts + run(numbers, at, 0)]!;
      dropOldest(numbers, at);
    }
  }
  const next = run(numbers, at, numbers[at + length]!);
  numbers[at + length]! += 1;
  numbers[at + moments + next] = nowMs;
  numbers[at + counts + next] = cost;
  numbers[at + newestBegan] = nowMs;
}

function settle(numbers: Float64Array, at: number): number[] {
  const hits: number[] = [];
  let rest = numbers[at + owed]!;
  for (let index = numbers[at + length]! - 1; index >= 0 && rest > 0; index--) {
    const here = run(numbers, at, index);
    const some = Math.min(rest, numbers[at + counts + here]!);
    hits.push(numbers[at + moments + here]!, some);
    rest -= some;
  }
  numbers[at + owed] = 0;
  return hits;
}

function owe(numbers: Float64Array, at: number, cost: number): void {
  numbers[at + owed]! += cost;
}

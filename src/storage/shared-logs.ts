import { clockStepMs, logGrainMs, logRuns, remaining, type Taken, type Window } from './shared.ts';
import type { Memory } from './shared-memory.ts';

/**
 * Sliding windows in shared memory. A log is a ring of runs: a moment and how many hits it stands for. Hits closer than
 * the grain join the newest run and move it to their own moment; when the ring is full the two oldest runs become one at
 * the later moment. Both make a hit count longer, never shorter, so no period ever sees more than the limit.
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

export function logs({ names, logs: table }: Memory): Logs {
  const { numbers } = table;

  function enter(name: string): number {
    names.hash(name);
    return table.enter();
  }

  /** Where in the ring the run stands that is so many after the oldest. */
  const run = (at: number, index: number): number => (numbers[at + head]! + index) % logRuns;
  const newestMoment = (at: number): number => numbers[at + moments + run(at, numbers[at + length]! - 1)]!;

  function dropOldest(at: number): void {
    numbers[at + head] = run(at, 1);
    numbers[at + length]! -= 1;
  }

  function expire(at: number, nowMs: number, periodMs: number): void {
    const setBack = numbers[at + length]! > 0 && newestMoment(at) > nowMs + clockStepMs;
    while (numbers[at + length]! > 0) {
      const oldest = run(at, 0);
      if (!setBack && numbers[at + moments + oldest]! > nowMs - periodMs) return;
      numbers[at + total]! -= numbers[at + counts + oldest]!;
      dropOldest(at);
    }
    numbers[at + owed] = 0;
  }

  function append(at: number, nowMs: number, cost: number, grainMs: number): void {
    numbers[at + total]! += cost;
    const filled = numbers[at + length]!;
    if (filled > 0) {
      const moment = Math.max(nowMs, newestMoment(at));
      const newest = run(at, filled - 1);
      if (moment === numbers[at + moments + newest]! || moment - numbers[at + newestBegan]! < grainMs) {
        numbers[at + moments + newest] = moment;
        numbers[at + counts + newest]! += cost;
        return;
      }
      if (filled === logRuns) {
        numbers[at + counts + run(at, 1)]! += numbers[at + counts + run(at, 0)]!;
        dropOldest(at);
      }
    }
    const next = run(at, numbers[at + length]!);
    numbers[at + length]! += 1;
    numbers[at + moments + next] = nowMs;
    numbers[at + counts + next] = cost;
    numbers[at + newestBegan] = nowMs;
  }

  function slide(name: string, window: Window, nowMs: number, cost: number, owing: boolean): Taken {
    const { limit, periodMs } = window;
    const bucket = enter(name);
    let way = table.find(bucket);
    if (way < 0 && cost > 0) way = table.claim(bucket, nowMs);
    if (way < 0) {
      table.leave(bucket);
      return { allowed: limit > 0, used: 0, remaining: remaining(limit, 0), resetsAtMs: nowMs + periodMs };
    }
    const at = table.fieldsAt(bucket, way);
    expire(at, nowMs, periodMs);
    const allowed = cost > 0 ? numbers[at + total]! + cost <= limit : numbers[at + total]! < limit;
    if (cost > 0 && (allowed || window.countsRefused === true)) {
      append(at, nowMs, cost, logGrainMs(window));
      if (owing) numbers[at + owed]! += cost;
      numbers[table.endAt(bucket, way)] = newestMoment(at) + periodMs;
    }
    const used = numbers[at + total]!;
    const oldestMs = numbers[at + length]! > 0 ? numbers[at + moments + run(at, 0)]! : nowMs;
    table.leave(bucket);
    return { allowed, used, remaining: remaining(limit, used), resetsAtMs: oldestMs + periodMs };
  }

  function note(name: string, window: Window, nowMs: number, cost: number): void {
    slide(name, { ...window, countsRefused: true }, nowMs, cost, false);
  }

  function settle(name: string): number[] {
    const bucket = enter(name);
    const way = table.find(bucket);
    const at = way < 0 ? -1 : table.fieldsAt(bucket, way);
    const hits: number[] = [];
    let rest = at < 0 ? 0 : numbers[at + owed]!;
    for (let index = at < 0 ? -1 : numbers[at + length]! - 1; index >= 0 && rest > 0; index--) {
      const here = run(at, index);
      const some = Math.min(rest, numbers[at + counts + here]!);
      hits.push(numbers[at + moments + here]!, some);
      rest -= some;
    }
    if (at >= 0) numbers[at + owed] = 0;
    table.leave(bucket);
    return hits;
  }

  function owe(name: string, cost: number): void {
    const bucket = enter(name);
    const way = table.find(bucket);
    if (way >= 0) numbers[table.fieldsAt(bucket, way) + owed]! += cost;
    table.leave(bucket);
  }

  function reset(name: string): void {
    const bucket = enter(name);
    const way = table.find(bucket);
    if (way >= 0) table.free(bucket, way);
    table.leave(bucket);
  }

  return { slide, note, settle, owe, reset };
}

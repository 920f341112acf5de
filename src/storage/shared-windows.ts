import { clockStepMs, remaining, type Taken, type Window } from './shared.ts';
import type { Memory } from './shared-memory.ts';

/** An open window as it is kept over a restart. Without `endsAtMs` it never ends. */
export interface OpenWindow {
  readonly startedAtMs: number;
  readonly endsAtMs?: number;
  readonly used: number;
}

/** What this process let through while the shared engine was away. */
export interface Debt extends OpenWindow {
  readonly owed: number;
}

/** Fixed windows in shared memory. Plain reads and writes suffice, since a bucket is locked around them. */
export interface Windows {
  /** `owing` adds the hit to what is owed to the shared engine. */
  take(name: string, window: Window, nowMs: number, cost: number, owing: boolean): Taken;
  /** Whether the last `take` or `mirror` opened a window. */
  opened(): boolean;
  /** Sets the window to what the shared engine said. */
  mirror(name: string, window: Window, used: number, startedAtMs: number, nowMs: number): void;
  /** Adds to an open window, or opens it. */
  add(name: string, open: OpenWindow, nowMs: number): void;
  read(name: string): OpenWindow | undefined;
  /** Hands over what is owed: it is owed no longer. */
  settle(name: string): Debt | undefined;
  owe(name: string, cost: number): void;
  reset(name: string): void;
}

const start = 0;
const count = 1;
const owed = 2;

export function windows({ names, windows: table }: Memory): Windows {
  const { numbers } = table;
  let openedNow = false;

  function enter(name: string): number {
    names.hash(name);
    openedNow = false;
    return table.enter();
  }

  function take(name: string, window: Window, nowMs: number, cost: number, owing: boolean): Taken {
    const { limit, periodMs, opens } = window;
    const opening = opens === 'clock' ? nowMs - (nowMs % periodMs) : nowMs;
    const bucket = enter(name);
    let way = table.find(bucket);
    const at = way < 0 ? -1 : table.fieldsAt(bucket, way);
    const ended = at < 0 || hasEnded(numbers[at + start]!, opening, periodMs, nowMs, opens === 'clock');
    let began = ended ? opening : numbers[at + start]!;
    let used = ended ? 0 : numbers[at + count]!;
    const allowed = cost > 0 ? used + cost <= limit : cost < 0 || used < limit;
    if (cost !== 0 && (allowed || window.countsRefused === true) && !(ended && cost < 0)) {
      if (way < 0) way = table.claim(bucket, nowMs);
      const fields = table.fieldsAt(bucket, way);
      used = Math.max(0, used + cost);
      if (opens === 'every') began = nowMs;
      openedNow = ended;
      numbers[fields + start] = began;
      numbers[fields + count] = used;
      numbers[fields + owed] = (ended ? 0 : numbers[fields + owed]!) + (owing ? cost : 0);
      numbers[table.endAt(bucket, way)] = began + periodMs;
    }
    table.leave(bucket);
    return { allowed, used, remaining: remaining(limit, used), resetsAtMs: began + periodMs };
  }

  function mirror(name: string, { periodMs }: Window, used: number, startedAtMs: number, nowMs: number): void {
    const bucket = enter(name);
    let way = table.find(bucket);
    openedNow = way < 0;
    if (way < 0) way = table.claim(bucket, nowMs);
    const at = table.fieldsAt(bucket, way);
    numbers[at + start] = startedAtMs;
    numbers[at + count] = used + numbers[at + owed]!;
    numbers[table.endAt(bucket, way)] = startedAtMs + periodMs;
    table.leave(bucket);
  }

  function add(name: string, open: OpenWindow, nowMs: number): void {
    const bucket = enter(name);
    let way = table.find(bucket);
    const endsAtMs = open.endsAtMs ?? Number.POSITIVE_INFINITY;
    const other =
      way >= 0 && numbers[table.endAt(bucket, way)]! > nowMs ? numbers[table.fieldsAt(bucket, way) + count]! : 0;
    if (way < 0) way = table.claim(bucket, nowMs);
    const at = table.fieldsAt(bucket, way);
    // The older window is the true one: what was counted since was counted in it.
    numbers[at + start] = open.startedAtMs;
    numbers[at + count] = open.used + other;
    numbers[table.endAt(bucket, way)] = endsAtMs;
    table.leave(bucket);
  }

  function read(name: string): OpenWindow | undefined {
    const bucket = enter(name);
    const way = table.find(bucket);
    const found = way < 0 ? undefined : openWindow(bucket, way);
    table.leave(bucket);
    return found;
  }

  function openWindow(bucket: number, way: number): OpenWindow {
    const at = table.fieldsAt(bucket, way);
    const end = numbers[table.endAt(bucket, way)]!;
    const ends = end === Number.POSITIVE_INFINITY ? {} : { endsAtMs: end };
    return { startedAtMs: numbers[at + start]!, used: numbers[at + count]!, ...ends };
  }

  function settle(name: string): Debt | undefined {
    const bucket = enter(name);
    const way = table.find(bucket);
    const at = way < 0 ? -1 : table.fieldsAt(bucket, way);
    const debt =
      at < 0 || numbers[at + owed] === 0 ? undefined : { ...openWindow(bucket, way), owed: numbers[at + owed]! };
    if (debt) numbers[at + owed] = 0;
    table.leave(bucket);
    return debt;
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

  return { take, opened: () => openedNow, mirror, add, read, settle, owe, reset };
}

/** Threads read the clock a moment apart, so a window that begins a little ahead of a caller is still open. */
function hasEnded(began: number, opening: number, periodMs: number, nowMs: number, byClock: boolean): boolean {
  if (began > nowMs + clockStepMs) return true;
  return byClock ? began < opening : nowMs >= began + periodMs;
}

import type { Table } from './memory.ts';
import { clockStepMs, remaining, type Taken, type Window } from './shared.ts';

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

/** Hears the name of every window that opens. */
export type Opened = (name: string, window: Window) => void;

const start = 0;
const count = 1;
const owed = 2;

export function windows(table: Table, opened: Opened): Windows {
  return {
    take: (name, window, nowMs, cost, owing) => take(table, opened, name, window, nowMs, cost, owing),
    mirror: (name, window, used, startedAtMs, nowMs) => mirror(table, opened, name, window, used, startedAtMs, nowMs),
    add: (name, open, nowMs) => add(table, name, open, nowMs),
    read: name => withSlot(table, name, (bucket, way) => openWindow(table, bucket, way)),
    settle: name => withSlot(table, name, (bucket, way) => settle(table, bucket, way)),
    owe: (name, cost) => withSlot(table, name, (bucket, way) => owe(table, bucket, way, cost)),
    reset: name => withSlot(table, name, table.free),
  };
}

/** Does something to the slot of a name if there is one; for what happens rarely, since it costs a function. */
export function withSlot<T>(table: Table, name: string, use: (bucket: number, way: number) => T): T | undefined {
  const bucket = table.enter(name);
  const way = table.find(bucket);
  const result = way < 0 ? undefined : use(bucket, way);
  table.leave(bucket);
  return result;
}

function take(
  table: Table,
  opened: Opened,
  name: string,
  window: Window,
  nowMs: number,
  cost: number,
  owing: boolean,
): Taken {
  const { numbers } = table;
  const { limit, periodMs, opens } = window;
  const opening = opens === 'clock' ? nowMs - (nowMs % periodMs) : nowMs;
  const bucket = table.enter(name);
  let way = table.find(bucket);
  const at = way < 0 ? -1 : table.fieldsAt(bucket, way);
  const ended = at < 0 || hasEnded(numbers[at + start]!, opening, periodMs, nowMs, opens === 'clock');
  let began = ended ? opening : numbers[at + start]!;
  let used = ended ? 0 : numbers[at + count]!;
  const allowed = cost > 0 ? used + cost <= limit : cost < 0 || used < limit;
  const counted = cost !== 0 && (allowed || window.countsRefused === true) && !(ended && cost < 0);
  if (counted) {
    if (way < 0) way = table.claim(bucket, nowMs);
    const fields = table.fieldsAt(bucket, way);
    used = Math.max(0, used + cost);
    if (opens === 'every') began = nowMs;
    numbers[fields + start] = began;
    numbers[fields + count] = used;
    numbers[fields + owed] = (ended ? 0 : numbers[fields + owed]!) + (owing ? cost : 0);
    numbers[table.endAt(bucket, way)] = began + periodMs;
  }
  table.leave(bucket);
  if (counted && ended) opened(name, window);
  return { allowed, used, remaining: remaining(limit, used), resetsAtMs: began + periodMs };
}

/** Threads read the clock a moment apart, so a window that begins a little ahead of a caller is still open. */
function hasEnded(began: number, opening: number, periodMs: number, nowMs: number, byClock: boolean): boolean {
  if (began > nowMs + clockStepMs) return true;
  return byClock ? began < opening : nowMs >= began + periodMs;
}

function mirror(
  table: Table,
  opened: Opened,
  name: string,
  window: Window,
  used: number,
  startedAtMs: number,
  nowMs: number,
): void {
  const { numbers } = table;
  const bucket = table.enter(name);
  const found = table.find(bucket);
  const isNew = found < 0 || numbers[table.endAt(bucket, found)]! <= nowMs;
  const way = found < 0 ? table.claim(bucket, nowMs) : found;
  const at = table.fieldsAt(bucket, way);
  numbers[at + start] = startedAtMs;
  numbers[at + count] = used + numbers[at + owed]!;
  numbers[table.endAt(bucket, way)] = startedAtMs + window.periodMs;
  table.leave(bucket);
  if (isNew) opened(name, window);
}

function add(table: Table, name: string, open: OpenWindow, nowMs: number): void {
  const { numbers } = table;
  const bucket = table.enter(name);
  const found = table.find(bucket);
  const isOpen = found >= 0 && numbers[table.endAt(bucket, found)]! > nowMs;
  const counted = isOpen ? numbers[table.fieldsAt(bucket, found) + count]! : 0;
  const way = found < 0 ? table.claim(bucket, nowMs) : found;
  const at = table.fieldsAt(bucket, way);
  // The older window is the true one: what was counted since was counted in it.
  numbers[at + start] = open.startedAtMs;
  numbers[at + count] = open.used + counted;
  numbers[table.endAt(bucket, way)] = open.endsAtMs ?? Number.POSITIVE_INFINITY;
  table.leave(bucket);
}

function openWindow(table: Table, bucket: number, way: number): OpenWindow {
  const at = table.fieldsAt(bucket, way);
  const end = table.numbers[table.endAt(bucket, way)]!;
  const ends = end === Number.POSITIVE_INFINITY ? {} : { endsAtMs: end };
  return { startedAtMs: table.numbers[at + start]!, used: table.numbers[at + count]!, ...ends };
}

function settle(table: Table, bucket: number, way: number): Debt | undefined {
  const at = table.fieldsAt(bucket, way);
  const debt = table.numbers[at + owed]!;
  table.numbers[at + owed] = 0;
  return debt === 0 ? undefined : { ...openWindow(table, bucket, way), owed: debt };
}

function owe(table: Table, bucket: number, way: number, cost: number): void {
  table.numbers[table.fieldsAt(bucket, way) + owed]! += cost;
}

import type { Table } from './memory.ts';
import { type CounterResult, maxClockSkewMs, remaining, type Window } from './shared.ts';

/** Open window as persisted over a restart. Without `endsAtMs` it never ends. */
export interface OpenWindow {
  readonly startedAtMs: number;
  readonly endsAtMs?: number;
  readonly used: number;
}

/** Window with hits counted locally while the shared engine was unavailable. */
export interface PendingWindow extends OpenWindow {
  readonly pending: number;
}

/** Fixed windows in shared memory. The bucket is locked, so plain reads and writes suffice. */
export interface FixedWindows {
  /** `isOffline` also counts the hit as pending, to be replayed to the shared engine. */
  take(name: string, window: Window, nowMs: number, cost: number, isOffline: boolean): CounterResult;
  /** Copies the shared engine's count, as the start value for an outage. */
  mirror(name: string, window: Window, used: number, startedAtMs: number, nowMs: number): void;
  /** Adds to an open window, or opens one. */
  add(name: string, open: OpenWindow, nowMs: number): void;
  read(name: string): OpenWindow | undefined;
  /** Returns the pending hits and clears them. */
  takePending(name: string): PendingWindow | undefined;
  addPending(name: string, cost: number): void;
  reset(name: string): void;
}

/** Called with the name of every window that opens. */
export type OnWindowOpen = (name: string, window: Window) => void;

const startOffset = 0;
const countOffset = 1;
const pendingOffset = 2;

export function createFixedWindows(table: Table, onOpen: OnWindowOpen): FixedWindows {
  return {
    take: (name, window, nowMs, cost, isOffline) => take(table, onOpen, name, window, nowMs, cost, isOffline),
    mirror: (name, window, used, startedAtMs, nowMs) => mirror(table, onOpen, name, window, used, startedAtMs, nowMs),
    add: (name, open, nowMs) => add(table, name, open, nowMs),
    read: name => withSlot(table, name, (bucket, way) => readOpenWindow(table, bucket, way)),
    takePending: name => withSlot(table, name, (bucket, way) => takePending(table, bucket, way)),
    addPending: (name, cost) => withSlot(table, name, (bucket, way) => addPending(table, bucket, way, cost)),
    reset: name => withSlot(table, name, table.free),
  };
}

/** Runs `use` on the slot of a name, if there is one; for rare operations, since it costs a closure. */
export function withSlot<T>(table: Table, name: string, use: (bucket: number, way: number) => T): T | undefined {
  const bucket = table.lock(name);
  const way = table.find(bucket);
  const result = way < 0 ? undefined : use(bucket, way);
  table.unlock(bucket);
  return result;
}

function take(
  table: Table,
  onOpen: OnWindowOpen,
  name: string,
  window: Window,
  nowMs: number,
  cost: number,
  isOffline: boolean,
): CounterResult {
  const { numbers } = table;
  const { limit, periodMs, opens } = window;
  const opensAtMs = opens === 'clock' ? nowMs - (nowMs % periodMs) : nowMs;
  const bucket = table.lock(name);
  let way = table.find(bucket);
  const at = way < 0 ? -1 : table.fieldsAt(bucket, way);
  const ended = at < 0 || hasEnded(numbers[at + startOffset]!, opensAtMs, periodMs, nowMs, opens === 'clock');
  let startedAtMs = ended ? opensAtMs : numbers[at + startOffset]!;
  let used = ended ? 0 : numbers[at + countOffset]!;
  const allowed = cost > 0 ? used + cost <= limit : cost < 0 || used < limit;
  const counted = cost !== 0 && (allowed || window.countsRefused === true) && !(ended && cost < 0);
  if (counted) {
    if (way < 0) way = table.allocate(bucket, nowMs);
    const fields = table.fieldsAt(bucket, way);
    used = Math.max(0, used + cost);
    if (opens === 'every') startedAtMs = nowMs;
    numbers[fields + startOffset] = startedAtMs;
    numbers[fields + countOffset] = used;
    numbers[fields + pendingOffset] = (ended ? 0 : numbers[fields + pendingOffset]!) + (isOffline ? cost : 0);
    numbers[table.endAt(bucket, way)] = startedAtMs + periodMs;
  }
  table.unlock(bucket);
  if (counted && ended) onOpen(name, window);
  return { allowed, used, remaining: remaining(limit, used), resetsAtMs: startedAtMs + periodMs };
}

/** Threads read the clock at slightly different times, so a window that starts a little in the future is still open. */
function hasEnded(startedAtMs: number, opensAtMs: number, periodMs: number, nowMs: number, byClock: boolean): boolean {
  if (startedAtMs > nowMs + maxClockSkewMs) return true;
  return byClock ? startedAtMs < opensAtMs : nowMs >= startedAtMs + periodMs;
}

function mirror(
  table: Table,
  onOpen: OnWindowOpen,
  name: string,
  window: Window,
  used: number,
  startedAtMs: number,
  nowMs: number,
): void {
  const { numbers } = table;
  const bucket = table.lock(name);
  const found = table.find(bucket);
  const isNew = found < 0 || numbers[table.endAt(bucket, found)]! <= nowMs;
  const way = found < 0 ? table.allocate(bucket, nowMs) : found;
  const at = table.fieldsAt(bucket, way);
  numbers[at + startOffset] = startedAtMs;
  numbers[at + countOffset] = used + numbers[at + pendingOffset]!;
  numbers[table.endAt(bucket, way)] = startedAtMs + window.periodMs;
  table.unlock(bucket);
  if (isNew) onOpen(name, window);
}

function add(table: Table, name: string, open: OpenWindow, nowMs: number): void {
  const { numbers } = table;
  const bucket = table.lock(name);
  const found = table.find(bucket);
  const isOpen = found >= 0 && numbers[table.endAt(bucket, found)]! > nowMs;
  const counted = isOpen ? numbers[table.fieldsAt(bucket, found) + countOffset]! : 0;
  const way = found < 0 ? table.allocate(bucket, nowMs) : found;
  const at = table.fieldsAt(bucket, way);
  // The persisted window is the older one: hits counted since belong to it.
  numbers[at + startOffset] = open.startedAtMs;
  numbers[at + countOffset] = open.used + counted;
  numbers[table.endAt(bucket, way)] = open.endsAtMs ?? Number.POSITIVE_INFINITY;
  table.unlock(bucket);
}

function readOpenWindow(table: Table, bucket: number, way: number): OpenWindow {
  const at = table.fieldsAt(bucket, way);
  const end = table.numbers[table.endAt(bucket, way)]!;
  const ends = end === Number.POSITIVE_INFINITY ? {} : { endsAtMs: end };
  return { startedAtMs: table.numbers[at + startOffset]!, used: table.numbers[at + countOffset]!, ...ends };
}

function takePending(table: Table, bucket: number, way: number): PendingWindow | undefined {
  const at = table.fieldsAt(bucket, way);
  const pending = table.numbers[at + pendingOffset]!;
  table.numbers[at + pendingOffset] = 0;
  return pending === 0 ? undefined : { ...readOpenWindow(table, bucket, way), pending };
}

function addPending(table: Table, bucket: number, way: number, cost: number): void {
  table.numbers[table.fieldsAt(bucket, way) + pendingOffset]! += cost;
}

import { BroadcastChannel } from 'node:worker_threads';
import { type OpenWindow, type Windows, windows } from './fixed-windows.ts';
import { createMemory, type MemorySize, openMemory } from './memory.ts';
import type { Counters, Listener, Shared, Taken, Window } from './shared.ts';
import { type Logs, logs } from './sliding-windows.ts';

/**
 * Shared state of the threads of one process. The main thread makes it and hands `buffer` to its workers, who open it:
 *
 *     const shared = threadsShared();                                    // main thread
 *     new Worker(file, { workerData: { shared: shared.buffer } });
 *     const shared = threadsShared({ buffer: workerData.shared });       // worker
 */
export interface ThreadsShared extends Shared {
  readonly buffer: SharedArrayBuffer;
  readonly counters: LocalCounters;
  /** For the engine that falls back on this one. */
  readonly windows: Windows;
  readonly logs: Logs;
  /**
   * The open windows of all threads that are to be kept, for the main thread to write down now and then. The table
   * knows names by their hash only, so a thread that opens such a window tells its name to the thread that made the
   * buffer.
   */
  entries(nowMs: number): Entry[];
  /** Brings back what was written down; what was counted meanwhile is added. */
  load(entries: Iterable<Entry>, nowMs: number): void;
  /** How often an open counter was given up because its part of the table was full. More than 0 asks for more slots. */
  evictions(): number;
}

/** Everything in memory is answered at once. */
export interface LocalCounters extends Counters {
  take(name: string, window: Window, nowMs: number, cost?: number): Taken;
  peek(name: string, window: Window, nowMs: number): Taken;
  slide(name: string, window: Window, nowMs: number, cost?: number): Taken;
  reset(name: string): void;
}

export interface Entry extends OpenWindow {
  readonly name: string;
}

export interface ThreadsOptions extends Partial<MemorySize> {
  /** The buffer of the thread that made it; without one a new one is made, with the sizes given. */
  buffer?: SharedArrayBuffer;
  /** Windows at least this long are kept over a restart; of shorter ones only those that ask for it (quotas). */
  longLivedMs?: number;
}

/** Enough for a rate and a quota of a hundred thousand keys. */
const defaultSize: MemorySize = { windows: 1_048_576, logs: 65_536 };
const defaultLongLivedMs = 3_600_000;

export function threadsShared(options: ThreadsOptions = {}): ThreadsShared {
  const { buffer, longLivedMs = defaultLongLivedMs, ...size } = options;
  const memory = buffer ? openMemory(buffer) : createMemory({ ...defaultSize, ...size });
  const keeper = buffer === undefined;
  const sliding = logs(memory.logs);
  const kept = new Set<string>();
  const wire = threadWire(memory.id, name => {
    if (keeper) kept.add(name);
  });

  const fixed = windows(memory.windows, (name, window) => {
    if (window.periodMs < longLivedMs && window.kept !== true) return;
    if (keeper) kept.add(name);
    else wire.announce(name);
  });

  return {
    buffer: memory.buffer,
    windows: fixed,
    logs: sliding,
    blobs: undefined,
    counters: {
      take: (name, window, nowMs, cost = 1) => fixed.take(name, window, nowMs, cost, false),
      peek: (name, window, nowMs) => fixed.take(name, window, nowMs, 0, false),
      slide: (name, window, nowMs, cost = 1) => sliding.slide(name, window, nowMs, cost, false),
      reset(name) {
        fixed.reset(name);
        sliding.reset(name);
      },
    },
    entries: nowMs => openEntries(fixed, kept, nowMs),
    load(entries, nowMs) {
      for (const { name, ...open } of entries) {
        if (open.endsAtMs !== undefined && open.endsAtMs <= nowMs) continue;
        fixed.add(name, open, nowMs);
        kept.add(name);
      }
    },
    publish: wire.publish,
    subscribe: wire.subscribe,
    state: () => 'ok',
    evictions: memory.evictions,
    close: wire.close,
  };
}

/** Reads the windows of the names told so far, and forgets the names whose window has ended. */
function openEntries(fixed: Windows, kept: Set<string>, nowMs: number): Entry[] {
  const entries: Entry[] = [];
  for (const name of kept) {
    const open = fixed.read(name);
    if (open && (open.endsAtMs === undefined || open.endsAtMs > nowMs)) entries.push({ name, ...open });
    else kept.delete(name);
  }
  return entries;
}

type Told = { channel: string; message: string } | { name: string };

/** Publish and subscribe among the threads that opened one buffer. */
function threadWire(id: string, named: (name: string) => void) {
  const listeners = new Map<string, Set<Listener>>();
  const wire = new BroadcastChannel(`gw-shared-${id}`);
  wire.onmessage = event => hear((event as { data: Told }).data);
  // Listening alone must not keep a finished process alive.
  wire.unref();

  function hear(told: Told): void {
    if ('name' in told) named(told.name);
    else for (const listener of listeners.get(told.channel) ?? []) listener(told.message);
  }

  return {
    announce: (name: string) => wire.postMessage({ name }),
    async publish(channel: string, message: string): Promise<void> {
      const told = { channel, message };
      wire.postMessage(told);
      // A broadcast does not come back to its sender. Its own listeners hear it later too, and in order.
      queueMicrotask(() => hear(told));
    },
    async subscribe(channel: string, listener: Listener): Promise<() => Promise<void>> {
      // One function given twice is heard twice, so each subscription has an entry of its own.
      const own: Listener = message => listener(message);
      const all = listeners.get(channel) ?? new Set();
      listeners.set(channel, all.add(own));
      return async () => {
        all.delete(own);
        if (all.size === 0 && listeners.get(channel) === all) listeners.delete(channel);
      };
    },
    async close(): Promise<void> {
      listeners.clear();
      wire.close();
    },
  };
}

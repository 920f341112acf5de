import { BroadcastChannel } from 'node:worker_threads';
import { createFixedWindows, type FixedWindows, type OpenWindow } from './fixed-windows.ts';
import { createMemory, type MemorySize, openMemory } from './memory.ts';
import type { CounterResult, Counters, MessageListener, Shared, Window } from './shared.ts';
import { createSlidingWindows, type SlidingWindows } from './sliding-windows.ts';

/**
 * Shared state of the threads of one process. The main thread creates it and passes `buffer` to its workers:
 *
 *     const shared = createThreadsShared();                              // main thread
 *     new Worker(file, { workerData: { shared: shared.buffer } });
 *     const shared = createThreadsShared({ buffer: workerData.shared }); // worker
 */
export interface ThreadsShared extends Shared {
  readonly buffer: SharedArrayBuffer;
  readonly counters: LocalCounters;
  /** For the Redis engine, which falls back on this one. */
  readonly fixedWindows: FixedWindows;
  readonly slidingWindows: SlidingWindows;
  /**
   * Open persistent windows of all threads, for the main thread to store. The table has hashes of names only, so a
   * thread that opens such a window announces its name to the owner of the buffer.
   */
  entries(nowMs: number): CounterEntry[];
  /** Restores persisted windows, adding to hits counted meanwhile. */
  load(entries: Iterable<CounterEntry>, nowMs: number): void;
  /** Evictions of open counters from full buckets. More than 0 calls for more slots. */
  evictions(): number;
}

/** In memory every result is synchronous. */
export interface LocalCounters extends Counters {
  take(name: string, window: Window, nowMs: number, cost?: number): CounterResult;
  peek(name: string, window: Window, nowMs: number): CounterResult;
  slide(name: string, window: Window, nowMs: number, cost?: number): CounterResult;
  reset(name: string): void;
}

export interface CounterEntry extends OpenWindow {
  readonly name: string;
}

export interface ThreadsSharedOptions extends Partial<MemorySize> {
  /** Buffer of the owning thread; without one a new buffer of the given sizes is created. */
  buffer?: SharedArrayBuffer;
  /** Windows at least this long are persisted; of shorter ones only those that are marked (quotas). */
  longLivedMs?: number;
}

/** Capacity for a rate and a quota of a hundred thousand keys. */
const defaultSize: MemorySize = { fixedWindows: 1_048_576, slidingWindows: 65_536 };
const defaultLongLivedMs = 3_600_000;

export function createThreadsShared(options: ThreadsSharedOptions = {}): ThreadsShared {
  const { buffer, longLivedMs = defaultLongLivedMs, ...size } = options;
  const memory = buffer ? openMemory(buffer) : createMemory({ ...defaultSize, ...size });
  const isOwner = buffer === undefined;
  const sliding = createSlidingWindows(memory.slidingTable);
  const persistentNames = new Set<string>();
  const pubSub = createThreadPubSub(memory.id, name => {
    if (isOwner) persistentNames.add(name);
  });

  const fixed = createFixedWindows(memory.fixedTable, (name, window) => {
    if (window.periodMs < longLivedMs && window.isPersistent !== true) return;
    if (isOwner) persistentNames.add(name);
    else pubSub.announce(name);
  });

  return {
    buffer: memory.buffer,
    fixedWindows: fixed,
    slidingWindows: sliding,
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
    entries: nowMs => readOpenEntries(fixed, persistentNames, nowMs),
    load(entries, nowMs) {
      for (const { name, ...open } of entries) {
        if (open.endsAtMs !== undefined && open.endsAtMs <= nowMs) continue;
        fixed.add(name, open, nowMs);
        persistentNames.add(name);
      }
    },
    publish: pubSub.publish,
    subscribe: pubSub.subscribe,
    ping: undefined,
    state: () => 'ok',
    evictions: memory.evictions,
    close: pubSub.close,
  };
}

/** Reads the announced windows, and drops names whose window has ended. */
function readOpenEntries(fixed: FixedWindows, persistentNames: Set<string>, nowMs: number): CounterEntry[] {
  const entries: CounterEntry[] = [];
  for (const name of persistentNames) {
    const open = fixed.read(name);
    if (open && (open.endsAtMs === undefined || open.endsAtMs > nowMs)) entries.push({ name, ...open });
    else persistentNames.delete(name);
  }
  return entries;
}

type ThreadMessage = { channel: string; message: string } | { name: string };

/** Pub/sub among the threads that opened one buffer. */
function createThreadPubSub(id: string, onPersistentName: (name: string) => void) {
  const listeners = new Map<string, Set<MessageListener>>();
  const broadcast = new BroadcastChannel(`gw-shared-${id}`);
  broadcast.onmessage = event => deliver((event as { data: ThreadMessage }).data);
  // A subscription must not keep a finished process alive.
  broadcast.unref();

  function deliver(envelope: ThreadMessage): void {
    if ('name' in envelope) onPersistentName(envelope.name);
    else for (const listener of listeners.get(envelope.channel) ?? []) listener(envelope.message);
  }

  return {
    announce: (name: string) => broadcast.postMessage({ name }),
    async publish(channel: string, message: string): Promise<void> {
      const envelope = { channel, message };
      broadcast.postMessage(envelope);
      // BroadcastChannel does not deliver to its sender; its own listeners are called later too, and in order.
      queueMicrotask(() => deliver(envelope));
    },
    async subscribe(channel: string, listener: MessageListener): Promise<() => Promise<void>> {
      // A listener that subscribes twice is called twice, so each subscription has its own entry.
      const own: MessageListener = message => listener(message);
      const all = listeners.get(channel) ?? new Set();
      listeners.set(channel, all.add(own));
      return async () => {
        all.delete(own);
        if (all.size === 0 && listeners.get(channel) === all) listeners.delete(channel);
      };
    },
    async close(): Promise<void> {
      listeners.clear();
      broadcast.close();
    },
  };
}

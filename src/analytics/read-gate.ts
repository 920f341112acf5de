import { problem } from './problems.ts';

const maxPauseMs = 5000;

interface ReadQueue {
  /** Reads in the queue, that in progress or pausing included. */
  length: number;
  /** Resolves when the next read may start. */
  last: Promise<void>;
}

export type ReadGate = ReturnType<typeof createReadGate>;

/**
 * Duty cycle of expensive reads, which SQLite runs on the main thread: an organisation has one at a time, followed by a
 * pause of its duration for each organisation that reads, so that other work gets its turn. `maxWaitingReads` of one
 * organisation wait for each other.
 */
export function createReadGate(maxWaitingReads: number) {
  const queues = new Map<string, ReadQueue>();

  function release(orgId: string, queue: ReadQueue, next: () => void): void {
    queue.length--;
    if (queue.length === 0) queues.delete(orgId);
    next();
  }

  return {
    async run<T>(orgId: string, read: () => Promise<T>): Promise<T> {
      const queue = queues.get(orgId) ?? { length: 0, last: Promise.resolve() };
      if (queue.length >= maxWaitingReads) throw problem.reads_exceeded({ detail: { max: maxWaitingReads } });
      queues.set(orgId, queue);
      queue.length++;
      const { promise, resolve } = Promise.withResolvers<void>();
      const turn = queue.last;
      queue.last = promise;
      await turn;
      const startedAt = performance.now();
      try {
        return await read();
      } finally {
        const pauseMs = Math.min(maxPauseMs, (performance.now() - startedAt) * queues.size);
        setTimeout(release, pauseMs, orgId, queue, resolve).unref();
      }
    },
  };
}

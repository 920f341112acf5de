import { Worker } from 'node:worker_threads';
import { createFairQueue } from '#base/fair-queue.ts';
import { Lru } from '#base/lru.ts';
import { type GuestCall, type GuestOutcome, type GuestSet, maxImages, type SandboxLimits } from './guest.ts';
import type { WorkerJob, WorkerReply } from './sandbox-worker.ts';

export interface WorkerPool {
  /** Runs a call on a worker; rejects when too many calls wait. */
  run(set: IdentifiedSet, call: GuestCall, observer: WorkerCallObserver): Promise<GuestOutcome>;
  close(): Promise<void>;
}

export interface IdentifiedSet extends GuestSet {
  readonly id: number;
}

export interface WorkerCallObserver {
  /** Time that a new worker took to start. */
  onStarted(startMs: number): void;
  /** True where `onEnd` wants the image. */
  readonly wantsImage?: boolean;
  /** The run ended by itself. */
  onEnd?(reply: WorkerReply): void;
}

export interface WorkerPoolOptions {
  readonly limits: SandboxLimits;
  readonly maxWorkers: number;
  readonly maxWaiting: number;
  createOverload(): Error;
}

/** Queue of one organisation, created when there are several. */
interface OwnerQueue {
  calls: number;
  limit(maxRunning: number): ReturnType<typeof createFairQueue>;
}

function createOwnerQueue(maxWaiting: number, createOverload: () => Error): OwnerQueue {
  let queue: ReturnType<typeof createFairQueue> | undefined;
  return {
    calls: 0,
    limit(maxRunning) {
      queue ??= createFairQueue({ maxRunning, maxWaiting }, createOverload);
      return queue;
    },
  };
}

/** Beyond the time slice of a call: the worker is stuck outside the guest and is terminated. */
const graceMs = 1000;
/** Start of a worker: its imports, on a machine that may be busy. Not part of the time of a call. */
const startTimeoutMs = 30_000;

interface PooledWorker {
  readonly worker: Worker;
  /** Sets that it was sent; it keeps as many images. */
  readonly setIds: Lru<number, true>;
  /** Resolves when it takes jobs, has ended, or did not start in time; undefined once it has taken one. */
  starting: Promise<void> | undefined;
}

const waitUntilStarted = (worker: Worker): Promise<void> =>
  new Promise(resolve => {
    const finish = () => {
      clearTimeout(timer);
      worker.off('message', finish).off('error', finish).off('exit', finish);
      resolve();
    };
    const timer = setTimeout(finish, startTimeoutMs);
    worker.once('message', finish).once('error', finish).once('exit', finish);
  });

/** Undefined when the worker ended or had to be ended. */
function request({ worker }: PooledWorker, job: WorkerJob): Promise<WorkerReply | undefined> {
  return new Promise(resolve => {
    const timer = setTimeout(finish, job.call.sliceMs + graceMs);
    const onMessage = (reply: WorkerReply) => finish(reply);
    const onEnd = () => finish();
    function finish(reply?: WorkerReply): void {
      clearTimeout(timer);
      worker.off('message', onMessage).off('error', onEnd).off('exit', onEnd);
      resolve(reply);
    }
    worker.on('message', onMessage).on('error', onEnd).on('exit', onEnd);
    worker.postMessage(job);
  });
}

/**
 * Workers for plugins: a guest that spins or allocates ends at its limits there, and native code that does not end is
 * terminated with its worker, while the traffic thread serves other requests. Calls are taken in round robin over
 * organisations; one of several organisations leaves a worker to the others. While all workers are busy, one more takes
 * a call of a set that has no other: the long calls of one API do not end those of another by their time limit.
 */
export function createWorkerPool({ limits, maxWorkers, maxWaiting, createOverload }: WorkerPoolOptions): WorkerPool {
  const queue = createFairQueue({ maxRunning: maxWorkers, maxWaiting }, createOverload);
  const reserve = createFairQueue({ maxRunning: 1, maxWaiting: 0 }, createOverload);
  /** Running and waiting calls by organisation. */
  const owners = new Map<string, OwnerQueue>();
  const setCalls = createCallCounts();
  const workers = createWorkers(limits);

  function findOwnerQueue(owner: string): OwnerQueue {
    const known = owners.get(owner) ?? createOwnerQueue(maxWaiting, createOverload);
    owners.set(owner, known);
    return known;
  }

  return {
    async run(set, call, observer) {
      const flow = { client: set.owner, account: String(set.id) };
      const own = findOwnerQueue(set.owner);
      own.calls++;
      const isOnly = setCalls.add(set.id) === 1;
      const work = () => workers.run(set, call, observer);
      const runShared = () => queue.run(flow, work);
      try {
        if (isOnly && queue.running === maxWorkers && reserve.running === 0) return await reserve.run(flow, work);
        // With one organisation, or one worker, all of them are its own.
        return await (owners.size === 1 || maxWorkers === 1
          ? runShared()
          : own.limit(maxWorkers - 1).run(flow, runShared));
      } finally {
        setCalls.remove(set.id);
        if (--own.calls === 0) owners.delete(set.owner);
      }
    },
    close: workers.close,
  };
}

/** Running and waiting calls by set. */
function createCallCounts() {
  const counts = new Map<number, number>();
  return {
    /** The number with this call. */
    add(setId: number): number {
      const count = (counts.get(setId) ?? 0) + 1;
      counts.set(setId, count);
      return count;
    },
    remove(setId: number): void {
      const count = counts.get(setId)! - 1;
      if (count === 0) counts.delete(setId);
      else counts.set(setId, count);
    },
  };
}

/** Worker threads, started when all others are busy. */
function createWorkers(limits: SandboxLimits) {
  const idle: PooledWorker[] = [];
  const all = new Set<PooledWorker>();

  function start(): PooledWorker {
    const worker = new Worker(new URL('./sandbox-worker.ts', import.meta.url), { workerData: limits });
    worker.unref();
    const pooled: PooledWorker = { worker, setIds: new Lru(maxImages), starting: waitUntilStarted(worker) };
    all.add(pooled);
    // Without a listener an error would end the process.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      all.delete(pooled);
      if (idle.includes(pooled)) idle.splice(idle.indexOf(pooled), 1);
    });
    return pooled;
  }

  return {
    async run(set: IdentifiedSet, call: GuestCall, observer: WorkerCallObserver): Promise<GuestOutcome> {
      const pooled = idle.pop() ?? start();
      if (pooled.starting) {
        const from = performance.now();
        await pooled.starting;
        pooled.starting = undefined;
        observer.onStarted(performance.now() - from);
      }
      const isHeld = pooled.setIds.get(set.id) === true;
      const job = { setId: set.id, set, call, wantsImage: observer.wantsImage === true };
      let reply = await request(pooled, isHeld ? { ...job, set: undefined } : job);
      if (reply && !reply.outcome) reply = await request(pooled, job);
      if (!reply?.outcome) {
        await pooled.worker.terminate();
        return { kind: 'interrupted' };
      }
      pooled.setIds.set(set.id, true);
      idle.push(pooled);
      observer.onEnd?.(reply);
      return reply.outcome;
    },
    async close(): Promise<void> {
      await Promise.all([...all].map(({ worker }) => worker.terminate()));
    },
  };
}

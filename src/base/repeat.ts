export interface RepeatOptions {
  /** Receives what a run throws; the next run comes at its time all the same. */
  readonly onError: (error: Error) => void;
  /** Runs once at the start too, before the first interval has passed. */
  readonly runsAtStart?: boolean;
  /** Lets the process end while the timer waits. */
  readonly unref?: boolean;
}

export interface RepeatedWork {
  /** Runs at once, or again right after a run in progress; resolves after that run. No effect on a stopped loop. */
  wake(): Promise<void>;
  /** Stops the timer; a run in progress is the last one. The work may stop its own loop. */
  stop(): void;
  /** Stops the timer and waits for a run in progress. */
  close(): Promise<void>;
}

/** Timer loop without overlap: an interval that ends during a run is skipped, so that slow work does not pile up. */
export function every(intervalMs: number, work: () => unknown, options: RepeatOptions): RepeatedWork {
  const timer = setInterval(() => void loop.run(), intervalMs);
  if (options.unref) timer.unref();
  const loop = createLoop(work, options, { onStop: () => clearInterval(timer) });
  if (options.runsAtStart) void loop.run();
  return loop;
}

/** Timer loop with a pause from the end of a run to the next: `pauseMs` is called for each, so that it may back off. */
export function repeat(pauseMs: () => number, work: () => unknown, options: RepeatOptions): RepeatedWork {
  let timer: NodeJS.Timeout | undefined;
  const clear = () => clearTimeout(timer);
  const pause = () => {
    timer = setTimeout(() => void loop.run(), pauseMs());
    if (options.unref) timer.unref();
  };
  const loop = createLoop(work, options, { onStart: clear, onEnd: pause, onStop: clear });
  if (options.runsAtStart) void loop.run();
  else pause();
  return loop;
}

interface LoopTimer {
  /** A run starts. */
  onStart?(): void;
  /** A run has ended and the loop goes on. */
  onEnd?(): void;
  onStop(): void;
}

function createLoop(work: () => unknown, { onError }: RepeatOptions, timer: LoopTimer) {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let isStopped = false;

  /** Starts a run, unless one is in progress. */
  function run(): Promise<void> {
    running ??= runOnce().finally(() => {
      running = undefined;
      if (!isStopped) timer.onEnd?.();
    });
    return running;
  }

  async function runOnce(): Promise<void> {
    timer.onStart?.();
    try {
      await work();
    } catch (error) {
      onError(error as Error);
    }
  }

  async function runAfter(current: Promise<void>): Promise<void> {
    await current;
    next = undefined;
    if (!isStopped) await run();
  }

  function stop(): void {
    isStopped = true;
    timer.onStop();
  }

  return {
    run,
    async wake(): Promise<void> {
      if (isStopped) return;
      if (running) next ??= runAfter(running);
      await (next ?? run());
    },
    stop,
    async close(): Promise<void> {
      stop();
      await running;
    },
  };
}

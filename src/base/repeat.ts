export interface RepeatOptions {
  /** Receives what a run throws; the next run comes at its time all the same. */
  readonly onError: (error: Error) => void;
  /** Runs once at the start too, before the first interval has passed. */
  readonly runsAtStart?: boolean;
  /** Lets the process end while the timer waits. */
  readonly unref?: boolean;
}

export interface RepeatedWork {
  /** Stops the timer and waits for a run in progress. */
  close(): Promise<void>;
}

/** Timer loop without overlap: an interval that ends during a run is skipped, so that slow work does not pile up. */
export function every(intervalMs: number, work: () => unknown, options: RepeatOptions): RepeatedWork {
  const { onError, runsAtStart = false, unref = false } = options;
  let running: Promise<void> | undefined;

  function run(): void {
    running ??= runOnce().finally(() => {
      running = undefined;
    });
  }

  async function runOnce(): Promise<void> {
    try {
      await work();
    } catch (error) {
      onError(error as Error);
    }
  }

  if (runsAtStart) run();
  const timer = setInterval(run, intervalMs);
  if (unref) timer.unref();
  return {
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}

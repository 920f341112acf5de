import type { Log } from '#base/log.ts';

export interface ConnectRetryOptions {
  /** Connects and prepares the database; retried from its beginning. */
  readonly attempt: () => Promise<void>;
  readonly log: Log;
}

const retryIntervalMs = 1000;

/** Retries until the database is available. Logs each distinct reason once. */
export function retryUntilConnected({ attempt, log }: ConnectRetryOptions) {
  let lastReason = '';
  let timer: NodeJS.Timeout | undefined;
  let trying = Promise.resolve();
  let isClosed = false;

  async function tryOnce(): Promise<void> {
    try {
      await attempt();
      log.info('database available, offline mode ended');
    } catch (error) {
      const reason = (error as Error).message;
      if (reason !== lastReason) log.warn({ reason }, 'database unavailable, retrying');
      lastReason = reason;
      if (!isClosed) schedule();
    }
  }

  function schedule(): void {
    timer = setTimeout(() => {
      trying = tryOnce();
    }, retryIntervalMs);
  }
  schedule();

  return {
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      await trying;
    },
  };
}

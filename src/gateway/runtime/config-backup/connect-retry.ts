import type { Log } from '#base/log.ts';

export interface ConnectRetryOptions {
  /** What has to succeed, as a whole, for everything to go on. May be tried again from its beginning. */
  readonly attempt: () => Promise<void>;
  readonly log: Log;
}

const retryIntervalMs = 1000;

/** Tries until the database is there. A reason is told once. */
export function retryUntilConnected({ attempt, log }: ConnectRetryOptions) {
  let lastReason = '';
  let timer: NodeJS.Timeout | undefined;
  let trying = Promise.resolve();
  let isClosed = false;

  async function tryOnce(): Promise<void> {
    try {
      await attempt();
      log.info('the database answers: everything goes on');
    } catch (error) {
      const reason = (error as Error).message;
      if (reason !== lastReason) log.warn({ reason }, 'the database is waited for');
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

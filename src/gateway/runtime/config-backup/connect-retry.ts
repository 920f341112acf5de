import type { Log } from '#base/log.ts';

export interface ArrivalOptions {
  /** What has to succeed, as a whole, for everything to go on. May be tried again from its beginning. */
  readonly attempt: () => Promise<void>;
  readonly log: Log;
}

const tryEveryMs = 1000;

/** Tries until the database is there. A reason is told once. */
export function awaitArrival({ attempt, log }: ArrivalOptions) {
  let told = '';
  let timer: NodeJS.Timeout | undefined;
  let trying = Promise.resolve();
  let closed = false;

  async function turn(): Promise<void> {
    try {
      await attempt();
      log.info('the database answers: everything goes on');
    } catch (error) {
      const reason = (error as Error).message;
      if (reason !== told) log.warn({ reason }, 'the database is waited for');
      told = reason;
      if (!closed) schedule();
    }
  }

  function schedule(): void {
    timer = setTimeout(() => {
      trying = turn();
    }, tryEveryMs);
  }
  schedule();

  return {
    async close(): Promise<void> {
      closed = true;
      clearTimeout(timer);
      await trying;
    },
  };
}

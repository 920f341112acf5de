import type { Log } from '#base/log.ts';
import { type RepeatedWork, repeat } from '#base/repeat.ts';

export interface ConnectRetryOptions {
  /** Connects and prepares the database; retried from its beginning. */
  readonly attempt: () => Promise<void>;
  readonly log: Log;
}

const retryIntervalMs = 1000;

/** Retries until the database is available. Logs each distinct reason once. */
export function retryUntilConnected({ attempt, log }: ConnectRetryOptions): RepeatedWork {
  let lastReason = '';

  async function tryOnce(): Promise<void> {
    await attempt();
    attempts.stop();
    log.info('database available, offline mode ended');
  }

  function onError({ message: reason }: Error): void {
    if (reason !== lastReason) log.warn({ reason }, 'database unavailable, retrying');
    lastReason = reason;
  }

  const attempts = repeat(() => retryIntervalMs, tryOnce, { onError });
  return attempts;
}

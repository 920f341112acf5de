import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { problems } from '#base/problems.ts';
import type { Shared } from './shared.ts';
import { createThreadsShared, type ThreadsShared } from './threads.ts';

const problem = problems('shared', {
  unusable_url: { status: 500, message: 'redis.url cannot be used: {reason}' },
});

/** Shared state by the engine of the settings, with the process's own memory below it. */
export interface SharedEngine {
  readonly shared: Shared;
  /** State shared by the threads of this process; its buffer is passed to them. */
  readonly threads: ThreadsShared;
  close(): Promise<void>;
}

export interface SharedEngineOptions {
  /** Redis URL; empty for this process alone. */
  readonly url: string;
  readonly prefix: string;
  readonly clock: Clock;
  readonly log: Log;
  /** A slower command trips the circuit breaker. */
  readonly timeoutMs: number;
  /** Buffer of the creating thread, in every other thread of the process. */
  readonly buffer?: SharedArrayBuffer;
}

const blobsDegradedMessage = 'Redis rejects cached responses, caching is paused';

/** Errors of several addresses have a code and no message. */
function messageOf(cause: unknown): string | undefined {
  const { message, code } = (cause ?? {}) as NodeJS.ErrnoException;
  return message || code;
}

/** Redis may be unavailable, also at the start: this process then counts locally and logs it. */
export async function openSharedEngine(options: SharedEngineOptions): Promise<SharedEngine> {
  const { url, prefix, clock, log, timeoutMs, buffer } = options;
  const threads = createThreadsShared(buffer ? { buffer } : {});
  if (!url) return { shared: threads, threads, close: () => threads.close() };
  const onState = (state: 'ok' | 'degraded', cause?: unknown) =>
    state === 'ok'
      ? log.info('Redis available, limits are shared')
      : log.warn({ reason: messageOf(cause) }, 'Redis unavailable, limits are counted in this process only');
  try {
    // Loads the driver on first use.
    const { createRedisShared } = await import('./redis.ts');
    const shared = await createRedisShared({
      url,
      prefix,
      local: threads,
      clock,
      onState,
      onBlobsState: (state, cause) =>
        state === 'degraded' && log.warn({ reason: messageOf(cause) }, blobsDegradedMessage),
      commandTimeoutMs: timeoutMs,
    });
    return {
      shared,
      threads,
      async close() {
        await shared.close();
        await threads.close();
      },
    };
  } catch (cause) {
    await threads.close();
    throw problem.unusable_url({ detail: { reason: (cause as Error).message }, cause });
  }
}

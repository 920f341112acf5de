import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { problems } from '#base/problems.ts';
import type { Shared } from './shared.ts';
import { createThreadsShared, type ThreadsShared } from './threads.ts';

const problem = problems('shared', {
  unusable_url: { status: 500, message: 'redis.url cannot be used: {reason}' },
});

/** The engine the settings ask for, with the memory of this process under it. */
export interface SharedEngine {
  readonly shared: Shared;
  /** What the traffic threads of this process share; its buffer is handed to them. */
  readonly threads: ThreadsShared;
  close(): Promise<void>;
}

export interface SharedEngineOptions {
  /** Redis, or empty for this process alone. */
  readonly url: string;
  readonly prefix: string;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a command may take before Redis counts as away. */
  readonly timeoutMs?: number;
  /** The memory of the thread that made it, in every other thread of the process. */
  readonly buffer?: SharedArrayBuffer;
}

const blobsDegradedMessage = 'Redis takes no answers: none are kept for a while';
const messageOf = (cause: unknown) => (cause as Error | undefined)?.message;

/** Redis may be away, at the start too: this process then counts on its own and says so. */
export async function openSharedEngine(options: SharedEngineOptions): Promise<SharedEngine> {
  const { url, prefix, clock, log, timeoutMs, buffer } = options;
  const threads = createThreadsShared(buffer ? { buffer } : {});
  if (!url) return { shared: threads, threads, close: () => threads.close() };
  const logDegraded = (cause?: unknown) =>
    log.warn({ reason: (cause as Error | undefined)?.message }, 'Redis does not answer: limits are counted here alone');
  const onState = (state: 'ok' | 'degraded', cause?: unknown) =>
    state === 'ok' ? log.info('Redis answers: limits are shared') : logDegraded(cause);
  try {
    // The driver is loaded by those who use it.
    const { createRedisShared: redisShared } = await import('./redis.ts');
    const shared = await redisShared({
      url,
      prefix,
      local: threads,
      clock,
      onState,
      onBlobsState: (state, cause) =>
        state === 'degraded' && log.warn({ reason: messageOf(cause) }, blobsDegradedMessage),
      ...(timeoutMs ? { commandTimeoutMs: timeoutMs } : {}),
    });
    if (shared.state() === 'degraded') logDegraded();
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

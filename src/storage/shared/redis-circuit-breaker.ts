import { withTimeout } from './redis-connection.ts';

/** Stands in front of something that may be away, so that only the first caller waits in vain. */
export interface RedisCircuitBreaker {
  /** False while blown. */
  isClosed(): boolean;
  /** Blows it: what it guards failed. */
  trip(cause: unknown): void;
  /** Tries at once whether it can be mended, rather than at the next turn. */
  probeNow(): void;
  /** Resolves when it is whole for the first time, or after the wait. */
  waitUntilClosed(timeoutMs: number): Promise<void>;
  stop(): void;
}

export interface RedisCircuitBreakerOptions {
  /** Succeeds when what is guarded is there again. */
  probe(): Promise<void>;
  /** Called after the fuse was mended. */
  onClosed(): void;
  onState?: ((state: 'ok' | 'degraded', cause?: unknown) => void) | undefined;
}

const minProbeIntervalMs = 50;
const maxProbeIntervalMs = 1000;

/** It begins blown, and is mended by the first probe that succeeds. */
export function createRedisCircuitBreaker({
  probe,
  onClosed,
  onState,
}: RedisCircuitBreakerOptions): RedisCircuitBreaker {
  const firstClosed = Promise.withResolvers<void>();
  let state: 'ok' | 'degraded' = 'degraded';
  let isStopped = false;
  let isProbing = false;
  let delayMs = minProbeIntervalMs;
  let timer: NodeJS.Timeout | undefined;

  function schedule(): void {
    clearTimeout(timer);
    if (isStopped) return;
    timer = setTimeout(() => void runProbe(), delayMs);
    timer.unref();
    delayMs = Math.min(delayMs * 2, maxProbeIntervalMs);
  }

  async function runProbe(): Promise<void> {
    if (isProbing || isStopped || state === 'ok') return;
    isProbing = true;
    try {
      await probe();
      if (!isStopped) closeCircuit();
    } catch {
      // Still away, as was said when the fuse blew.
      schedule();
    } finally {
      isProbing = false;
    }
  }

  function closeCircuit(): void {
    state = 'ok';
    delayMs = minProbeIntervalMs;
    firstClosed.resolve();
    onState?.(state);
    onClosed();
  }

  function trip(cause: unknown): void {
    if (isStopped || state === 'degraded') return;
    state = 'degraded';
    onState?.(state, cause);
    schedule();
  }

  function stop(): void {
    isStopped = true;
    clearTimeout(timer);
  }

  schedule();
  return {
    isClosed: () => state === 'ok',
    trip,
    probeNow: () => void runProbe(),
    waitUntilClosed: waitMs => withTimeout(firstClosed.promise, waitMs).catch(() => undefined),
    stop,
  };
}

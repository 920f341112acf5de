import { withTimeout } from './redis-timeout.ts';

/**
 * Circuit breaker for Redis: after one failure calls fail at once, while a probe retries with backoff (50 ms to 1 s).
 */
export interface RedisCircuitBreaker {
  /** True while calls may pass. */
  isClosed(): boolean;
  /** Opens the circuit after a failure. */
  trip(cause: unknown): void;
  /** Probes at once rather than after the backoff. */
  probeNow(): void;
  /** Resolves when the circuit closes for the first time, or after the timeout. */
  waitUntilClosed(timeoutMs: number): Promise<void>;
  stop(): void;
}

export interface RedisCircuitBreakerOptions {
  /** Resolves when Redis is available again. */
  probe(): Promise<void>;
  /** Called after the circuit closed. */
  onClosed(): void;
  onState?: ((state: 'ok' | 'degraded', cause?: unknown) => void) | undefined;
}

const minProbeIntervalMs = 50;
const maxProbeIntervalMs = 1000;

/** Starts open; the first successful probe closes it. */
export function createRedisCircuitBreaker(options: RedisCircuitBreakerOptions): RedisCircuitBreaker {
  const { probe, onClosed, onState } = options;
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
      // Still unavailable, which was reported when the breaker tripped.
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

  schedule();
  return {
    isClosed: () => state === 'ok',
    trip,
    probeNow: () => void runProbe(),
    waitUntilClosed: timeoutMs => withTimeout(firstClosed.promise, timeoutMs).catch(() => undefined),
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

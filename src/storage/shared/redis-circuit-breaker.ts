import { type RepeatedWork, repeat } from '#base/repeat.ts';
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
  /** Cause of the last failure. */
  lastCause(): unknown;
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
  let lastCause: unknown;
  let probes = startProbes();

  /** Probes until one succeeds. */
  function startProbes(): RepeatedWork {
    const pauseMs = createBackoff(minProbeIntervalMs, maxProbeIntervalMs);
    // A failed probe means still unavailable, which was reported when the breaker tripped.
    return repeat(pauseMs, runProbe, { onError: () => undefined, unref: true });
  }

  async function runProbe(): Promise<void> {
    await probe();
    if (!isStopped) closeCircuit();
  }

  function closeCircuit(): void {
    probes.stop();
    state = 'ok';
    firstClosed.resolve();
    onState?.(state);
    onClosed();
  }

  function trip(cause: unknown): void {
    lastCause = cause;
    if (isStopped || state === 'degraded') return;
    state = 'degraded';
    onState?.(state, cause);
    probes = startProbes();
  }

  return {
    isClosed: () => state === 'ok',
    trip,
    lastCause: () => lastCause,
    probeNow: () => void probes.wake(),
    waitUntilClosed: timeoutMs => withTimeout(firstClosed.promise, timeoutMs).catch(() => undefined),
    stop() {
      isStopped = true;
      probes.stop();
    },
  };
}

/** Exponential backoff: each call doubles the pause, up to the maximum. */
function createBackoff(minMs: number, maxMs: number): () => number {
  let nextMs = minMs;
  return () => {
    const pauseMs = nextMs;
    nextMs = Math.min(nextMs * 2, maxMs);
    return pauseMs;
  };
}

import type { Clock } from '#base/clock.ts';
import type { LocalCounters } from '#storage/shared/threads.ts';
import type { Exchange } from '../pipeline/exchange.ts';

export interface BreakerOptions {
  /** Prefix of its counters, which all threads of the process share. */
  readonly name: string;
  /** Failure ratio that opens it. */
  readonly threshold: number;
  /** Requests in the window before it may open. */
  readonly minSamples: number;
  readonly openMs: number;
  /** Half-open: lets single probes through while open. */
  readonly isHalfOpenEnabled: boolean;
  onTrip(call: Exchange): void;
  onReset(): void;
}

/** Circuit breaker: rejects requests to an upstream that fails too often. */
export interface CircuitBreaker {
  allows(call: Exchange): boolean;
  recordSuccess(call: Exchange): void;
  recordFailure(call: Exchange): void;
}

/** Sliding window of the failure ratio. */
const windowMs = 10_000;
/** Delay of the first half-open probe; each failed probe lengthens the next delay. */
const firstProbeDelayMs = 500;
const probeBackoffFactor = 1.5;
/**
 * Each opening is reset once, by the thread that sees it first; the marker outlives the time all threads need to see
 * it.
 */
const resetMarkerTtlMs = 60_000;

const failureWindow = { limit: Number.POSITIVE_INFINITY, periodMs: windowMs } as const;

export function createCircuitBreaker(
  options: BreakerOptions,
  { processCounters, clock }: { processCounters: LocalCounters; clock: Clock },
): CircuitBreaker {
  const { threshold, minSamples, isHalfOpenEnabled, onTrip, onReset } = options;
  const openMs = Math.max(1, options.openMs);
  const name = (what: string) => `breaker ${what} ${options.name}`;
  const [open, calls, failures, probe, probeCount] = ['open', 'calls', 'failures', 'probe', 'probed'].map(name) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const openWindow = { limit: 1, periodMs: openMs } as const;
  const probeWindow = { limit: Number.POSITIVE_INFINITY, periodMs: openMs } as const;
  /** Probes in flight, with the end of the opening they may cut short. */
  const probesInFlight = new WeakMap<Exchange, number>();
  let timer: NodeJS.Timeout | undefined;

  function clearCounts(): void {
    processCounters.reset(calls);
    processCounters.reset(failures);
  }

  function reset(endsAtMs: number): void {
    const resetWindow = { limit: 1, periodMs: resetMarkerTtlMs };
    if (!processCounters.take(`${name('end')} ${endsAtMs}`, resetWindow, clock.now()).allowed) return;
    processCounters.reset(open);
    clearCounts();
    onReset();
  }

  function trip(call: Exchange): void {
    const now = clock.now();
    const { allowed, resetsAtMs } = processCounters.take(open, openWindow, now);
    if (!allowed) return;
    clearCounts();
    processCounters.reset(probeCount);
    processCounters.reset(probe);
    processCounters.take(probe, { limit: 1, periodMs: firstProbeDelayMs }, now);
    clearTimeout(timer);
    timer = setTimeout(() => reset(resetsAtMs), openMs).unref();
    onTrip(call);
  }

  return {
    allows(call) {
      const now = clock.now();
      const { allowed, resetsAtMs } = processCounters.peek(open, openWindow, now);
      if (allowed) return true;
      if (!isHalfOpenEnabled) return false;
      const failedProbes = processCounters.peek(probeCount, probeWindow, now).used;
      const periodMs = Math.min(openMs, firstProbeDelayMs * probeBackoffFactor ** failedProbes);
      if (!processCounters.take(probe, { limit: 1, periodMs }, now).allowed) return false;
      processCounters.take(probeCount, probeWindow, now);
      probesInFlight.set(call, resetsAtMs);
      return true;
    },
    recordSuccess(call) {
      const now = clock.now();
      processCounters.slide(calls, failureWindow, now);
      const endsAtMs = probesInFlight.get(call);
      if (endsAtMs !== undefined && now < endsAtMs) reset(endsAtMs);
    },
    recordFailure(call) {
      const now = clock.now();
      const total = processCounters.slide(calls, failureWindow, now).used;
      const failed = processCounters.slide(failures, failureWindow, now).used;
      if (!probesInFlight.has(call) && total >= minSamples && failed >= threshold * total) trip(call);
    },
  };
}

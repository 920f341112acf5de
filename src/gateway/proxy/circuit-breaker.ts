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

interface BreakerServices {
  readonly processCounters: LocalCounters;
  readonly clock: Clock;
}

export function createCircuitBreaker(options: BreakerOptions, services: BreakerServices): CircuitBreaker {
  const { threshold, minSamples, isHalfOpenEnabled, onTrip, onReset } = options;
  const { clock } = services;
  const openMs = Math.max(1, options.openMs);
  const state = createBreakerState(options.name, openMs, services.processCounters);
  /** Probes in flight, with the end of the opening they may cut short. */
  const probesInFlight = new WeakMap<Exchange, number>();
  let timer: NodeJS.Timeout | undefined;

  function reset(endsAtMs: number): void {
    if (state.tryClose(endsAtMs, clock.now())) onReset();
  }

  function trip(call: Exchange): void {
    const { allowed, resetsAtMs } = state.tryOpen(clock.now());
    if (!allowed) return;
    clearTimeout(timer);
    timer = setTimeout(() => reset(resetsAtMs), openMs).unref();
    onTrip(call);
  }

  return {
    allows(call) {
      const now = clock.now();
      const { allowed, resetsAtMs } = state.peekOpen(now);
      if (allowed) return true;
      if (!isHalfOpenEnabled || !state.tryProbe(now)) return false;
      probesInFlight.set(call, resetsAtMs);
      return true;
    },
    recordSuccess(call) {
      const now = clock.now();
      state.countRequest(now);
      const endsAtMs = probesInFlight.get(call);
      if (endsAtMs !== undefined && now < endsAtMs) reset(endsAtMs);
    },
    recordFailure(call) {
      const now = clock.now();
      const total = state.countRequest(now);
      const failed = state.countFailure(now);
      if (!probesInFlight.has(call) && total >= minSamples && failed >= threshold * total) trip(call);
    },
  };
}

/** State of a breaker in the counters of the process, so that all threads share it. */
function createBreakerState(breaker: string, openMs: number, counters: LocalCounters) {
  const name = (what: string) => `breaker ${what} ${breaker}`;
  const [open, requests, failures] = [name('open'), name('calls'), name('failures')];
  const [probe, probeCount] = [name('probe'), name('probed')];
  const openWindow = { limit: 1, periodMs: openMs } as const;
  const probeWindow = { limit: Number.POSITIVE_INFINITY, periodMs: openMs } as const;

  function clearCounts(): void {
    counters.reset(requests);
    counters.reset(failures);
  }

  return {
    /** `allowed` while the breaker is closed. */
    peekOpen: (now: number) => counters.peek(open, openWindow, now),
    countRequest: (now: number) => counters.slide(requests, failureWindow, now).used,
    countFailure: (now: number) => counters.slide(failures, failureWindow, now).used,
    /** `allowed` for the one thread that opens it. */
    tryOpen(now: number) {
      const opened = counters.take(open, openWindow, now);
      if (!opened.allowed) return opened;
      clearCounts();
      counters.reset(probeCount);
      counters.reset(probe);
      counters.take(probe, { limit: 1, periodMs: firstProbeDelayMs }, now);
      return opened;
    },
    /** True for the one thread that closes this opening. */
    tryClose(endsAtMs: number, now: number): boolean {
      const resetWindow = { limit: 1, periodMs: resetMarkerTtlMs };
      if (!counters.take(`${name('end')} ${endsAtMs}`, resetWindow, now).allowed) return false;
      counters.reset(open);
      clearCounts();
      return true;
    },
    /** True when a probe is due, with exponential backoff. */
    tryProbe(now: number): boolean {
      const failedProbes = counters.peek(probeCount, probeWindow, now).used;
      const periodMs = Math.min(openMs, firstProbeDelayMs * probeBackoffFactor ** failedProbes);
      if (!counters.take(probe, { limit: 1, periodMs }, now).allowed) return false;
      counters.take(probeCount, probeWindow, now);
      return true;
    },
  };
}

import type { Clock } from '#base/clock.ts';
import type { LocalCounters } from '#storage/shared/threads.ts';
import type { Exchange } from '../pipeline/exchange.ts';

export interface BreakerRules {
  /** Names its counters: all threads of the process count together. */
  readonly name: string;
  /** The share of failures that opens it. */
  readonly threshold: number;
  /** Calls that have to be counted before it opens. */
  readonly samples: number;
  readonly openMs: number;
  /** Lets single calls through while it is open. */
  readonly probes: boolean;
  onTrip(call: Exchange): void;
  onReset(): void;
}

/** Keeps calls away from an upstream that fails too often. */
export interface Breaker {
  /** Whether the call may go on. */
  admits(call: Exchange): boolean;
  succeeded(call: Exchange): void;
  failed(call: Exchange): void;
}

/** How far back calls are counted. */
const countedMs = 10_000;
/** The first single call is let through after this; each one that fails makes the wait for the next longer. */
const firstProbeMs = 500;
const probeGrowth = 1.5;
/** Each opening is ended once, by whoever sees it first; that is remembered for longer than it takes all to see it. */
const endRememberedMs = 60_000;

const counting = { limit: Number.POSITIVE_INFINITY, periodMs: countedMs } as const;

export function breakerOf(
  rules: BreakerRules,
  { processCounters, clock }: { processCounters: LocalCounters; clock: Clock },
): Breaker {
  const { threshold, samples, probes, onTrip, onReset } = rules;
  const openMs = Math.max(1, rules.openMs);
  const name = (what: string) => `breaker ${what} ${rules.name}`;
  const [open, calls, failures, probe, probed] = ['open', 'calls', 'failures', 'probe', 'probed'].map(name) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const opening = { limit: 1, periodMs: openMs } as const;
  const probing = { limit: Number.POSITIVE_INFINITY, periodMs: openMs } as const;
  /** Single calls that are under way, with the end of the opening they try to end early. */
  const trying = new WeakMap<Exchange, number>();
  let timer: NodeJS.Timeout | undefined;

  function forgetCounts(): void {
    processCounters.reset(calls);
    processCounters.reset(failures);
  }

  function end(endsAtMs: number): void {
    const ending = { limit: 1, periodMs: endRememberedMs };
    if (!processCounters.take(`${name('end')} ${endsAtMs}`, ending, clock.now()).allowed) return;
    processCounters.reset(open);
    forgetCounts();
    onReset();
  }

  function trip(call: Exchange): void {
    const now = clock.now();
    const { allowed, resetsAtMs } = processCounters.take(open, opening, now);
    if (!allowed) return;
    forgetCounts();
    processCounters.reset(probed);
    processCounters.reset(probe);
    processCounters.take(probe, { limit: 1, periodMs: firstProbeMs }, now);
    clearTimeout(timer);
    timer = setTimeout(() => end(resetsAtMs), openMs).unref();
    onTrip(call);
  }

  return {
    admits(call) {
      const now = clock.now();
      const { allowed, resetsAtMs } = processCounters.peek(open, opening, now);
      if (allowed) return true;
      if (!probes) return false;
      const failed = processCounters.peek(probed, probing, now).used;
      const periodMs = Math.min(openMs, firstProbeMs * probeGrowth ** failed);
      if (!processCounters.take(probe, { limit: 1, periodMs }, now).allowed) return false;
      processCounters.take(probed, probing, now);
      trying.set(call, resetsAtMs);
      return true;
    },
    succeeded(call) {
      const now = clock.now();
      processCounters.slide(calls, counting, now);
      const endsAtMs = trying.get(call);
      if (endsAtMs !== undefined && now < endsAtMs) end(endsAtMs);
    },
    failed(call) {
      const now = clock.now();
      const all = processCounters.slide(calls, counting, now).used;
      const bad = processCounters.slide(failures, counting, now).used;
      if (!trying.has(call) && all >= samples && bad >= threshold * all) trip(call);
    },
  };
}

import type { Clock } from '#base/clock.ts';
import { createFailureCounter } from '#base/failure-counter.ts';
import { problem } from '../problems.ts';

const maxCallsPerMinute = 60;
const maxConcurrentPerVisitor = 4;
/** Below the concurrency limit of the outbound client, which other parts of the product use too. */
const maxConcurrent = 30;
const maxVisitors = 20_000;

export type TryLimits = ReturnType<typeof createTryLimits>;

/** Limits of calls from the reference: of a visitor per minute and at once, and of all visitors at once. */
export function createTryLimits(clock: Clock) {
  const calls = createFailureCounter({ maxFailures: maxCallsPerMinute, windowMs: 60_000, maxKeys: maxVisitors }, clock);
  const inProgress = new Map<string, number>();
  let total = 0;
  return {
    async run<T>(visitor: string, call: () => Promise<T>): Promise<T> {
      if (calls.isOverLimit(visitor))
        throw problem.try_limited({ detail: { seconds: calls.retryAfterSeconds(visitor) } });
      const running = inProgress.get(visitor) ?? 0;
      if (running >= maxConcurrentPerVisitor || total >= maxConcurrent) throw problem.try_busy();
      calls.record(visitor);
      inProgress.set(visitor, running + 1);
      total++;
      try {
        return await call();
      } finally {
        total--;
        const left = inProgress.get(visitor)! - 1;
        if (left > 0) inProgress.set(visitor, left);
        else inProgress.delete(visitor);
      }
    },
  };
}

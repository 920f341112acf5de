import { getHeapStatistics } from 'node:v8';
import type { ThreadState } from './metrics-report.ts';

/**
 * Event loop lag: called at a fixed interval, a late call shows how long the thread was blocked. Returns the state
 * every `reportEvery` calls.
 */
export function createThreadSampler(intervalMs: number, reportEvery: number): () => ThreadState | undefined {
  let samples = 0;
  let expectedAt = performance.now() + intervalMs;
  let lagMs = 0;
  let utilization = performance.eventLoopUtilization();
  return () => {
    const now = performance.now();
    lagMs = Math.max(lagMs, now - expectedAt);
    expectedAt = now + intervalMs;
    if (++samples % reportEvery !== 0) return undefined;
    const last = utilization;
    utilization = performance.eventLoopUtilization();
    const state = {
      lagSeconds: lagMs / 1000,
      heapBytes: getHeapStatistics().used_heap_size,
      utilization: performance.eventLoopUtilization(utilization, last).utilization,
    };
    lagMs = 0;
    return state;
  };
}

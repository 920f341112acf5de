import { setImmediate } from 'node:timers/promises';

/**
 * Time slices of long work on an event loop. `pauseIfDue` returns a promise where the slice is used up: it resolves after
 * the events that wait meanwhile, and starts the next slice.
 */
export function createTimeSlices(maxSliceMs: number, nowMs = () => performance.now()) {
  let startMs = nowMs();

  async function pause(): Promise<void> {
    await setImmediate();
    startMs = nowMs();
  }

  return {
    pauseIfDue: (): Promise<void> | undefined => (nowMs() - startMs < maxSliceMs ? undefined : pause()),
  };
}

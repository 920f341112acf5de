import type { Clock } from '#base/clock.ts';

/** Wrong secrets in a second, and looks at secrets at once, on one thread: guessing at this speed takes for ever. */
const wrongASecond = 10;
const atOnce = 16;

/** Lets secrets be tried, as long as not too many were wrong. */
export function attemptLimit(clock: Clock) {
  let second = 0;
  let wrong = 0;
  let underway = 0;
  return async (isRight: () => Promise<boolean>): Promise<boolean> => {
    const now = Math.floor(clock.now() / 1000);
    if (now !== second) {
      second = now;
      wrong = 0;
    }
    if (wrong >= wrongASecond || underway >= atOnce) return false;
    underway++;
    try {
      const right = await isRight();
      if (!right) wrong++;
      return right;
    } finally {
      underway--;
    }
  };
}

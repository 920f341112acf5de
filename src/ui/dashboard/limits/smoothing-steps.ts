import type { Limits } from './limits.ts';

export interface SmoothingStep {
  /** Seconds after the first request. */
  readonly second: number;
  /** Requests that are allowed from then on. */
  readonly allowance: number;
}

/** More steps than a small chart has pixels for are drawn as the first ones and the last. */
const maxDrawnSteps = 60;

export interface SmoothingCourse {
  readonly steps: readonly SmoothingStep[];
  /** Number of all steps up to the rate. */
  readonly count: number;
}

/** Fastest rise of the allowance from the threshold to the rate; undefined without smoothing that has an effect. */
export function listSmoothingSteps({ rate = 0, smoothing }: Limits): SmoothingCourse | undefined {
  if (!smoothing?.enabled || rate <= 0) return undefined;
  const { threshold = 0, step = 0, delay = 0 } = smoothing;
  if (threshold <= 0 || step <= 0 || delay <= 0 || threshold >= rate) return undefined;
  const count = Math.ceil((rate - threshold) / step);
  const drawn = Math.min(count, maxDrawnSteps);
  const steps = Array.from({ length: drawn + 1 }, (_, place) => {
    const at = place === drawn ? count : place;
    return { second: at * delay, allowance: Math.min(rate, threshold + at * step) };
  });
  return { steps, count };
}

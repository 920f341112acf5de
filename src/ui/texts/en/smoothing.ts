import { pluralize } from '../pluralize.ts';

/** Texts of rate limit smoothing, loaded with the limits. */
export const smoothingTexts = {
  title: 'Rate smoothing',
  about: (threshold: string, step: string, delay: string, rate: string) =>
    `Begins with ${threshold} and rises by ${step}, at most once in ${delay}, while requests are near the limit, ` +
    `up to ${rate}. It falls in the same steps.`,
  reaches: (steps: number, span: string) =>
    `The full rate is reached after ${pluralize(steps, 'step')}, ${span} at least.`,
} as const;

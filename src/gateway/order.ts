import type { Step } from './step.ts';
import { unsupported } from './steps/unsupported.ts';

/**
 * All steps, in the order a call meets them, each with the reason for its place. A step that has nothing to do for a
 * definition is not in that definition's chain.
 */
export interface Place {
  readonly step: Step;
  readonly why: string;
}

export const order: readonly Place[] = [
  { step: unsupported, why: 'An API that cannot be served as it is written is not served at all.' },
];

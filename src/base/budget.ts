/** Bounds of one run of an interpreter. */
export interface BudgetBounds {
  readonly maxSteps: number;
  /** Nesting of calls, and of the values that are walked. */
  readonly maxDepth: number;
  /** Length of any text that is made. */
  readonly maxBytes: number;
}

export type BudgetLimit = 'steps' | 'depth' | 'bytes';

/**
 * Budget of one run of an interpreter: bounded steps, depth and text, so that no program of a tenant holds up the
 * thread it runs in. Interpreters charge for work before they do it. Made once for each run, and of a fixed shape:
 * `spend` runs for every node.
 */
export abstract class Budget<B extends BudgetBounds = BudgetBounds> {
  readonly bounds: B;
  #stepsLeft: number;
  #depth = 0;

  constructor(bounds: B) {
    this.bounds = bounds;
    this.#stepsLeft = bounds.maxSteps;
  }

  /** The error that ends the run, in the words of the language. */
  protected abstract createLimitError(limit: BudgetLimit): Error;

  spend(steps: number): void {
    this.#stepsLeft -= steps;
    // The negated comparison also fails a cost that is NaN.
    if (!(this.#stepsLeft >= 0)) throw this.createLimitError('steps');
  }

  checkDepth(depth: number): void {
    if (depth > this.bounds.maxDepth) throw this.createLimitError('depth');
  }

  /** Rejects text that is too long for any result. */
  checkTextLength(characters: number): void {
    if (!(characters <= this.bounds.maxBytes)) throw this.createLimitError('bytes');
  }

  enterCall(): void {
    this.checkDepth(++this.#depth);
  }

  leaveCall(): void {
    this.#depth--;
  }
}

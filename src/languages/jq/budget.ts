import { Budget, type BudgetBounds, type BudgetLimit } from '#base/budget.ts';
import { JqError } from './error.ts';

/** Bounds of one run of a filter. */
export interface JqBounds extends BudgetBounds {
  /** Results after which the run ends. */
  readonly maxOutputs: number;
}

export const defaultJqBounds: JqBounds = {
  maxSteps: 200_000,
  maxOutputs: 10_000,
  maxDepth: 200,
  maxBytes: 10_485_760,
};

/** Members that cost one step to visit or copy. */
const membersPerStep = 4;
/** Characters that cost one step. */
const charactersPerStep = 128;
/** Characters that cost one step where each is handled on its own. */
const charactersPerScanStep = 64;
/** Nodes that may be open for each call that is. */
const nodesPerCall = 12;

/** Budget of one run of a filter. */
export class JqBudget extends Budget<JqBounds> {
  #nesting = 0;

  protected createLimitError(limit: BudgetLimit): JqError {
    const { maxSteps, maxDepth, maxBytes } = this.bounds;
    if (limit === 'steps') return new JqError(`more than ${maxSteps} steps`, 0, true);
    return new JqError(limit === 'depth' ? `deeper than ${maxDepth} levels` : `more than ${maxBytes} bytes`, 0, true);
  }

  /** Charges for members before they are copied. */
  chargeCopy(members: number): void {
    this.spend(members / membersPerStep);
  }

  /** Charges for one member of a value that is walked, at the given depth. */
  visit(depth: number): void {
    this.checkDepth(depth);
    this.spend(1 / membersPerStep);
  }

  /** Charges for text that is read. */
  chargeText(characters: number): void {
    this.spend(characters / charactersPerStep);
  }

  /** Charges for text that is handled character by character. */
  chargeScan(characters: number): void {
    this.spend(characters / charactersPerScanStep);
  }

  /** Checks and charges text before it is made, so that text beyond the bound is never made. */
  reserveText(characters: number): void {
    this.checkTextLength(characters);
    this.chargeText(characters);
  }

  enterNode(): void {
    if (++this.#nesting > this.bounds.maxDepth * nodesPerCall) throw this.createLimitError('depth');
  }

  leaveNode(): void {
    this.#nesting--;
  }
}

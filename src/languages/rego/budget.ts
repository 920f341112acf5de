import { Budget, type BudgetBounds, type BudgetLimit } from '#base/budget.ts';
import { RegoError } from './error.ts';

export const defaultRegoBounds: BudgetBounds = { maxSteps: 200_000, maxDepth: 50, maxBytes: 100_000 };

/** Characters that cost one step. */
const charactersPerStep = 128;
/** Characters that cost one step where each is handled on its own. */
const charactersPerScanStep = 64;

/** Budget of one evaluation of a module. */
export class RegoBudget extends Budget {
  protected createLimitError(limit: BudgetLimit): RegoError {
    const { maxSteps, maxDepth, maxBytes } = this.bounds;
    if (limit === 'steps') return new RegoError(`more than ${maxSteps} steps`);
    return new RegoError(limit === 'depth' ? `deeper than ${maxDepth} calls` : `more than ${maxBytes} bytes of text`);
  }

  chargeText(characters: number): void {
    this.spend(characters / charactersPerStep);
  }

  /** Charges for text that is handled character by character. */
  chargeScan(characters: number): void {
    this.spend(characters / charactersPerScanStep);
  }

  /** Checks and charges text before it is built. */
  reserveText(characters: number): void {
    this.checkTextLength(characters);
    this.chargeText(characters);
  }
}

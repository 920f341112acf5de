import { Budget, type BudgetBounds, type BudgetLimit } from '#base/budget.ts';
import { TemplateError } from './error.ts';

/** Bounds of one rendering; `maxBytes` is the size of the output. */
export type TemplateBounds = BudgetBounds;

export const defaultTemplateBounds: TemplateBounds = { maxSteps: 200_000, maxBytes: 4 * 1024 * 1024, maxDepth: 100 };

/** Characters that cost one step to read or write. */
const charactersPerStep = 256;
/** Characters that cost one step where each is handled on its own. */
const charactersPerScanStep = 16;
/** Control structures and parentheses that may be open for each template call that is. */
const nodesPerCall = 10;

/** Budget of one rendering. */
export class TemplateBudget extends Budget<TemplateBounds> {
  #outputBytesLeft: number;
  #nesting = 0;

  constructor(bounds: TemplateBounds) {
    super(bounds);
    this.#outputBytesLeft = bounds.maxBytes;
  }

  protected createLimitError(limit: BudgetLimit): TemplateError {
    const { maxSteps, maxDepth, maxBytes } = this.bounds;
    if (limit === 'steps') return new TemplateError(`more than ${maxSteps} steps`, 0, true);
    if (limit === 'depth') return new TemplateError(`deeper than ${maxDepth} levels`, 0, true);
    return new TemplateError(`more than ${maxBytes} bytes of text`, 0, true);
  }

  /** Charges for text that is read. */
  chargeText(characters: number): void {
    this.spend(Math.ceil(characters / charactersPerStep));
  }

  /** Charges for text that is handled character by character. */
  chargeScan(characters: number): void {
    this.spend(Math.ceil(characters / charactersPerScanStep));
  }

  /** Checks and charges text before it is made, so that text beyond the bound is never made. */
  reserveText(characters: number): void {
    this.checkTextLength(characters);
    this.chargeText(characters);
  }

  chargeOutput(bytes: number): void {
    this.#outputBytesLeft -= bytes;
    if (this.#outputBytesLeft < 0) throw this.createLimitError('bytes');
  }

  enterNode(): void {
    if (++this.#nesting > this.bounds.maxDepth * nodesPerCall) throw this.createLimitError('depth');
  }

  leaveNode(): void {
    this.#nesting--;
  }

  /** Charges for one member of a value that is walked, at the given depth. */
  visit(depth: number): void {
    this.checkDepth(depth);
    this.spend(1);
  }
}

/** Text built within the budget: each part is charged as it is added, since one shared part may be added many times. */
export class BudgetedText {
  readonly #budget: TemplateBudget;
  readonly #parts: string[] = [];
  #length = 0;

  constructor(budget: TemplateBudget) {
    this.#budget = budget;
  }

  add(part: string): void {
    this.#length += part.length;
    this.#budget.chargeText(part.length);
    this.#budget.checkTextLength(this.#length);
    this.#parts.push(part);
  }

  toString(): string {
    return this.#parts.join('');
  }
}

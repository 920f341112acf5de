import { TemplateError } from './error.ts';

/** How much one rendering may do. */
export interface TemplateBounds {
  readonly maxSteps: number;
  readonly maxBytes: number;
  /** How deep templates may call each other, and how deep the values they walk may be. */
  readonly maxDepth: number;
}

export const defaultTemplateBounds: TemplateBounds = { maxSteps: 200_000, maxBytes: 4 * 1024 * 1024, maxDepth: 100 };

/** Characters that are worth one step to read or write. */
const charactersPerStep = 256;
/** Characters that are worth one step where each is looked at by itself. */
const charactersPerScanStep = 16;
/** Control structures and parentheses that may be open for each template that is. */
const nestingPerDepth = 10;

/** What is left of the bounds while a template is rendered. Everything that takes time or room is paid for here. */
export class TemplateBudget {
  readonly bounds: TemplateBounds;
  #steps: number;
  #outputBytes: number;
  #nesting = 0;
  #depth = 0;

  constructor(bounds: TemplateBounds) {
    this.bounds = bounds;
    this.#steps = bounds.maxSteps;
    this.#outputBytes = bounds.maxBytes;
  }

  spend(steps: number): void {
    this.#steps -= steps;
    // Written so that a cost that is not a number is too much as well.
    if (!(this.#steps >= 0)) throw new TemplateError(`more than ${this.bounds.maxSteps} steps`, 0, true);
  }

  /** Pays for text that is read. */
  chargeText(characters: number): void {
    this.spend(Math.ceil(characters / charactersPerStep));
  }

  /** Pays for text that is worked on character by character. */
  chargeScan(characters: number): void {
    this.spend(Math.ceil(characters / charactersPerScanStep));
  }

  /** Refuses text that is too long for any output. */
  checkTextLength(characters: number): void {
    if (!(characters <= this.bounds.maxBytes)) throw this.#tooLong();
  }

  /** Pays for text before it is made, so that it is not made when it is too long. */
  reserveText(characters: number): void {
    this.checkTextLength(characters);
    this.chargeText(characters);
  }

  chargeOutput(bytes: number): void {
    this.#outputBytes -= bytes;
    if (this.#outputBytes < 0) throw this.#tooLong();
  }

  enterNode(): void {
    if (++this.#nesting > this.bounds.maxDepth * nestingPerDepth) throw this.#tooDeep();
  }

  leaveNode(): void {
    this.#nesting--;
  }

  enterCall(): void {
    if (++this.#depth > this.bounds.maxDepth) throw this.#tooDeep();
  }

  leaveCall(): void {
    this.#depth--;
  }

  /** One member of a value that is walked, at the given depth. */
  visit(depth: number): void {
    if (depth > this.bounds.maxDepth) throw this.#tooDeep();
    this.spend(1);
  }

  #tooLong(): TemplateError {
    return new TemplateError(`more than ${this.bounds.maxBytes} bytes of text`, 0, true);
  }

  #tooDeep(): TemplateError {
    return new TemplateError(`deeper than ${this.bounds.maxDepth} levels`, 0, true);
  }
}

/** Text from parts, each paid for as it comes: the whole may be one shared part many times over. */
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

import { JqError } from './error.ts';

/** How much one run may do. */
export interface JqBounds {
  readonly maxSteps: number;
  /** Results after which the run ends. */
  readonly maxOutputs: number;
  /** How deep functions may call each other, and how deep the values that are walked may be. */
  readonly depth: number;
  /** The longest text that is made, that of a result included. */
  readonly maxBytes: number;
}

export const defaultJqBounds: JqBounds = { maxSteps: 200_000, maxOutputs: 10_000, depth: 200, maxBytes: 10_485_760 };

/** Members of a value that are worth one step where they are only looked at or copied. */
const membersPerStep = 4;
/** Characters that are worth one step. */
const charactersPerStep = 128;
/** Parts of a filter that may be open for each function that is. */
const nestingPerDepth = 12;

/** What is left of the bounds during a run. Everything that takes time or room is paid for here. */
export class JqBudget {
  readonly bounds: JqBounds;
  #steps: number;
  #nesting = 0;
  #depth = 0;

  constructor(bounds: JqBounds) {
    this.bounds = bounds;
    this.#steps = bounds.maxSteps;
  }

  spend(steps: number): void {
    this.#steps -= steps;
    // Written so that a cost that is not a number is too much as well.
    if (!(this.#steps >= 0)) throw new JqError(`more than ${this.bounds.maxSteps} steps`, 0, true);
  }

  /** Pays for members that are copied, before they are. */
  chargeCopy(members: number): void {
    this.spend(members / membersPerStep);
  }

  /** One member of a value that is walked, at the given depth. */
  visit(depth: number): void {
    if (depth > this.bounds.depth) throw this.createDepthError();
    this.spend(1 / membersPerStep);
  }

  /** Pays for text that is read. */
  chargeText(characters: number): void {
    this.spend(characters / charactersPerStep);
  }

  /** Refuses text that is too long for any result. */
  checkTextLength(characters: number): void {
    if (!(characters <= this.bounds.maxBytes)) throw new JqError(`more than ${this.bounds.maxBytes} bytes`, 0, true);
  }

  /** Pays for text before it is made, so that it is not made when it is too long. */
  reserveText(characters: number): void {
    this.checkTextLength(characters);
    this.chargeText(characters);
  }

  enterNode(): void {
    if (++this.#nesting > this.bounds.depth * nestingPerDepth) throw this.createDepthError();
  }

  leaveNode(): void {
    this.#nesting--;
  }

  enterCall(): void {
    if (++this.#depth > this.bounds.depth) throw this.createDepthError();
  }

  leaveCall(): void {
    this.#depth--;
  }

  createDepthError(): JqError {
    return new JqError(`deeper than ${this.bounds.depth} levels`, 0, true);
  }
}

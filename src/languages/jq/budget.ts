import { JqFault } from './error.ts';

/** How much one run may do. */
export interface JqBounds {
  readonly steps: number;
  /** Results after which the run ends. */
  readonly outputs: number;
  /** How deep functions may call each other, and how deep the values that are walked may be. */
  readonly depth: number;
  /** The longest text that is made, that of a result included. */
  readonly bytes: number;
}

export const defaultBounds: JqBounds = { steps: 200_000, outputs: 10_000, depth: 200, bytes: 10_485_760 };

/** Members of a value that are worth one step where they are only looked at or copied. */
const membersPerStep = 4;
/** Characters that are worth one step. */
const charactersPerStep = 128;
/** Parts of a filter that may be open for each function that is. */
const nestingPerDepth = 12;

/** What is left of the bounds during a run. Everything that takes time or room is paid for here. */
export class Budget {
  readonly bounds: JqBounds;
  #steps: number;
  #nesting = 0;
  #depth = 0;

  constructor(bounds: JqBounds) {
    this.bounds = bounds;
    this.#steps = bounds.steps;
  }

  spend(steps: number): void {
    this.#steps -= steps;
    // Written so that a cost that is not a number is too much as well.
    if (!(this.#steps >= 0)) throw new JqFault(`more than ${this.bounds.steps} steps`, 0, true);
  }

  /** Pays for members that are copied, before they are. */
  copy(members: number): void {
    this.spend(members / membersPerStep);
  }

  /** One member of a value that is walked, at the given depth. */
  visit(depth: number): void {
    if (depth > this.bounds.depth) throw this.tooDeep();
    this.spend(1 / membersPerStep);
  }

  /** Pays for text that is read. */
  read(characters: number): void {
    this.spend(characters / charactersPerStep);
  }

  /** Refuses text that is too long for any result. */
  hold(characters: number): void {
    if (!(characters <= this.bounds.bytes)) throw new JqFault(`more than ${this.bounds.bytes} bytes`, 0, true);
  }

  /** Pays for text before it is made, so that it is not made when it is too long. */
  make(characters: number): void {
    this.hold(characters);
    this.read(characters);
  }

  nest(): void {
    if (++this.#nesting > this.bounds.depth * nestingPerDepth) throw this.tooDeep();
  }

  unnest(): void {
    this.#nesting--;
  }

  descend(): void {
    if (++this.#depth > this.bounds.depth) throw this.tooDeep();
  }

  ascend(): void {
    this.#depth--;
  }

  tooDeep(): JqFault {
    return new JqFault(`deeper than ${this.bounds.depth} levels`, 0, true);
  }
}

import { TemplateFault } from './error.ts';

/** How much one rendering may do. */
export interface Bounds {
  readonly steps: number;
  readonly outputBytes: number;
  /** How deep templates may call each other, and how deep the values they walk may be. */
  readonly depth: number;
}

export const defaultBounds: Bounds = { steps: 200_000, outputBytes: 4 * 1024 * 1024, depth: 100 };

/** Characters that are worth one step to read or write. */
const charactersPerStep = 256;
/** Characters that are worth one step where each is looked at by itself. */
const charactersPerWorkedStep = 16;
/** Control structures and parentheses that may be open for each template that is. */
const nestingPerDepth = 10;

/** What is left of the bounds while a template is rendered. Everything that takes time or room is paid for here. */
export class Budget {
  readonly bounds: Bounds;
  #steps: number;
  #outputBytes: number;
  #nesting = 0;
  #depth = 0;

  constructor(bounds: Bounds) {
    this.bounds = bounds;
    this.#steps = bounds.steps;
    this.#outputBytes = bounds.outputBytes;
  }

  spend(steps: number): void {
    this.#steps -= steps;
    // Written so that a cost that is not a number is too much as well.
    if (!(this.#steps >= 0)) throw new TemplateFault(`more than ${this.bounds.steps} steps`, 0, true);
  }

  /** Pays for text that is read. */
  read(characters: number): void {
    this.spend(Math.ceil(characters / charactersPerStep));
  }

  /** Pays for text that is worked on character by character. */
  work(characters: number): void {
    this.spend(Math.ceil(characters / charactersPerWorkedStep));
  }

  /** Refuses text that is too long for any output. */
  hold(characters: number): void {
    if (!(characters <= this.bounds.outputBytes)) throw this.#tooLong();
  }

  /** Pays for text before it is made, so that it is not made when it is too long. */
  make(characters: number): void {
    this.hold(characters);
    this.read(characters);
  }

  output(bytes: number): void {
    this.#outputBytes -= bytes;
    if (this.#outputBytes < 0) throw this.#tooLong();
  }

  nest(): void {
    if (++this.#nesting > this.bounds.depth * nestingPerDepth) throw this.#tooDeep();
  }

  unnest(): void {
    this.#nesting--;
  }

  descend(): void {
    if (++this.#depth > this.bounds.depth) throw this.#tooDeep();
  }

  ascend(): void {
    this.#depth--;
  }

  /** One member of a value that is walked, at the given depth. */
  visit(depth: number): void {
    if (depth > this.bounds.depth) throw this.#tooDeep();
    this.spend(1);
  }

  #tooLong(): TemplateFault {
    return new TemplateFault(`more than ${this.bounds.outputBytes} bytes of text`, 0, true);
  }

  #tooDeep(): TemplateFault {
    return new TemplateFault(`deeper than ${this.bounds.depth} levels`, 0, true);
  }
}

/** Text from parts, each paid for as it comes: the whole may be one shared part many times over. */
export class PaidText {
  readonly #budget: Budget;
  readonly #parts: string[] = [];
  #length = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  add(part: string): void {
    this.#length += part.length;
    this.#budget.read(part.length);
    this.#budget.hold(this.#length);
    this.#parts.push(part);
  }

  toString(): string {
    return this.#parts.join('');
  }
}

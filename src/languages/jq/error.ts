/**
 * A filter that cannot be read, or could not be run. `isBound` tells a filter that asked for too much from one that is
 * merely wrong for its data.
 */
export class JqFault extends Error {
  /** Where in the source, counted from one; 0 where no place is known. */
  readonly place: number;
  readonly what: string;
  readonly isBound: boolean;

  constructor(what: string, place = 0, isBound = false) {
    super(place > 0 ? `character ${place}: ${what}` : what);
    this.name = 'JqFault';
    this.what = what;
    this.place = place;
    this.isBound = isBound;
  }
}

/** An error of the language, which `try` catches. No Error: nobody reads where in the evaluator it came from. */
export class Raised {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

export const raise = (message: string): never => {
  throw new Raised(message);
};
